"""Files of the impact map's part of the arm study: tables and the data of figure 1."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from contactid.arm.artefacts.impact_laws import law_summary, law_table
from contactid.arm.artefacts.impact_table import TEX_HEADINGS, impact_table, tex_table
from contactid.arm.artefacts.postures import posture_table
from contactid.arm.rigid.printed_table import printed_table
from contactid.arm.rigid.robot import INERTIAS, Inertia, Robot, link_report, load_robot
from contactid.output.tables import read_csv, write_csv, write_tex

CAPTIONS = {
    "tab02_impact_map": "Impact map and fits: as printed, our predictions with fitted postures, and the recordings.",
    "ext_postures": "Impact postures: r fitted to printed rows, and the postures that have it.",
    "ext_links": "Links of the arm, as described and as corrected: can they be solid bodies of their size?",
    "ext_impact_laws": "Impacts of Table II under other laws: means over the experiments by restitution and friction.",
}


def robot_of(block: Mapping[str, Any], inertia: Inertia = "described") -> Robot:
    """The robot of the configuration's block ``arm.robot``."""
    return load_robot(
        block["name"], inertia=inertia, probe_length=block["probe_length"], force_sensor=block["force_sensor"]
    )


def write_impact_table(csv: str | Path, *, robot: Mapping[str, Any], published: str, fits: str | None) -> None:
    """Write ``tab02_impact_map`` as csv and tex; ``fits`` is the csv of the recordings' fits."""
    table = impact_table(robot_of(robot), read_csv(published), None if fits is None else read_csv(fits))
    write_csv(table, csv)
    shown = tex_table(table)
    write_tex(shown, _tex(csv), caption=CAPTIONS["tab02_impact_map"], columns=TEX_HEADINGS)


def write_postures(postures: str | Path, links: str | Path, *, robot: Mapping[str, Any], published: str) -> None:
    """Write ``ext_postures`` and ``ext_links`` as csv and tex."""
    robots = {inertia: robot_of(robot, inertia) for inertia in INERTIAS}
    reports = [link_report(arm.links).assign(inertia=inertia) for inertia, arm in robots.items()]
    tables = {
        postures: posture_table(robots, printed_table(read_csv(published))),
        links: pd.concat(reports, ignore_index=True),
    }
    for path, table in tables.items():
        write_csv(table, path)
        write_tex(table, _tex(path), caption=CAPTIONS[Path(path).stem])


def write_laws(csv: str | Path, *, robot: Mapping[str, Any], laws: Mapping[str, Any], published: str) -> None:
    """Write ``ext_impact_laws``: every impact as csv, means by law as tex."""
    table = law_table(robot_of(robot), printed_table(read_csv(published)), **laws)
    write_csv(table, csv)
    write_tex(law_summary(table), _tex(csv), caption=CAPTIONS["ext_impact_laws"])


def _tex(csv: str | Path) -> Path:
    return Path(csv).with_suffix(".tex")
