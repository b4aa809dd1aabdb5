"""The tables and figures of the arm study, each declared once; nothing is computed here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contactid.output.artefacts import Artefact, figure


def declare(block: Mapping[str, Any]) -> list[Artefact]:
    """The artefacts of a run, by the study's block of the configuration."""
    return [
        figure(
            "fig01_arm",
            rule="arm_pose",
            compute="contactid.arm.artefacts.arm_pose:arm_figure",
            draw="contactid.arm.artefacts.arm_pose:draw_arm",
            data="drawing from the link table, in place of the photographs; outlines schematic, contactid arm",
        ),
    ]
