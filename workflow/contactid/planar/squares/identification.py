"""Identify a thrown square from every usable throw by itself, and from the best of them together (paper, section 6.2).

A throw is usable where its first impact is one of a single corner between two short flights. Most throws have that
only after lost frames are put back (:mod:`contactid.planar.squares.windows`): 50 of 400 real throws as they are, 166
then.

Not every usable throw tells J/m. Eq. 31 divides by the change of spin, so where it is small, a contact point that lies
half a millimetre elsewhere (a rounding that isn't a circle, a ground that gives way) moves J/m by more than the noise
does. ``per_corner_mm_mm2`` is that lever, known before the identification. And the contact law doesn't hold for all:
where friction doesn't stop the slip but turns it round, no impulse of eqs. 18 and 19 fits. Throws that tell and that
are explained are ``counted``; statistics are over these, and all are listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv, write_csv, write_exact
from contactid.planar.identify.fit import FitOptions, TrajectoryFit, fit_trajectories, stored
from contactid.planar.identify.states import StoredFit, write_fits
from contactid.planar.readers.throws import shape_of
from contactid.planar.simulate.geometry import Ground, Polygon, Shape, contacts
from contactid.planar.squares.events import ThrowEvents, ThrowOptions
from contactid.planar.squares.flight import Bridge, FlightOptions, corners_moved_in
from contactid.planar.squares.windows import (
    MendedThrow,
    PreparedThrows,
    ThrowWindow,
    WindowOptions,
    identification_window,
    mend,
    prepare_throws,
)
from contactid.sources.motion import read_dataset

_ARC = 24  # points of a rounded corner
MM, MM2, MRAD = 1e3, 1e6, 1e3
POOLED = "pooled"
SYNTHETIC, PUBLIC = "synthetic throws of a square", "public throws of a square"
_FEWEST_SHARE = 4  # throws that must lie on each side, as a share of a small set
AS_RECORDED, FRAMES_LOST = "as recorded", "frames lost"
COLUMNS = (
    "throw", "converged", "inertia_ratio_mm2", "inertia_ratio_se_mm2", "friction_mu", "residual_mm", "complementarity",
    "seconds", "plausible", "friction_is_bound", "misfit_per_degree", "residual_theta_mrad", "restitution", "windows",
    "lost_frames", "frames", "spin_change_rad_s", "eq31_mm2", "per_corner_mm_mm2", "counted",
)  # fmt: skip


@dataclass(frozen=True)
class SquareOptions:
    """How real throws are identified.

    Attributes
    ----------
    throw, flight, window : how throws are looked at
    impact_frames : of the flights around an impact, tried in this order
    fit : of a throw by itself
    pooled : of several together: the start is already near, so few solves do
    least_pooled, most_pooled : throws that are identified together, those with the smallest ``per_corner_mm_mm2``
    largest_lever : J/m's change per mm of a misplaced corner, m2/m, beyond which a throw doesn't count
    largest_misfit : squared residuals per degree of freedom, beyond which the contact law doesn't explain a throw
    """

    throw: ThrowOptions = field(default_factory=ThrowOptions)
    flight: FlightOptions = field(default_factory=FlightOptions)
    window: WindowOptions = field(default_factory=WindowOptions)
    impact_frames: tuple[int, ...] = (6, 4)
    fit: FitOptions = field(default_factory=FitOptions)
    pooled: FitOptions = field(default_factory=lambda: FitOptions(enough=1, tries=2))
    least_pooled: int = 2
    most_pooled: int = 40
    largest_lever: float = 0.3
    largest_misfit: float = 20.0


@dataclass(frozen=True)
class SquareWindow:
    """A window and what its two flights say of the impact.

    Attributes
    ----------
    window : to identify from
    met : the flights' meeting
    lost : frames that were put back
    moment, spin : both sides of eq. 31, m2/s and rad/s
    lever : change of J/m per change of the contact point's place, m2/m
    restitution : minus the ratio of the corner's normal velocities
    """

    window: ThrowWindow
    met: Bridge
    lost: int
    moment: float
    spin: float
    lever: float
    restitution: float

    @property
    def name(self) -> str:
        """The throw's."""
        return self.window.name


@dataclass(frozen=True)
class SquareWindows:
    """All usable throws.

    Attributes
    ----------
    prepared : what they were prepared from
    windows : one per usable throw
    left_out : name of every other throw to the reason
    interval : time between frames, s
    outline : of the body, its corners sharp
    """

    prepared: PreparedThrows
    windows: tuple[SquareWindow, ...]
    left_out: dict[str, str]
    interval: float
    outline: Polygon

    @property
    def shape(self) -> Polygon:
        """Centres of the rounded corners."""
        assert isinstance(self.prepared.shape, Polygon)
        return self.prepared.shape

    def named(self, names: Sequence[str]) -> list[SquareWindow]:
        """The windows of some throws.

        Raises
        ------
        ContactIdError
            For a throw without a window.
        """
        known = {window.name: window for window in self.windows}
        for name in names:
            if name not in known:
                reason = self.left_out.get(name, "there is no such throw")
                raise ContactIdError(f"{name} has no window: {reason}", "Choose one of the usable throws")
        return [known[name] for name in names]


def square_windows(data: xr.Dataset, options: SquareOptions | None = None) -> SquareWindows:
    """Usable throws of a canonical dataset of a thrown polygon.

    Raises
    ------
    ContactIdError
        Where the body isn't a polygon or no throw is usable, and as
        :func:`contactid.planar.squares.windows.prepare_throws`.
    """
    options, outline = options or SquareOptions(), shape_of(data)
    if not isinstance(outline, Polygon):
        raise ContactIdError(f"{data.attrs['source']}: the body has no corners", "Give throws of a polygon")
    prepared = prepare_throws(data, options.throw, options.flight, options.window)
    interval = 1.0 / float(data.attrs["sample_frequency"])
    windows, left_out = [], {}
    for event in prepared.events:
        try:
            windows.append(_usable(event, prepared, interval, options))
        except ContactIdError as error:
            left_out[event.name] = error.problem.removeprefix(f"{event.name}: ")
    if not windows:
        raise ContactIdError(
            f"{data.attrs['source']}: no throw has a first impact of a single corner between two flights",
            f"Throw higher; the first: {next(iter(left_out.values()))}",
        )
    return SquareWindows(prepared, tuple(windows), left_out, interval, outline)


def _usable(event: ThrowEvents, prepared: PreparedThrows, interval: float, options: SquareOptions) -> SquareWindow:
    """The window with the longest flights that meet."""
    problems = []
    for frames in options.impact_frames:
        flight = replace(options.flight, impact_frames=frames)
        try:
            mended = mend(event, interval, options.throw, flight)
            longer = replace(flight, settling=flight.settling + mended.lost)
            window = identification_window(
                mended.event,
                prepared.shape,
                prepared.ground,
                prepared.flight.sigma,
                interval,
                options.throw,
                longer,
                options.window,
            )
        except ContactIdError as error:
            problems.append(error)
            continue
        return _described(window, mended, prepared.shape, prepared.radius)
    raise problems[0]


def _described(window: ThrowWindow, mended: MendedThrow, shape: Shape, radius: float) -> SquareWindow:
    """Eq. 31 with the rounding in both levers."""
    met = mended.met
    at = contacts(shape, window.throw.ground, met.position)
    normal, tangent = at.normal[window.corner], at.tangent[window.corner] + [0.0, 0.0, radius]
    change = met.after - met.before
    along_n, along_t = float(change[:2] @ normal[:2]), float(change[:2] @ tangent[:2])
    spin = float(change[2])
    return SquareWindow(
        window=window,
        met=met,
        lost=mended.lost,
        moment=along_n * float(normal[2]) + along_t * float(tangent[2]),
        spin=spin,
        lever=float(np.hypot(along_n, along_t)) / max(abs(spin), 1e-9),
        restitution=-float(normal @ met.after) / float(normal @ met.before),
    )


def identify_window(
    usable: SquareWindows, names: Sequence[str], options: SquareOptions | None = None
) -> tuple[pd.DataFrame, dict[str, StoredFit]]:
    """Each of the named throws by itself: a row each with the columns :data:`COLUMNS`, and the fits as drawn."""
    options, rows, fits = options or SquareOptions(), [], {}
    for window in usable.named(names):
        fit = fit_trajectories(usable.shape, [window.window.throw], options.fit)
        rows.append(_row(window, fit, options))
        kept = stored(window.name, usable.shape, window.window.throw, fit)
        fits[window.name] = as_drawn(kept, usable.outline, usable.prepared.radius)
    return pd.DataFrame(rows, columns=list(COLUMNS)), fits


def with_pooled(usable: SquareWindows, table: pd.DataFrame, options: SquareOptions | None = None) -> pd.DataFrame:
    """A table of throws, sharded or not, in the dataset's order and with the joint fit as its last row."""
    options = options or SquareOptions()
    order = {window.name: place for place, window in enumerate(usable.windows)}
    table = table.sort_values("throw", key=lambda names: names.map(order), ignore_index=True)
    best = table[table["counted"]].sort_values("per_corner_mm_mm2").head(options.most_pooled)
    if len(best) < options.least_pooled:
        best = table.sort_values("misfit_per_degree").head(options.least_pooled)
    throws = [window.window.throw for window in usable.named(list(best["throw"]))]
    fit = fit_trajectories(usable.shape, throws, options.pooled)
    apart = [throw.position - states.position[states.frame] for throw, states in zip(throws, fit.throws, strict=True)]
    row = _fit_part(POOLED, fit, np.concatenate(apart)) | {
        "restitution": float(best["restitution"].median()),
        "windows": f"{len(best)} throws",
        "lost_frames": int(best["lost_frames"].sum()),
        "frames": int(best["frames"].sum()),
        "spin_change_rad_s": float("nan"),
        "eq31_mm2": float(best["eq31_mm2"].median()),
        "per_corner_mm_mm2": float(best["per_corner_mm_mm2"].median()),
        "counted": False,
    }
    return pd.concat([table, pd.DataFrame([row], columns=list(COLUMNS))], ignore_index=True)


def shown_throws(table: pd.DataFrame, number: int) -> list[str]:
    """Counted throws whose J/m is nearest the median, of those with the largest change of spin."""
    counted = table[table["counted"]]
    counted = counted if len(counted) else table[table["throw"] != POOLED]
    typical = counted[counted["lost_frames"] == 0]
    pool = typical if len(typical) >= number else counted
    pool = pool.sort_values("per_corner_mm_mm2").head(max(number, len(pool) // 3))
    away = (pool["inertia_ratio_mm2"] - counted["inertia_ratio_mm2"].median()).abs()
    return [str(name) for name in pool.loc[away.sort_values().index, "throw"].head(number)]


def rounded(shape: Polygon, radius: float) -> Polygon:
    """A polygon with rounded corners, each an arc of many short sides."""
    inner, _ = corners_moved_in(shape, Ground(), radius)
    corners = np.array(shape.vertices)
    sides = np.roll(corners, -1, axis=0) - corners
    angle = np.unwrap(np.arctan2(-sides[:, 0], sides[:, 1]))
    points = []
    for k, centre in enumerate(inner.vertices):
        turn = (angle[k] - angle[k - 1]) % (2.0 * np.pi)
        along = angle[k] - turn + turn * np.linspace(0.0, 1.0, _ARC)
        points += [(centre[0] + radius * np.cos(a), centre[1] + radius * np.sin(a)) for a in along]
    return Polygon(tuple((float(x), float(y)) for x, y in points))


def as_drawn(fit: StoredFit, outline: Polygon, radius: float) -> StoredFit:
    """The same throw with the body's whole outline (m) over its real ground, in place of the corners' centres."""
    if radius <= 0.0:
        return fit
    ground = fit.throw.ground
    ground = replace(ground, y0=float(ground.y0 - radius / np.cos(ground.slope)))
    return replace(fit, shape=rounded(outline, radius), throw=replace(fit.throw, ground=ground))


def left_out_table(usable: SquareWindows) -> pd.DataFrame:
    """``ext_real_squares_left_out``: throw, reason."""
    return pd.DataFrame(list(usable.left_out.items()), columns=["throw", "reason"])


def _row(window: SquareWindow, fit: TrajectoryFit, options: SquareOptions) -> dict[str, Any]:
    throw, states = window.window.throw, fit.throws[0]
    row = _fit_part(window.name, fit, throw.position - states.position[states.frame])
    explained = fit.converged and row["misfit_per_degree"] <= options.largest_misfit
    return row | {
        "restitution": window.restitution,
        "windows": FRAMES_LOST if window.lost else AS_RECORDED,
        "lost_frames": window.lost,
        "frames": len(throw.time),
        "spin_change_rad_s": window.spin,
        "eq31_mm2": MM2 * window.moment / window.spin if window.spin else float("nan"),
        "per_corner_mm_mm2": MM2 / MM * window.lever,
        "counted": bool(explained and window.lever <= options.largest_lever),
    }


def _fit_part(name: str, fit: TrajectoryFit, apart: np.ndarray) -> dict[str, Any]:
    return {
        "throw": name,
        "converged": fit.converged,
        "inertia_ratio_mm2": MM2 * fit.inertia_ratio,
        "inertia_ratio_se_mm2": MM2 * fit.inertia_ratio_se,
        "friction_mu": fit.friction_mu,
        "residual_mm": MM * float(np.sqrt((apart[:, :2] ** 2).sum(axis=1).mean())),
        "complementarity": fit.complementarity,
        "seconds": fit.seconds,
        "plausible": fit.plausible,
        "friction_is_bound": fit.friction_is_bound,
        "misfit_per_degree": fit.misfit_per_degree,
        "residual_theta_mrad": MRAD * float(np.sqrt((apart[:, 2] ** 2).mean())),
    }


def options_for(data: xr.Dataset) -> SquareOptions:
    """Options with as many throws at rest on each side as a small set can have."""
    plain = SquareOptions()
    fewest = min(plain.throw.fewest_at_rest, data.sizes["throw"] // _FEWEST_SHARE)
    return replace(plain, throw=replace(plain.throw, fewest_at_rest=fewest))


def part_of(usable: SquareWindows, part: int, parts: int) -> list[str]:
    """Names of every ``parts``-th usable throw, from number ``part`` (from 0): a cluster's share of the work.

    Raises
    ------
    ContactIdError
        Where there is no such part.
    """
    if not 0 <= part < parts:
        raise ContactIdError(f"part {part} of {parts} of the throws", "Count parts from 0")
    return [window.name for window in usable.windows[part::parts]]


def write_part(data: str, part: str, parts: int, table: str) -> None:
    """Identify a share of the usable throws of a canonical file by themselves, and write a row each."""
    dataset = read_dataset(data)
    options = options_for(dataset)
    usable = square_windows(dataset, options)
    write_csv(identify_window(usable, part_of(usable, int(part), parts), options)[0], table)


def write_squares(data: str, parts: Sequence[str], table: str, left_out: str, fits: str, *, shown: int = 3) -> None:
    """Write the throws' table with the pooled row, those left out, and some throws with their states.

    Parameters
    ----------
    data
        Canonical file of the throws.
    parts
        What :func:`write_part` wrote.
    table, left_out, fits
        Files to write: the tables to the last digit, and the shown throws.
    shown
        Number of throws to show.
    """
    dataset = read_dataset(data)
    options = options_for(dataset)
    usable = square_windows(dataset, options)
    throws = pd.concat([read_csv(path) for path in parts], ignore_index=True)
    pooled = with_pooled(usable, throws, options)
    _, found = identify_window(usable, shown_throws(pooled, shown), options)
    named = SYNTHETIC if dataset.attrs["synthetic"] else PUBLIC
    write_fits([replace(fit, label=f"{named}, {fit.label}") for fit in found.values()], fits)
    write_exact(pooled, table)
    write_exact(left_out_table(usable), left_out)
