"""Estimate a recording under the convention that explains it: the stated one, or a refusal that
names the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from contactid.inhand.identify.likelihood import told_parameters
from contactid.inhand.own.conventions import likelier, refuse_unit_of_forces
from contactid.inhand.own.files import read_hull, read_noise, read_table
from contactid.inhand.own.prepare import OwnRecording, read_own_recording
from contactid.inhand.own.report import OwnEstimate, estimate_own
from contactid.sources.conventions import STATED, Convention, Judged, explained

_TOLD = 4  # of the told parameters: mass and centre, which two answers are compared by


def explained_recording(
    file: str | Path, hull: str | Path, noise: str | Path, stated: Convention = STATED,
    say: Callable[[str], None] = lambda line: None,
) -> OwnEstimate:  # fmt: skip
    """Read and estimate; ``say`` takes a line on what is done.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files, and where another convention explains the recording,
        or none does.
    """

    def attempt(convention: Convention) -> Judged[OwnEstimate]:
        recording = read_own_recording(file, hull, noise, convention)
        say(_read(recording) if convention == stated else f"Trying {convention.options()} ...")
        found = estimate_own(recording)
        fit = found.fit
        squares = fit.misfit * fit.degrees
        told = told_parameters(fit.body.vector)[:_TOLD]
        return Judged(found, squares, fit.degrees, told, fit.errors[:_TOLD], recording.averaged)

    def others() -> Iterable[Convention]:
        return likelier(read_table(file, stated), read_hull(hull), read_noise(noise), stated)

    found, warnings = explained(str(file), stated, attempt, others)
    refuse_unit_of_forces(found.fit.body.mass, found.recording.hull, stated)
    return replace(found, warnings=(*found.warnings, *warnings))


def _read(recording: OwnRecording) -> str:
    contacts = ", ".join(recording.contacts)
    return f"Read {recording.name}: {recording.rows} rows, contacts {contacts}. Estimating ..."
