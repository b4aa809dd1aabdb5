"""Folders of finished runs with what ``contactid predict`` reads; the parameters are what a test
wants.
"""

import json
from pathlib import Path

import numpy as np
import yaml

from contactid.output.fits import read_json
from contactid.sources.motion import read_data, read_dataset, write_dataset
from contactid.sources.registry import OWN, READERS, Dataset
from contactid.tossing.configuration import cases, schemes_of
from contactid.tossing.identify.body import calibrate_dataset
from contactid.tossing.identify.trajectories import Grid, sweep_grid
from contactid.tossing.predict.prediction import predict_dataset
from contactid.tossing.predict.rest_pose_regions import predict_rest_poses
from contactid.tossing.prepare.preprocess import IDENTIFICATION, prepare
from contactid.tossing.prepare.tosses import Variant, load_problem
from contactid.tossing.readers.contactnets import HALF_WIDTH, stream_contactnets
from small_files import folder_of, toss
from tosses_for_tests import EVENTS, RATE, recordings

ROOT = Path(__file__).parents[2]
EXACT = {
    "name": "exact",
    "start": "flight_fit",
    "substeps": 4,
    "law": "newton",
    "solver": "newton",
    "refine": False,
    "calibrated": False,
}
CALIBRATED = {**EXACT, "name": "calibrated", "calibrated": True}
EXPERIMENT = {"dt": 1.0 / RATE, "mass": 0.37, "inertia": 0.295}


def write_cube(folder, count, seed, *, names=0, height=0.0, noise=3e-5, **experiment):
    """Tosses of the cube in the layout of ContactNets, whose surface is ``height`` (m) above z = 0."""
    (folder / "params_processed").mkdir(parents=True)
    (folder / "params_processed/experiment.json").write_text(
        json.dumps({**EXPERIMENT, **experiment})
    )
    body = stream_contactnets(folder_of(folder, {"0": toss()}), licence="").body
    (folder / "tosses_processed/0.pt").unlink()
    tables = {}
    for number, recording in enumerate(recordings(body, count, seed, seconds=1.0, noise=noise)):
        table = np.zeros((len(recording.position), 19))
        table[:, :3] = (recording.position + np.array([0.0, 0.0, height])) / HALF_WIDTH
        table[:, 3:7] = recording.orientation
        tables[str(names + number)] = table
    return folder_of(folder, tables)


def write_run(folder, sources, block, fits):
    """A finished run: ``sources`` has reader, path and object by dataset, ``fits`` (mu, e_N) by
    scheme.
    """
    tossing = yaml.safe_load((ROOT / "config/default.yaml").read_text())["tossing"] | block
    schemes, pairs = schemes_of(tossing), cases(tossing)
    for name, (reader, path, thing) in sources.items():
        data = folder / "data" / name
        data.mkdir(parents=True)
        entry = Dataset(name, OWN, reader, str(path), object=thing)
        read_data(READERS[reader].read, vars(entry), str(path), str(data / "motion.nc"))
        share = 0.7 if (name, name) in pairs else float(name in [on for on, _ in pairs])
        prepare(
            str(data / "motion.nc"), name, share, 1, tossing["exclude_tumbling"], True, EVENTS,
            str(data / "tosses.nc"), str(data / "tosses.csv"),
        )  # fmt: skip
    (folder / "tossing/fits").mkdir(parents=True)
    for on, predicted in pairs:
        for scheme in schemes.values():
            mu, e_n = fits[scheme.fit]
            record = {"parameters": {"friction_mu": mu, "restitution_e_n": e_n}, "converged": True}
            (folder / f"tossing/fits/{on}.{scheme.fit}.json").write_text(json.dumps(record))
        calibration = f"{folder}/tossing/fits/{on}.calibration.json"
        if any(scheme.calibrated for scheme in schemes.values()):
            calibrate_dataset(f"{folder}/data/{on}/tosses.nc", calibration)
        for variant in tossing["variants"]:
            if variant["name"] in tossing["rest_poses"]["variants"]:
                write_rest_poses(folder, on, predicted, variant, tossing["rest_poses"])
        (folder / f"tossing/predictions/{on}").mkdir(parents=True)
        predict_dataset(
            f"{folder}/data/{predicted}/tosses.nc",
            calibration,
            [f"{folder}/tossing/fits/{on}.{scheme.fit}.json" for scheme in schemes.values()],
            [dict(scheme.stepping) for scheme in schemes.values()],
            [scheme.kind for scheme in schemes.values()],
            [f"{folder}/tossing/predictions/{on}/{predicted}.{name}.csv" for name in schemes],
        )
    configuration = {"studies": ["tossing"], "tossing": tossing}
    (folder / "provenance.json").write_text(
        json.dumps({"git_commit": None, "configuration": configuration})
    )
    return folder


def write_rest_poses(folder, on, predicted, variant, options):
    """What a run keeps of rest poses by a variant, from losses on a small grid about its fit."""
    name, tossing = variant["name"], folder / "tossing"
    calibration = str(tossing / f"fits/{on}.calibration.json") if variant["calibrated"] else None
    fit, swept = str(tossing / f"fits/{on}.{name}.json"), str(tossing / f"{on}.{name}.nc")
    data, tested = (str(folder / f"data/{dataset}/tosses.nc") for dataset in (on, predicted))
    problem = load_problem(data, calibration, Variant.from_config(variant), IDENTIFICATION)
    parameters = read_json(fit)["parameters"]
    near = Grid(
        *(
            parameters[key] + np.array([-0.01, 0.0, 0.01])
            for key in ("friction_mu", "restitution_e_n")
        )
    )
    write_dataset(sweep_grid(problem, near), swept)
    (tossing / f"rest_poses/{on}").mkdir(parents=True, exist_ok=True)
    files = [
        str(tossing / f"rest_poses/{on}/{predicted}.{name}{end}")
        for end in (".json", ".outlines.csv")
    ]
    predict_rest_poses(
        tested, data, calibration, fit, swept, variant, options["draws"], options["seed"], 3, *files
    )


def names_of(run, dataset, part):
    """The tosses of one part of a dataset of a run."""
    prepared = read_dataset(run / "data" / dataset / "tosses.nc")
    return [str(name) for name in prepared["recording"].values[prepared["split"].values == part]]
