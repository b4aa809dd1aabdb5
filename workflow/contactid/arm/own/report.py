"""The report on a user's own impacts: predictions.csv, parameters.json, summary.md, and figures of
what was fitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.arm.artefacts.fits import draw_cartesian_fit
from contactid.arm.identify.methods import ADMISSIBLE
from contactid.arm.identify.recordings import curves_of
from contactid.arm.own.impacts import OwnImpact
from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.output.escape import markdown
from contactid.output.fits import write_json
from contactid.output.own_report import PARAMETERS, PREDICTIONS, SUMMARY
from contactid.output.style import label_data, save, styled
from contactid.output.summary import text_table
from contactid.output.tables import write_report_csv

FIGURE = "velocities"
_IN_A_FIGURE = 4  # impacts
_ALWAYS = (
    "The map has neither motors nor friction. On simulated arms with motors it is some 10 mm/s off where the"
    " recordings' v+ is right: a difference between the two doesn't tell which is wrong.",
    "Intervals are as wide as models that explain the vibration differ. They are tested on simulated arms alone"
    " (docs/arm.md).",
)
_LWR4 = "The described inertias of the LWR 4+ can't all be right (docs/arm.md), and the map rests on them."


@dataclass(frozen=True)
class Found:
    """Impacts, recordings without one and why, and the robot that all were seen as, with its
    probe's length in m.
    """

    impacts: tuple[OwnImpact, ...]
    left_out: Mapping[str, str]
    robot: str
    probe_length: float

    def warnings(self) -> list[str]:
        """What not to trust, recording by recording, and of all."""
        lines = [f"{name}: left out: {reason}" for name, reason in self.left_out.items()]
        lines += [
            f"{one.name}: {text}" for one in self.impacts for text in (*one.remarks, *one.warnings)
        ]
        return [
            *dict.fromkeys(lines),
            *([_LWR4] if self.robot.startswith("KUKA") else []),
            *_ALWAYS,
        ]


def write_files(found: Found, folder: Path) -> None:
    """Write the report's files.

    Raises
    ------
    ContactIdError
        Where no recording shows an impact.
    """
    if not found.impacts:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in found.left_out.items())
        raise ContactIdError(
            f"no velocity after an impact is found: {reasons}",
            "Record an arm whose tip comes down on a table and stays there",
        )
    rows = pd.DataFrame([one.row() for one in found.impacts])
    write_report_csv(rows, folder / PREDICTIONS)
    write_json(folder / PARAMETERS, _parameters(found))
    write_text(folder / SUMMARY, _summary(found, rows))
    for number in range(0, len(found.impacts), _IN_A_FIGURE):
        some = found.impacts[number : number + _IN_A_FIGURE]
        curves = pd.concat(
            [curves_of({"experiment": one.name}, one.evaluated, ADMISSIBLE) for one in some]
        )
        with styled():
            figure = draw_cartesian_fit(curves.assign(source="recordings of your own"))
            label_data(figure, ", ".join(one.name for one in some))
            save(figure, folder / f"{FIGURE}_{number // _IN_A_FIGURE + 1}", ("png", "svg"))


def _parameters(found: Found) -> dict[str, Any]:
    return {
        "robot": found.robot,
        "probe_length_m": found.probe_length,
        "method": ADMISSIBLE,
        "recordings": [
            {
                **one.row(),
                "q_impact_rad": one.evaluated.q.tolist(),
                "remarks": one.remarks,
                "warnings": one.warnings,
            }
            for one in found.impacts
        ],
        "left_out": dict(found.left_out),
        "warnings": found.warnings(),
    }


def _summary(found: Found, rows: pd.DataFrame) -> str:
    titles = [
        "recording",
        "impact s",
        "v_x-",
        "v_z-",
        "v_x+",
        "v_z+",
        "map v_x+",
        "fit - map",
        "state",
    ]
    columns = ["vx_minus", "vz_minus", "vx_plus", "vz_plus", "vx_plus_map"]
    cells = [
        [
            markdown(row["recording"]),
            f"{row['impact_time_s']:.4f}",
            *(f"{1e3 * row[name]:.1f}" for name in columns),
            f"{1e3 * (row['vx_plus'] - row['vx_plus_map']):+.1f}",
            row["state"],
        ]
        for row in rows.to_dict("records")
    ]
    warnings = "\n".join(f"* {markdown(text)}" for text in found.warnings())
    return (
        f"# Impacts of {markdown(found.robot)}\n\nVelocities of the tip in mm/s, x along its motion, z normal to the"
        f" table; v+ by admissible models, map: eq. 5 of the arm paper.\n\n{text_table(titles, cells)}\n\n"
        f"## What not to trust\n\n{warnings}\n"
    )
