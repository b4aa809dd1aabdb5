"""The test loss of another split of the same tosses, so that one split's luck can be seen."""

from __future__ import annotations

from typing import Any

import pandas as pd

from contactid.output.tables import write_csv
from contactid.sources.motion import read_dataset
from contactid.tossing.identify.trajectories import Grid, grid_values, identify, sweep_grid
from contactid.tossing.predict.prediction import predict
from contactid.tossing.prepare.calibration import calibrate
from contactid.tossing.prepare.preprocess import IDENTIFICATION, TEST, preprocess
from contactid.tossing.prepare.tosses import Variant, set_up
from contactid.tossing.simulate.box import ContactParameters


def score_split(motion: str, dataset: str, seed: int | str, settings: dict[str, Any], scored: str) -> None:
    """Split a dataset with ``seed``, prepare, calibrate and identify on one part, predict the other, and write one row.

    Everything from the surface's plane on is done anew on the identification part; nothing is chosen on the test part.
    ``settings`` are the configuration's ``variant``, ``grid``, ``bootstrap`` and what
    :func:`contactid.tossing.prepare.preprocess.preprocess` takes. Columns: dataset, seed, tosses of both parts,
    ``scale``, ``center_of_mass_z_mm``, the parameters, and mean ``test_loss`` (eq. 18) with its standard error.
    """
    tosses = preprocess(
        read_dataset(motion),
        share=settings["share"],
        seed=int(seed),
        exclude_tumbling=settings["exclude_tumbling"],
        require_usable=True,
        events=settings["events"],
    )
    variant, found = Variant.from_config(settings["variant"]), calibrate(tosses)
    body = found.apply(tosses)
    known, unseen = set_up(body, variant, IDENTIFICATION), set_up(body, variant, TEST)
    swept = sweep_grid(known, Grid(**{name: grid_values(**steps) for name, steps in settings["grid"].items()}))
    fit, _ = identify(known, swept, variant, dataset=dataset, **settings["bootstrap"])
    loss = predict(unseen, ContactParameters(**fit["parameters"]))["loss"]
    row = {
        "dataset": dataset,
        "seed": seed,
        "n_identification": len(known.tosses),
        "n_test": len(loss),
        "scale": found.scale,
        "center_of_mass_z_mm": 1e3 * found.center_of_mass[2],
        **fit["parameters"],
        "test_loss": float(loss.mean()),
        "sem_test_loss": float(loss.sem()),  # type: ignore[arg-type]
    }
    write_csv(pd.DataFrame([row]), scored)
