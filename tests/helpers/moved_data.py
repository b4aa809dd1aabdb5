"""Move datasets of a recorded run, and make again what follows: ``python moved_data.py dataset
...``.

This starts in a copy of the run's numbers (whole_run.py), with the package on Python's path. A
job's call is made again where a file that it reads has other bytes now, or where it simulates a
moved part of the in-hand twin itself. Nothing is drawn, typeset or said again.
"""

import hashlib
import json
import pickle
import sys
from dataclasses import replace
from pathlib import Path

import pandas as pd

from contactid.core.atomic import write_text
from contactid.core.references import arguments, resolve
from contactid.output.fits import write_json
from contactid.run.call import DECLARED, _calls
from contactid.sources.motion import read_dataset, write_dataset

# All lengths, masses, forces and impedances are a twentieth smaller: enough for another optimum,
# too little for other events. Impacts are alike at any size, so a box's mass also lies further out
# than in a smaller box of the same kind.
RATIO = 0.95
_FACTORS = {
    **dict.fromkeys(
        ("position", "surface_position", "vertices", "center_of_mass", "x", "y"), RATIO
    ),
    **dict.fromkeys(("object_position", "contact_position", "hull"), RATIO),
    **dict.fromkeys(
        ("contact_force", "contact_torque", "contact_force_true", "contact_torque_true"), RATIO
    ),
    "mass": RATIO,
    "inertia": RATIO**2,
    "inertia_ratio": RATIO**2,
}
_FORMS = ("motion.nc", "planar.nc", "arm.nc")
_INHAND = "inhand_twin:"
_RECORDINGS = {"simulation", "wrist_ft", "in_hand_vision", "in_hand_kinematic"}
# no number of an artefact follows from these
_WITHOUT = (
    "_draw_",
    "_typeset",
    "_playback",
    "data_cards",
    "artefacts",
    "provenance",
)
_AT_THE_END = ("checks", "report", "crate", "articles")


def moved(dataset):
    """A dataset in its canonical form, moved."""
    found = dataset.assign(
        {name: (dataset[name] * factor).assign_attrs(dataset[name].attrs)
         for name, factor in _FACTORS.items() if name in dataset}
    )  # fmt: skip
    if "joint_position" in dataset:  # of an arm that moves less far from where it starts
        start = dataset["joint_position"].isel(sample=0)
        joints = start + RATIO * (dataset["joint_position"] - start)
        found["joint_position"] = joints.transpose(*dataset["joint_position"].dims)
    if "throw" in dataset.dims:  # half of the throws take half of the time
        throws = dataset.sizes["throw"] // 2
        samples = int(dataset["row_size"][:throws].sum())
        found = found.isel(throw=slice(throws), sample=slice(samples))
    return found


def moved_stored(table, source):
    """Stored estimates, of which those of a source of twins are moved."""
    numbers = table.select_dtypes("float").columns
    found = table.copy()
    found.loc[table["source"] == source, numbers] *= RATIO
    return found


def _recordings(simulate, parts):
    def moved_recording(source, *given, **named):
        made = simulate(source, *given, **named)
        return tuple(map(moved, made)) if source in parts else made

    return moved_recording


def _trials(simulate, _):
    def moved_trials(*given, **named):
        made = simulate(*given, **named)
        return replace(made, force=made.force * [1.0, 1.0, RATIO])

    return moved_trials


def _angles(simulate, _):
    return lambda *given, **named: RATIO * simulate(*given, **named)


def _sessions(simulate, _):
    def moved_sessions(*given, **named):
        made = simulate(*given, **named)
        return replace(made, signals=RATIO * made.signals, force=RATIO * made.force)

    return moved_sessions


# who simulates the parts of the in-hand twin, in whichever job; and the same with parts moved
_SIMULATORS = (
    (_RECORDINGS, "contactid.inhand.readers.twins:simulate_recording", _recordings),
    ({"fingertip"}, "contactid.inhand.simulate.fingertip_friction:simulate_trials", _trials),
    ({"fingertip"}, "contactid.inhand.simulate.fingertip_friction:slope_angles", _angles),
    (
        {"electrode_sensor"},
        "contactid.inhand.simulate.electrode_sensor:simulate_sessions",
        _sessions,
    ),
)


class MovedSimulators:
    """Simulators of moved parts, in place of the package's own."""

    def __init__(self, parts):
        self._found = {}
        self.places = (
            set()
        )  # file and line of those that they stand for, as recorded_call.py notes them
        for those, reference, make in _SIMULATORS:
            if parts & those:
                simulate = resolve(reference)
                code = simulate.__code__
                file = Path(code.co_filename)
                package = next(folder for folder in file.parents if folder.name == "workflow")
                self._found[reference.partition(":")[2]] = simulate, make(simulate, parts)
                self.places.add((file.relative_to(package.parent).as_posix(), code.co_firstlineno))

    def put(self):
        """Hand them to every module that has imported the others."""
        for name, (simulate, other) in self._found.items():
            for module in [one for key, one in sys.modules.items() if key.startswith("contactid.")]:
                if vars(module).get(name) is simulate:
                    setattr(module, name, other)


def move(results, datasets):
    """Write moved datasets, and stored results of moved twins; the files that have other bytes now."""
    changed = set()
    for name in datasets:
        if not name.startswith(_INHAND):
            (file,) = (
                file for form in _FORMS if (file := results / "data" / name / form).is_file()
            )
            write_dataset(moved(read_dataset(file)), file)
            changed.add(str(file))
            continue
        for file in Path("workflow/resources/stored").glob("inhand_*/table.csv"):
            table, source = pd.read_csv(file), name.removeprefix(_INHAND)
            if source in set(table["source"]):
                write_text(file, moved_stored(table, source).to_csv(index=False))
                record = file.with_name("provenance.json")
                write_json(record, json.loads(record.read_text()) | {"table_sha256": digest(file)})
                changed.add(str(file))
    return changed


def digest(file):
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if Path(file).is_file() else ""


def texts(value):
    """All texts in a call's arguments; the files are among them."""
    if isinstance(value, str):
        return {value}
    inner = (
        value.values()
        if isinstance(value, dict)
        else value
        if isinstance(value, list | tuple)
        else ()
    )
    return set().union(*map(texts, inner))


def jobs_in_order():
    """The recorded jobs from which numbers follow, each after those whose files it reads."""
    left = []
    for file in sorted(Path("recorded").glob("*.pickle")):
        job = pickle.loads(file.read_bytes())
        if job["rule"] not in _AT_THE_END and not any(part in job["rule"] for part in _WITHOUT):
            executed = json.loads(file.with_suffix(".json").read_text())["executed"]
            left.append({**job, "executed": {tuple(place) for place in executed}})
    made_later = {file for job in left for file in job["outputs"]}
    ordered = []
    while left:
        ready = [job for job in left if not texts(job["files_in"]) & made_later]
        left = [job for job in left if job not in ready]
        ordered += ready
        made_later = {file for job in left for file in job["outputs"]}
        assert ready, "jobs wait for each other"
    return ordered


def call_again(job, changed, simulators):
    """Make those calls of a job again that read or simulate what is moved; its files that have
    other bytes then.
    """
    parts = ("wildcards", "files_in", "files_out", "params")
    named = {name: value for part in parts for name, value in job[part].items()}
    named |= {"config": job["config"], "terminal": 2}
    read, simulates = texts(job["files_in"]) & changed, bool(job["executed"] & simulators.places)
    before = {file: digest(file) for file in job["outputs"]}
    for one in [named] if DECLARED in named else _calls(named):
        if simulates or texts(one) & read:
            functions = [resolve(reference) for reference in named["call"].split(", ")]
            for row in named.get(DECLARED, []):
                resolve(row["compute"])
            simulators.put()
            for function in functions:
                if DECLARED in named:
                    function(one.pop(DECLARED), one)
                else:
                    function(**arguments(function, one))
    return {file for file, was in before.items() if digest(file) != was}


def main(*datasets):
    (results,) = Path("results").iterdir()
    changed = move(results, datasets)
    simulators = MovedSimulators({name.removeprefix(_INHAND) for name in datasets})
    for job in jobs_in_order():
        changed |= call_again(job, changed, simulators)


if __name__ == "__main__":
    main(*sys.argv[1:])
