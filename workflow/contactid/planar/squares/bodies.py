"""J/m of the real square and ellipse, by routes that share no assumption, and what else could have
made it so low.

Routes: eq. 31 over impacts (:mod:`contactid.planar.squares.impacts`), tipping about a corner
without an impact (:mod:`contactid.planar.squares.tipping`), and braking in flight. A film between
body and plates brakes every part of the body by its velocity, so translation by ``c``, and rotation
by ``c' = c (J/m of a uniform plate) / (J/m)``.

A uniform plate could look as if its rim were light through *rivals*: a contact point off to one
side, a lever of another instant, corners of another radius, a couple by the plates. Each is put on
the same impulses and levers of a uniform plate, with contact points as scattered as the real ones,
and goes through the same fit, at the size at which that gives the real body's J/m. Subsets of the
impacts then tell them apart: by lever, change of spin, impulse, slip and throw a rival has a
profile. It is refused where that lies farther from the real body's, in standard errors of a subset,
than one J/m for all does, by three or more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import brentq

from contactid.output.tables import read_exact, write_exact
from contactid.planar.readers.throws import SQUARE_SIDE
from contactid.planar.simulate.bodies import GRAVITY
from contactid.planar.squares.flight import STRETCH, flight_report, flight_stretches
from contactid.planar.squares.impacts import (
    FREE,
    LAGGED,
    EllipseImpacts,
    ImpactFit,
    Impacts,
    LeverGeometry,
    every_impact,
    fit_impacts,
    impacts_of,
)
from contactid.planar.squares.tipping import find_pivots, ratio_of_moments, standing_couples
from contactid.planar.squares.windows import PreparedThrows, prepare_throws
from contactid.sources.motion import read_dataset

SQUARE, ELLIPSE = "square", "ellipse"
PYBULLET, TWIN = "PyBullet", "twin"
EQ31, EQ31_LAG, REVERSED = "eq. 31", "eq. 31, lag free", "eq. 31, reversed"
AS_PUBLISHED, OF_ONE = "eq. 31, x as published", "rival of 1 mm or ms"
SUBSET, RIVAL, PLATE, STATED = "subset", "rival", "uniform plate", "publishers"
TIPPING, BRAKING, EQ27 = "tipping", "braking in flight", "eq. 27, median"
NO_COUPLE, STANDING, FITTED = "no couple", "couple as it stands", "couple of each pivot"
COLUMNS = (
    "body", "route", "case", "impacts", "inertia_ratio_mm2", "inertia_ratio_se_mm2", "radius_mm", "size",
    "departure_se", "residual_pct",
)  # fmt: skip
_MM, _MM2 = 1e3, 1e6
_QUARTERS = 4
# stretches of nine frames: with fewer a rate of braking is hardly known to a tenth
_FEWEST_FLIGHTS = 500
_FLIGHT_DRAWS = 40  # of the bootstrap of braking over throws
_MEDIAN_DRAWS = 400  # of the bootstrap of a median
# mm or ms, sizes of rivals: none is larger than a fifth of the square
_TRIED = np.array([1.0, 1.8, 3.3, 6.0, 12.0])
_SIZED = 1e-3  # mm or ms, to which a rival's size is found


def ellipse_impacts_of(data: xr.Dataset) -> EllipseImpacts:
    """Impacts of :func:`contactid.planar.readers.impacts.read_ellipse_impacts`, each a throw of its
    own.
    """
    before, after = data["velocity_before"].values, data["velocity_after"].values
    n, change = len(before), after - before
    return EllipseImpacts(
        # no errors by poses: the scatter of contact points, which is fitted, takes them in
        np.arange(n), np.tile(data["semi_axes"].values, (n, 1)), np.zeros((n, 2)), data["before"].values[:, 2],
        change[:, :2], change[:, 2], before, np.zeros((n, 3)), np.zeros(n),
    )  # fmt: skip


Rival = Callable[[Impacts, np.ndarray, float], np.ndarray]


# Rivals: what each adds to the moment of the impulse about the centre, mm2/s, by its size
def _aside(impacts: Impacts, z: np.ndarray, size: float) -> np.ndarray:
    """A patch of contact whose pressure centre lies farther out, mm."""
    return _MM * size * np.sign(impacts.moment(z)) * impacts.levers(z)[1][:, 1]


def _later(impacts: Impacts, z: np.ndarray, size: float) -> np.ndarray:
    """A lever of another instant, ms."""
    return impacts.moment(z + size * np.eye(len(z))[5]) - impacts.moment(z)


def _rounder(impacts: Impacts, z: np.ndarray, size: float) -> np.ndarray:
    """Corners of another radius, or longer semi-axes, mm."""
    return impacts.moment(z + size * np.eye(len(z))[1]) - impacts.moment(z)


def _rubbing(impacts: Impacts, z: np.ndarray, size: float) -> np.ndarray:
    """Friction of the plates, pressed by a share of the impulse, against the turning: a couple by
    the impulse, mm.
    """
    # the spin in the middle of the impact
    turning = np.sign(impacts.before[:, 2] + 0.5 * impacts.spin)
    return -_MM * size * turning * np.hypot(*impacts.levers(z)[1].T)


RIVALS: dict[str, tuple[Rival, str]] = {
    "contact patch": (_aside, "mm"),
    "another instant": (_later, "ms"),
    "another radius": (_rounder, "mm"),
    "plates' friction": (_rubbing, "mm"),
}


def subsets(impacts: Impacts, z: np.ndarray) -> dict[str, np.ndarray]:
    """Flags (n,) of the impacts by lever, change of spin, normal impulse, slip, spin and throw."""
    arm, push = impacts.levers(z)
    found = {}
    values = {
        "lever": np.abs(arm[:, 0]),
        "spin change": np.abs(impacts.spin),
        "impulse": push[:, 1],
    }
    values["throw"] = np.unique(impacts.throw, return_inverse=True)[1].astype(float)
    for name, value in values.items():
        edges = np.quantile(value, np.linspace(0.0, 1.0, _QUARTERS + 1)[1:-1])
        for quarter in range(_QUARTERS):
            found[f"{name}, quarter {quarter + 1}"] = (
                np.searchsorted(edges, value, "right") == quarter
            )
    # m/s, of the contact point along the ground, before the impact
    slip = impacts.before[:, 0] - arm[:, 1] / _MM * impacts.before[:, 2]
    for name, value in {"slip": slip, "spin": impacts.before[:, 2]}.items():
        found[f"{name} towards"] = value * arm[:, 0] > 0.0
        found[f"{name} away"] = value * arm[:, 0] < 0.0
    return found


def profile(impacts: Impacts, fit: ImpactFit) -> pd.DataFrame:
    """J/m of each subset with the geometry of the fit to all: ``case``, ``impacts`` and J/m, mm2,
    with its error.
    """
    rows, held = [], LeverGeometry()
    for name, chosen in subsets(impacts, fit.numbers).items():
        part = impacts.of(chosen)
        found = fit_impacts(part, fit.geometry, held, start=fit.ratio, scatter=fit.scatter, draws=0)
        rows.append({"case": name, "impacts": len(part), **_value(found.ratio, found.ratio_se)})
    return pd.DataFrame(rows)


def plate_with(
    rival: Rival, size: float, impacts: Impacts, fit: ImpactFit, plate: float
) -> Impacts:
    """The same impulses and levers on a uniform plate (J/m ``plate``, m2) with a rival of a size.

    Contact points are off as in the real impacts, but as in others of these, so that it knows
    nothing of the lever.
    """
    z = fit.numbers
    push = impacts.levers(z)[1]
    # eq. 31 of the plate, with what the rival adds to the moment
    spin = (impacts.moment(z) + rival(impacts, z, size)) / (_MM2 * plate)
    others = np.random.default_rng(1).permutation(len(impacts))
    # the centre keeps its impulse; with another spin the tracked point moves otherwise
    moved = impacts.push - (impacts.spin - spin)[:, None] * _per_spin(impacts, z)
    return replace(impacts, spin=spin, push=moved, aside=(fit.left / np.hypot(*push.T))[others])


def _per_spin(impacts: Impacts, z: np.ndarray) -> np.ndarray:
    """(n, 2) how the velocity of the point that poses are given of changes with the spin, m."""
    unit = replace(impacts, push=np.zeros_like(impacts.push), spin=np.ones(len(impacts)))
    return -unit.levers(z)[1]


def eq31_rows(
    body: str, impacts: Impacts, prior: LeverGeometry, error: LeverGeometry, plate: float
) -> pd.DataFrame:
    """What eq. 31 says of a body: J/m, its subsets, and rivals on a uniform plate (J/m ``plate``,
    m2).
    """
    fit = fit_impacts(impacts, prior, error)
    lagged = fit_impacts(impacts, prior, replace(error, lag=LAGGED.lag))
    z, real = fit.numbers, profile(impacts, fit)
    # how far the real body's own subsets are from one value: a rival has to beat that
    far = (real["inertia_ratio_mm2"] - z[0]).abs() / real["inertia_ratio_se_mm2"]
    by_place, by_poses = impacts.variances(z)
    # the residual itself in the weight: Cauchy's, so wild impacts count little here, too
    weight = 1.0 / (by_place * (_MM * fit.scatter) ** 2 + by_poses + impacts.left(z) ** 2)
    moment = impacts.moment(z)
    # spin by moment: right were all errors in the spin
    other_way = float((weight * moment) @ moment / ((weight * moment) @ impacts.spin)) / _MM2
    rows = [
        _fitted(EQ31, "", fit) | {"departure_se": float(far.max())},
        _fitted(EQ31_LAG, "", lagged) | {"size": _MM * lagged.geometry.lag},
        {"route": REVERSED, "case": "", "impacts": len(impacts), **_value(other_way)},
        *real.assign(route=SUBSET).to_dict("records"),
    ]
    for name, (rival, unit) in RIVALS.items():
        # of 1 mm or ms first: what a small rival does to J/m
        small = fit_impacts(
            plate_with(rival, 1.0, impacts, fit, plate), prior, error, start=plate, draws=0
        )
        rows.append(_fitted(OF_ONE, f"{name}, 1 {unit}", small) | {"size": 1.0})
        size = _size(
            lambda x, rival=rival: plate_with(rival, x, impacts, fit, plate),  # type: ignore[misc]
            (prior, error, fit.ratio),
            plate,
        )
        made = plate_with(rival, size, impacts, fit, plate)
        found = fit_impacts(made, prior, error, start=plate, draws=0)
        seen = profile(made, found)
        apart = (seen["inertia_ratio_mm2"] - real["inertia_ratio_mm2"]).abs()
        # impulses are the same, so chance differs only by how contact points are off, in both as
        # much
        farther = apart / (np.sqrt(2.0) * real["inertia_ratio_se_mm2"]) - far
        nearest = {"size": size, "departure_se": float(farther.max())}
        rows.append(_fitted(RIVAL, f"{name}, sized", found) | nearest)
        rows += seen.assign(
            route=f"{RIVAL}, {SUBSET}", case=name + ": " + seen["case"], size=size
        ).to_dict("records")
    return pd.DataFrame(rows).assign(body=body)


def _size(
    made: Callable[[float], Impacts],
    fitted: tuple[LeverGeometry, LeverGeometry, float],
    plate: float,
) -> float:
    """The smallest size of a rival with which a plate has the real J/m through the fit, or comes
    nearest to it.
    """
    prior, error, wanted = fitted

    def above(size: float) -> float:
        return fit_impacts(made(size), prior, error, start=plate, draws=0).ratio - wanted

    # to both sides: a rival may also make J/m larger
    sizes = np.concatenate([-_TRIED[::-1], [0.0], _TRIED])
    values = np.array([above(float(size)) for size in sizes])
    # sizes between which J/m passes the real one
    crossed = np.flatnonzero(np.diff(np.sign(values)))
    if not len(crossed):
        return float(sizes[np.abs(values).argmin()])
    # outwards, and braking, before inwards
    nearest = min(crossed, key=lambda i: (abs(sizes[i] + sizes[i + 1]), sizes[i] < 0.0))
    return float(brentq(above, sizes[nearest], sizes[nearest + 1], xtol=_SIZED))


def flight_rows(prepared: PreparedThrows, plate: float) -> list[dict[str, Any]]:
    """J/m of a square without an impact: tipping with three couples, and braking in flight."""
    pivots, standing, rows = find_pivots(prepared), standing_couples(prepared), []
    couples: dict[str, float | None] = {NO_COUPLE: 0.0}
    if standing:
        couples[STANDING] = max(standing.values())
    couples[FITTED] = None
    # a bootstrap over one pivot has no spread
    for case, couple in couples.items() if len(pivots) > 1 else ():
        found = ratio_of_moments(pivots, couple)
        # mm by which the weight would have to lie off the contact point
        lever = _MM * found.couple / GRAVITY
        row = {"route": TIPPING, "case": case, "impacts": len(pivots), "size": lever}
        rows.append(row | _value(found.ratio, found.error))
    random, events, drawn = np.random.default_rng(1), prepared.events, []
    flights = sum(1 for _ in flight_stretches(events))
    for _ in range(_FLIGHT_DRAWS if flights >= _FEWEST_FLIGHTS else 0):
        # whole throws are drawn, as flights of one throw aren't independent
        some = [events[i] for i in random.integers(0, len(events), len(events))]
        drawn.append(plate * _braking(replace(prepared, events=tuple(some))))
    if drawn:
        value = _value(plate * _braking(prepared), float(np.std(drawn)))
        rows.append({"route": BRAKING, "case": "", "impacts": flights, **value})
    return rows


def _braking(prepared: PreparedThrows) -> float:
    """Rate at which translation slows down by that of the spin.

    A film brakes in proportion to the velocity, which is not quite what is seen, so rates are those
    at the velocities that a line through the origin would hang on.
    """
    report = flight_report(prepared.events, prepared.interval)
    steps = np.concatenate(
        [np.diff(one[[0, -1]], axis=0) for one in flight_stretches(prepared.events)]
    )
    # (3,) root mean square velocities of the stretches, m/s and rad/s
    typical = np.sqrt((steps**2).mean(axis=0)) / ((STRETCH - 1) * prepared.interval)
    # what is left without gravity's part
    slowing = -report.acceleration(typical) - np.array([0.0, report.gravity, 0.0])
    return float((slowing[0] / typical[0]) / (slowing[2] / typical[2]))


def write_bodies(
    data: str, twin: str, simulated: str, ellipse: str, squares: str, table: str
) -> None:
    """Write the rows :data:`COLUMNS` of both bodies, and of two squares whose J/m is known, to the
    last digit.

    ``size`` is a rival's, in mm or ms, a couple's by the weight, mm, or a lag, ms.

    Parameters
    ----------
    data, twin, simulated
        Canonical files of the throws, of the synthetic ones, and of those of another simulator.
    ellipse
        Canonical file of the impacts.
    squares
        What :func:`contactid.planar.squares.identification.write_squares` wrote of the throws.
    table
        File to write.
    """
    parts = [
        _square_rows(
            read_dataset(data), read_exact(squares)["inertia_ratio_mm2"].to_numpy(dtype=float)
        ),
        *(
            _known_rows(body, read_dataset(path))
            for body, path in ((TWIN, twin), (PYBULLET, simulated))
        ),
        _ellipse_rows(read_dataset(ellipse)),
    ]
    write_exact(pd.concat(parts, ignore_index=True)[list(COLUMNS)], table)


def _impacts_of(prepared: PreparedThrows) -> tuple[Impacts, LeverGeometry]:
    """All impacts, and the corners' radius as the preparation measured it."""
    return impacts_of(prepared, every_impact(prepared)), LeverGeometry(radius=prepared.radius)


def _square_rows(throws: xr.Dataset, by_eq27: np.ndarray) -> pd.DataFrame:
    """All routes of the real square; ``by_eq27`` (n,) is J/m of single impacts, mm2."""
    prepared = prepare_throws(throws)
    plate = prepared.shape.uniform_inertia_ratio
    median = {
        "inertia_ratio_mm2": float(np.median(by_eq27)),
        "inertia_ratio_se_mm2": _median_error(by_eq27),
    }
    radius = {"radius_mm": _MM * prepared.radius}
    rows = [
        *flight_rows(prepared, plate),
        {"route": EQ27, "case": "", "impacts": len(by_eq27), **median},
        {"route": PLATE, "case": "sharp corners", **_value(SQUARE_SIDE**2 / 6.0)},
        {"route": PLATE, "case": "rounded corners", **_value(plate), **radius},
    ]
    by_eq31 = eq31_rows(SQUARE, *_impacts_of(prepared), FREE, plate)
    return pd.concat([by_eq31, pd.DataFrame(rows).assign(body=SQUARE)], ignore_index=True)


def _known_rows(body: str, throws: xr.Dataset) -> pd.DataFrame:
    """Eq. 31 of a square whose J/m is known."""
    impacts, prior = _impacts_of(prepare_throws(throws))
    lagged = fit_impacts(impacts, prior, LAGGED)
    rows = [
        _fitted(EQ31, "", fit_impacts(impacts, prior, FREE)),
        _fitted(EQ31_LAG, "", lagged) | {"size": _MM * lagged.geometry.lag},
    ]
    return pd.DataFrame(rows).assign(body=body)


def _ellipse_rows(published: xr.Dataset) -> pd.DataFrame:
    """All routes of the real ellipse, and what eq. 31 makes of it in the frame of the published
    files.
    """
    a, b = (float(axis) for axis in published["semi_axes"].values)
    plate = 0.25 * (a**2 + b**2)
    impacts = ellipse_impacts_of(published)
    # semi-axes are published, so no radius is added to them
    error = replace(FREE, radius=0.0)
    other_x = np.array([-1.0, 1.0])
    mirrored = replace(
        impacts, push=impacts.push * other_x, before=impacts.before * [*other_x, 1.0]
    )
    stated = [
        _fitted(AS_PUBLISHED, "", fit_impacts(mirrored, LeverGeometry(), error)),
        {"route": PLATE, "case": "", **_value(plate)},
        {
            "route": STATED,
            "case": "radius of gyration",
            **_value(float(published["inertia_ratio"])),
        },
        {"route": STATED, "case": "as of an ellipsoid", **_value(0.2 * (a**2 + b**2))},
    ]
    by_eq31 = eq31_rows(ELLIPSE, impacts, LeverGeometry(), error, plate)
    return pd.concat([by_eq31, pd.DataFrame(stated).assign(body=ELLIPSE)], ignore_index=True)


def _median_error(values: np.ndarray) -> float:
    """Standard error of the median of n values, by a bootstrap."""
    drawn = np.random.default_rng(1).choice(values, (_MEDIAN_DRAWS, len(values)))
    return float(np.median(drawn, axis=1).std())


def _value(ratio: float, error: float = float("nan")) -> dict[str, float]:
    """From m2."""
    return {"inertia_ratio_mm2": _MM2 * ratio, "inertia_ratio_se_mm2": _MM2 * error}


def _fitted(route: str, case: str, fit: ImpactFit) -> dict[str, Any]:
    return {
        "route": route, "case": case, "impacts": len(fit.left), **_value(fit.ratio, fit.ratio_se),
        "radius_mm": _MM * fit.geometry.radius, "residual_pct": 100.0 * fit.residual,
    }  # fmt: skip
