"""An object estimated from one recording of it in hand, under the convention that explains it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from contactid.core.errors import ContactIdError
from contactid.inhand.identify.advice import NAMES, Limits, limits_of, well_told
from contactid.inhand.identify.disturbance_models import Model
from contactid.inhand.identify.likelihood import (
    INTERVAL,
    RecordingFit,
    fit_recording,
    told_parameters,
)
from contactid.inhand.identify.methods import DATA, PRIOR
from contactid.inhand.own.causes import cause_of_misfit
from contactid.inhand.own.conventions import doubt_unit_of_forces, likelier
from contactid.inhand.own.doubts import doubts
from contactid.inhand.own.drift import AtAnswer, with_drift
from contactid.inhand.own.files import Hull, Noise, read_hull, read_noise, read_table
from contactid.inhand.own.poses import fit_poses
from contactid.inhand.own.prepare import OwnRecording, read_own_recording
from contactid.sources.conventions import STATED, Convention
from contactid.sources.explaining import Judged, Refuted, explained
from contactid.sources.recorded_table import Source, name_of

ORIGIN = tuple(f"origin_{entry}" for entry in ("xx", "yy", "zz", "xy", "xz", "yz"))
_COMPARED = 4  # of the parameters: mass and centre, which two conventions' answers are compared by


@dataclass(frozen=True, eq=False)
class OwnEstimate:
    """An estimated object.

    Attributes
    ----------
    recording : what it was estimated from
    fit : the answer
    at_answer : its equations made anew there, with the drift; None of still poses
    seconds : that it took
    ambiguous : sentences on conventions that the data don't tell apart
    """

    recording: OwnRecording
    fit: RecordingFit
    at_answer: AtAnswer | None
    seconds: float
    ambiguous: tuple[str, ...] = ()

    @property
    def mass_interval(self) -> tuple[float, float]:
        """Kg, of 95 %: calibration included, and upwards the share of the load that is stated to
        bypass the sensors.
        """
        return self.fit.mass_interval(self.recording.unsensed_share)

    def interval_under(self, model: Model) -> tuple[float, float]:
        """The same under another model of what disturbs, the body's shape left free."""
        mass, alone = model.mass
        # what the fit's errors have more with calibration than alone; rounding may make it negative
        calibration = max(float(self.fit.errors[0] ** 2 - self.fit.fit_errors[0] ** 2), 0.0)
        error = INTERVAL * float(np.hypot(alone, np.sqrt(calibration)))
        return mass - error, (mass + error) / (1.0 - self.recording.unsensed_share)

    @cached_property
    def motion_limits(self) -> Limits:
        """How the object was moved."""
        return limits_of(self.recording.stretches)

    @property
    def told_by(self) -> dict[str, str]:
        """Of every parameter, and of the tensor about B's origin: ``prior`` where the data's error is
        large and they move it by less than that from a uniform body.
        """
        fit = self.fit
        values = told_parameters(fit.body.vector)
        by_data = fit.by_data | well_told(values, fit.fit_errors, self.recording.hull)
        pairs = zip((*NAMES, *ORIGIN), by_data, strict=True)
        return {name: DATA if moved else PRIOR for name, moved in pairs}

    @property
    def weighed(self) -> float:
        """The naive mass, kg: what the sensed forces add up to, weighed."""
        stretches = self.recording.stretches
        force = np.concatenate([one.wrench[:, :3] for one in stretches])
        gravity = stretches[0].gravity
        return float(np.median(np.linalg.norm(force, axis=1))) / gravity if gravity else np.nan

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Sentences on what not to trust, the weightiest first."""
        return (*self.ambiguous, *doubts(self))


def explained_recording(
    recording: Source, hull: Hull, noise: Noise, stated: Convention = STATED,
    progress: Callable[[str], None] = lambda line: None,
) -> OwnEstimate:  # fmt: skip
    """Read and estimate under the convention that explains the recording: the stated one, or a
    refusal that names the other.

    Raises
    ------
    ContactIdError
        As :func:`estimate`.
    """

    def attempt(convention: Convention) -> Judged[OwnEstimate]:
        read = read_own_recording(recording, hull, noise, convention)
        progress(_read(read) if convention == stated else f"Trying {convention.options()} ...")
        found = estimate_own(read)
        fit = found.fit
        values = told_parameters(fit.body.vector)[:_COMPARED]
        # calibration included: conventions that differ by less aren't told apart
        squares, errors = fit.misfit * fit.degrees, fit.errors[:_COMPARED]
        return Judged(found, squares, fit.degrees, values, errors, read.averaged)

    def others() -> Iterable[Convention]:
        return likelier(read_table(recording, stated), read_hull(hull), read_noise(noise), stated)

    try:
        found, ambiguous = explained(name_of(recording), stated, attempt, others)
    except Refuted as refusal:
        table = read_table(recording, stated)
        cause, remedy = cause_of_misfit(table, read_hull(hull), read_noise(noise), stated)
        if not cause:
            raise
        raise Refuted(f"{refusal.problem}; {cause}", remedy, refusal.misfit) from None
    # no residual shows the forces' unit, so the density is asked last
    ambiguous += doubt_unit_of_forces(found.fit.body.mass, found.recording.hull, stated)
    return replace(found, ambiguous=tuple(ambiguous))


def _read(recording: OwnRecording) -> str:
    contacts = ", ".join(recording.contacts)
    return f"Read {recording.name}: {recording.rows} rows, contacts {contacts}. Estimating ..."


def estimate_own(recording: OwnRecording) -> OwnEstimate:
    """Estimate an object from its recording.

    Raises :class:`ContactIdError` where it says nothing at all of a parameter.
    """
    begin = time.perf_counter()
    if recording.still:
        fit, there = fit_poses(recording.stretches[0], recording.gain_sd), None
    else:
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # zeros are refused below
                fit = fit_recording(recording.stretches, recording.gain_sd)
        # columns that are zero to the last digit: simulated poses about one axis have them
        except np.linalg.LinAlgError:
            raise ContactIdError(
                f"{recording.name}: poses without noise move the object in so few directions that some of its "
                "parameters have no part in the forces",
                "Turn it about other axes, too, or add a tracker's noise to simulated poses",
            ) from None
        fit, there = with_drift(recording.stretches, fit)
    return OwnEstimate(recording, fit, there, time.perf_counter() - begin)
