"""Whether regions hold tosses that no run has seen: ``workflow/resources/own_regions.csv``, of real
tosses and twins.

``own_regions.py tosses FOLDER DATA`` writes for each of ``KINDS`` the tosses of a run, others that
it never sees, and its configuration; DATA is the folder of the ContactNets tosses. After these runs
(``snakemake --configfile FOLDER/<kind>.yaml``) ``own_regions.py rows FOLDER RESULTS`` writes the
csv: a row per kind, scheme and level.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pandas as pd

from contactid.core import rotations
from contactid.tossing.own.finished_run import read_run
from contactid.tossing.own.regions import regions_by
from contactid.tossing.own.tosses import read_tosses
from contactid.tossing.readers.contactnets import HALF_WIDTH, stream_contactnets
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from small_files import folder_of, toss

KINDS = ("public", "newton", "incremental")  # real tosses, and twins by these laws
KNOWN, OTHERS = "known", "unseen"
N_PUBLIC, N_TWINS = 320, {KNOWN: 140, OTHERS: 200}
TRUTH, INERTIA = ContactParameters(0.18, 0.27), 1.1e-3  # kg m2, as the experiment file says
RATE, FRAMES, NOISE = 148.0, 130, np.array([2e-4, 1e-3])  # Hz, 1, m and rad
VARIANT = "{{name: {}, start: flight_fit, substeps: 4, law: {}, solver: newton, refine: true, calibrated: {}}}"
SUBSTEPS, CALIBRATED, INCREMENTAL = (
    ("substeps", "newton"),
    ("calibrated", "newton"),
    ("incremental", "incremental"),
)
#: (name, law); the real body is calibrated but for the first, twins are as stated, so that the law
#: alone differs.
SCHEMES = {"public": (SUBSTEPS, CALIBRATED, INCREMENTAL)} | dict.fromkeys(
    KINDS[1:], (SUBSTEPS, INCREMENTAL)
)
CONFIGURATION = """run: regions_{kind}
studies: [tossing]
datasets:
  cube: {{reader: contactnets, path: {path}}}
tossing:
  identify_on: [cube]
  predict_on: [cube]
  exclude_tumbling: false
  variants: [{variants}]
  velocity: {{identify_on: []}}
  rest_poses: {{variants: [{names}]}}
  figures: {{object: ContactNetsCube}}
"""


def write_tosses(folder: Path, data: Path) -> None:
    """The tosses and configurations of all kinds."""
    names = sorted(
        (file.name for file in (data / "tosses_processed").glob("*.pt")),
        key=lambda name: int(name[:-3]),
    )
    order = np.random.default_rng(31).permutation(len(names))
    for part, chosen in ((KNOWN, order[:N_PUBLIC]), (OTHERS, order[N_PUBLIC:])):
        shutil.copytree(data / "params_processed", folder / "public" / part / "params_processed")
        (folder / "public" / part / "tosses_processed").mkdir()
        for place in chosen:
            file = f"tosses_processed/{names[place]}"
            shutil.copy2(data / file, folder / "public" / part / file)
    for seed, law in ((5, "newton"), (6, "incremental")):
        random = np.random.default_rng(seed)
        for part, count in N_TWINS.items():
            write_twins(folder / law / part, law, count, random)
    for kind, schemes in SCHEMES.items():
        calibrated = [str(kind == "public" and scheme != SUBSTEPS).lower() for scheme in schemes]
        variants = [
            VARIANT.format(*scheme, known)
            for scheme, known in zip(schemes, calibrated, strict=True)
        ]
        about = {
            "kind": kind,
            "path": folder.absolute() / kind / KNOWN,
            "variants": ", ".join(variants),
        }
        names = ", ".join(name for name, _ in schemes)
        (folder / f"{kind}.yaml").write_text(CONFIGURATION.format(**about, names=names))


def write_twins(folder: Path, law: str, count: int, random: np.random.Generator) -> None:
    """Tosses of a cube by a law of impacts, in the layout of ContactNets, with noise."""
    folder_of(folder, {"0": toss()})  # to ask the reader for the cube
    (folder / "params_processed").mkdir()
    stated = {"dt": 1.0 / RATE, "mass": 0.37, "inertia": INERTIA / HALF_WIDTH**2}
    (folder / "params_processed/experiment.json").write_text(json.dumps(stated))
    body = stream_contactnets(folder, licence="").body
    options, tables = SteppingOptions(1.0 / RATE, substeps=50, law=law), {}
    while len(tables) < count:
        state = State(
            np.array(
                [random.uniform(-0.4, -0.2), random.uniform(-0.1, 0.1), random.uniform(0.16, 0.3)]
            ),
            rotations.exp(random.uniform(-1.5, 1.5, 3)),
            np.array(
                [random.uniform(0.3, 1.2), random.uniform(-0.3, 0.3), random.uniform(-0.5, 0.5)]
            ),
            random.uniform(-8, 8, 3),
        )
        run = simulate(body, state, TRUTH, options, FRAMES)
        if np.linalg.norm(run.linear_velocity[-25:], axis=1).max() > 1e-3:
            continue  # not at rest in time
        shift, turn = (scale * random.normal(size=(FRAMES, 3)) for scale in NOISE)
        turned = rotations.as_rotation(run.orientation) * rotations.as_rotation(rotations.exp(turn))
        table = np.zeros((FRAMES, 19))
        table[:, :3] = (run.position + shift) / HALF_WIDTH
        table[:, 3:7] = rotations.continuous(rotations.as_quaternions(turned))
        tables[str(len(tables))] = table
    folder_of(folder, tables)


def rows_of(kind: str, folder: Path, results: Path) -> pd.DataFrame:
    """What the regions of every scheme hold of the unseen tosses of a kind."""
    run = read_run(results / f"regions_{kind}")
    tosses = read_tosses([folder / kind / OTHERS], run)
    (one,) = tosses.identified
    rows = []
    for name, law in SCHEMES[kind]:
        found = regions_by(run, tosses, one, one.schemes[name], run.rest_pose_model(one, name))
        table = found.coverage.assign(level=(100 * found.coverage["level"]).round().astype(int))
        known = [each for each in found.regions.predictions if each.covers[0] is not None]
        elsewhere = [each for each in known if each.likely_face != int(each.cloud.measured.face[0])]
        table["face_right"] = len(known) - len(elsewhere)
        table["face_expected"] = np.round(sum(each.faces[each.likely_face] for each in known), 1)
        table["other_face_covered"] = [
            sum(bool(each.covers[k]) for each in elsewhere) for k in range(len(table))
        ]
        table["median_area_m2"] = table["median_area_m2"].round(6)
        rows.append(table.assign(tosses=kind, scheme=name, law=law))
    return pd.concat(rows)


def main(task: str, folder: str, other: str) -> None:
    """The tosses, or the rows."""
    if task == "tosses":
        write_tosses(Path(folder), Path(other))
        return
    table = pd.concat([rows_of(kind, Path(folder), Path(other)) for kind in KINDS])
    first = ["tosses", "scheme", "law"]
    table = table[[*first, *(name for name in table if name not in first)]]
    table.to_csv(Path(__file__).parents[2] / "workflow/resources/own_regions.csv", index=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
