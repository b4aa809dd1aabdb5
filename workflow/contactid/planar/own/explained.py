"""Identify throws under the convention that explains them: the stated one, or a refusal that names
the other.

In flight a body falls: that tells which way is up, and the unit of lengths. The sense of theta
shows in the contacts alone, so both are fitted whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from contactid.planar.engine.search import Say
from contactid.planar.engine.steering import STEERING
from contactid.planar.own.body import OwnBody, read_own_throws_of
from contactid.planar.own.identify import FEWEST_IMPACTS, OwnIdentification, identify_own
from contactid.planar.readers.csv_throws import PartOfTable, ThrowSource, columns_in_si
from contactid.sources.columns import UNITS, fitting_unit, meaning
from contactid.sources.conventions import FRAMES, STATED, THETA, UP, Convention
from contactid.sources.explaining import FINE, Judged, explained
from contactid.sources.recorded_table import RecordedTable

_UPS = ("y", "-y", "x", "-x")
_LONGEST_INTERVAL = 0.2  # s between frames
_FARTHEST = 20.0  # m that a throw goes
# s and frames of parabolas: flights between impacts are as short
_WINDOWS, _FEWEST = (0.03, 0.06), 6
_NEAR = 2.0  # m/s2 from free fall, or three standard errors
# times a uniform body's J/m, half or twice: a hollow frame has twice. By few frames a wrong sense of
# theta explains a throw, too, but with any J/m.
_USUAL = 2.0
# of the likeliest up and unit: the next one is tried, too, where it explains as much of the flights
_ALIKE = 0.5
# rad/s: faster than most throws, and than all: angles may be, and are, degrees of a body that turns
# by one rad/s or more; a slower one tells no J/m
_TURNS, _SPINS = 60.0, 150.0


def explained_throws(
    body: OwnBody,
    sources: Sequence[ThrowSource],
    stated: Convention = STATED,
    say: Say | None = None,
    begun: Say = lambda line: None,
) -> OwnIdentification:
    """Read and identify; ``say`` takes a line on each step, ``begun`` one on what is read and what
    is tried.

    Raises
    ------
    ContactIdError
        For whatever is wrong with the files, and where another convention explains the throws, or
        none does.
    """

    def attempt(convention: Convention) -> Judged[OwnIdentification]:
        throws = read_own_throws_of(body, sources, convention)
        frames = f"{len(throws.throws)} throws, {sum(map(len, throws.seen))} frames"
        begun(f"Read {frames}" if convention == stated else f"Trying {convention.options()}")
        found = identify_own(body, throws, say, hasty=convention != stated)
        fit = found.fit
        squares, degrees = fit.whole_squares, fit.whole_degrees
        values, errors = np.array([fit.inertia_ratio]), np.array([fit.inertia_ratio_se])
        times_uniform = fit.inertia_ratio / found.body.shape.uniform_inertia_ratio
        is_odd = not 1.0 / _USUAL <= times_uniform <= _USUAL
        impacts_agree = fit.by_impacts and fit.degrees >= FEWEST_IMPACTS
        if impacts_agree and not is_odd and fit.misfit_per_degree <= FINE:
            # in a wrong convention they contradict each other, or give an odd body
            squares, degrees = fit.squares, fit.degrees
        if fit.incremental:
            # impacts that last are no reason to try other conventions
            squares *= FINE / STEERING.lasting_impact
        return Judged(
            found, squares, degrees, values, errors,
            own_misfit=fit.misfit_per_degree, odd=is_odd,
        )  # fmt: skip

    found, warnings = explained(
        ", ".join(map(str, sources)),
        stated,
        attempt,
        lambda: _likelier(sources, stated, body.gravity),
    )
    return replace(found, warnings=(*found.warnings, *warnings))


def _likelier(
    sources: Sequence[ThrowSource], stated: Convention, gravity: float
) -> Iterator[Convention]:
    """Conventions under which bodies fall in flight, fewer changes first."""
    tables = [columns_in_si(source, stated) for source in sources]
    # s, if the stated unit is right
    interval = float(np.median(np.concatenate([np.diff(table[:, 0]) for table in tables])))
    unit = fitting_unit("s", interval / stated.unit("time"), 1e-4, _LONGEST_INTERVAL)
    units = {"time": unit} if interval > _LONGEST_INTERVAL and unit else {}
    scale = UNITS["s"][units["time"]] / stated.unit("time") if units else 1.0
    falls = _accelerations(tables, scale)
    own_up, length = stated.frame.get(UP, "y"), stated.unit("position_x")
    # m that a throw goes, if the stated unit is right
    reach = max(
        float(np.nanmax(np.ptp(table[np.isfinite(table).all(axis=1), 1:3], axis=0)))
        for table in tables
    )
    lengths = {"": length, "mm": 1e-3, "cm": 1e-2, "in": 0.0254}
    # of all ups and units in which throws stay within reach, how freely bodies fall
    falling = {
        (up, unit): _falling(falls, up, metres / length, gravity)
        for unit, metres in lengths.items()
        if reach * metres / length <= _FARTHEST
        for up in _UPS
    }
    # the stated one wins a tie
    ranked = sorted(falling, key=lambda one: (-falling[one], one != (own_up, "")))
    alike = [one for one in ranked[:2] if falling[one] >= _ALIKE * falling[ranked[0]]]
    spins = []
    for table in tables:
        step, turn = np.diff(table[:, 0]), np.abs(np.diff(np.unwrap(table[:, 3])))
        forward = step > 0.0  # stamps may stand still
        spins.append(turn[forward] / step[forward] / scale)
    # nine tenths of the steps turn slower: a single jump is no spin
    spin = float(np.nanquantile(np.concatenate(spins), 0.9))
    own_theta = stated.frame.get(THETA, FRAMES[THETA][0])
    other_theta = FRAMES[THETA][1 - FRAMES[THETA].index(own_theta)]
    in_degrees = {"theta": "deg"}
    # some spins are possible in both units, so both are tried
    angles = [in_degrees] if spin > _SPINS else [{}, in_degrees] if spin > _TURNS else [{}]
    if stated.states("rad") or any(_names_unit(source, stated) for source in sources):
        angles = [{}]
    for (up, unit), angle, theta in itertools.product(alike, angles, ({}, {THETA: other_theta})):
        others = units | ({"position": unit} if unit else {}) | angle
        frame = ({UP: up} if up != own_up else {}) | theta
        other = replace(stated, units={**stated.units, **others}, frame={**stated.frame, **frame})
        if other != stated:
            yield other


def _names_unit(source: ThrowSource, stated: Convention) -> bool:
    """Whether the header says in which unit theta is."""
    frame = source.frame if isinstance(source, PartOfTable) else source
    table = RecordedTable.read(frame, stated)
    column = meaning(table.header[table.places["theta"].column])
    return column is not None and bool(column.unit)


def _accelerations(tables: Sequence[np.ndarray], scale: float) -> np.ndarray:
    """(k, 3): x'' and y'' in the table's lengths per s2 and their standard error, of short windows."""
    found = []
    for table in tables:
        table = table[np.isfinite(table).all(axis=1)]
        time = scale * (table[:, 0] - table[0, 0])
        interval = float(np.median(np.diff(time)))
        lengths = [max(_FEWEST, round(window / interval)) for window in _WINDOWS]
        parts = [
            slice(k, k + n) for n in lengths for k in range(0, len(time) - n + 1, max(1, n // 3))
        ]
        for part in parts:
            frames = part.stop - part.start
            columns = np.vander(time[part] - time[part].mean(), 3)
            fit, left, *_ = np.linalg.lstsq(columns, table[part, 1:3], rcond=None)
            # two parabolas take six of 2 n degrees of freedom
            spread = float(np.sqrt(np.sum(left) / max(2 * frames - 6, 1)))
            found.append(
                [*(2.0 * fit[0]), 2.0 * spread * np.sqrt(np.linalg.inv(columns.T @ columns)[0, 0])]
            )
    return np.array(found).reshape(-1, 3)


def _falling(windows: np.ndarray, up: str, factor: float, gravity: float) -> float:
    """How many of the windows a body falls freely in, those that tell it best for most."""
    axis = "xy".index(up[-1])
    sign = -1.0 if up.startswith("-") else 1.0
    # a parabola over an impact fits badly, and allows much
    allowed = _NEAR + 3.0 * factor * windows[:, 2]
    along = np.abs(sign * factor * windows[:, axis] + gravity)
    # nothing accelerates sideways in free fall
    off = np.maximum(along, np.abs(factor * windows[:, 1 - axis]))
    # never so wide that rest counts as a fall
    falls = off < np.minimum(allowed, 0.5 * gravity)
    # the nearer to free fall, and the more precise, the more a window counts
    nearness = 1.0 - (off / allowed) ** 2
    return float(np.sum(nearness[falls] / allowed[falls] ** 2))
