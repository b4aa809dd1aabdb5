"""Predict tosses with the printed parameters of Table II, from impacts and from trajectories
(section V).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from contactid.output.tables import read_csv, write_csv
from contactid.tossing.predict.prediction import predict
from contactid.tossing.prepare.preprocess import TEST
from contactid.tossing.prepare.tosses import Variant, load_problem
from contactid.tossing.simulate.box import ContactParameters

_QUANTITIES = ("friction_mu", "restitution_e_n")


def printed_parameters(published: pd.DataFrame, name: str) -> dict[str, ContactParameters]:
    """Table II's parameters (MATLAB) of an object, by where they come from: ``velocity`` and
    ``trajectory``.
    """
    table = published[published["artefact"] == "tab02"].set_index(["condition", "quantity"])[
        "value"
    ]
    return {
        kind: ContactParameters(
            *(
                float(table[f"object={name};parameters={kind};simulator=matlab", quantity])
                for quantity in _QUANTITIES
            )
        )
        for kind in ("velocity", "trajectory")
    }


def predict_with_printed(
    prepared: Sequence[str],
    datasets: Sequence[str],
    objects: Sequence[str],
    published: str,
    variant: dict[str, Any],
    predictions: str,
) -> None:
    """Predict the test tosses of every dataset with both kinds of printed parameters of its object.

    They are stepped as a variant of the configuration says. The table has the columns of
    :func:`contactid.tossing.predict.prediction.predict`, and ``dataset``, ``parameters``,
    ``friction_mu`` and ``restitution_e_n``.
    """
    printed, tables = read_csv(published), []
    for file, dataset, name in zip(prepared, datasets, objects, strict=True):
        problem = load_problem(file, None, Variant.from_config(variant), TEST)
        for kind, law in printed_parameters(printed, name).items():
            about = {"dataset": dataset, "parameters": kind}
            values = {"friction_mu": law.friction_mu, "restitution_e_n": law.restitution_e_n}
            tables.append(predict(problem, law).assign(**about, **values))
    write_csv(pd.concat(tables, ignore_index=True), predictions)
