"""How a user's throws are identified: the geometry's prior, whole throws or impacts by themselves, and eq. 27."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from contactid.planar.identify.fit import FitOptions, TrajectoryFit, fit_from_motion, fit_trajectories
from contactid.planar.own.body import OwnBody, OwnThrows
from contactid.planar.own.geometry import Say, fit_impacts
from contactid.planar.own.geometry_problem import GeometryFit, Known, Piece
from contactid.planar.readers.throws import PlanarThrow
from contactid.planar.simulate.geometry import Polygon
from contactid.planar.squares.events import Alignment, event_size, throw_events
from contactid.planar.squares.flight import FlightReport, corner_radius
from contactid.planar.squares.windows import PreparedThrows, SquareOptions, SquareWindow, every_window

_TURNED, _TILTED, _OFF_GROUND, _LOWER = 0.02, 0.02, 3e-3, 2e-3  # rad, rad, m, m: how far a description may be off
_OFF_CENTRE = 0.03  # of the outline's reach: how far the tracked point may lie from the centre of mass
_ROUND = 0.06, 0.08  # mean and standard deviation of a radius that isn't given, by the reach
_TURNED_LITTLE, _TILTED_LITTLE, _ROUND_LITTLE = 5e-3, 3e-3, 3e-4  # rad, rad, m: the same where bodies lay at rest
_OFF_LITTLE = 0.012  # of the reach
_AS_WELL, _USUAL = 1.3, 1.5  # times the motion's misfit, and misfit per degree, up to which no search is made
_WORSE = 1.0  # of half the squared residuals: a settled solution may be worse by that
_NO_SEQUENCE = 20.0  # of half the squared residuals, by which the fitted motion explains the poses better
FITTED_MOTION = "fitted motion"


def known_geometry(body: OwnBody, throws: OwnThrows) -> Known:
    """What the description says of the geometry, and how far the truth may be from it."""
    shape, reach = body.shape, float(np.linalg.norm(body.shape.outline(), axis=1).max())
    if isinstance(shape, Polygon) and not body.radius_given:
        shape = replace(shape, radius=_ROUND[0] * reach)
    return Known(
        shape=shape,
        ground=throws.throws[0].ground,
        axes=throws.turn,
        turn=_TURNED,
        point=_OFF_CENTRE * reach,
        radius=0.0 if body.radius_given else _ROUND[1] * reach,
        slope=_TILTED,
        height=_OFF_GROUND,
        lower=_LOWER,
        gravity=body.gravity,
    )


@dataclass(frozen=True)
class OwnImpacts:
    """A polygon's impacts that are usable by themselves, and what they were prepared from; an ellipse has none."""

    prepared: PreparedThrows | None
    windows: tuple[SquareWindow, ...]


def own_impacts(known: Known, throws: OwnThrows) -> OwnImpacts:
    """Impacts as the study takes its measured square's (:mod:`contactid.planar.squares.windows`)."""
    if not isinstance(known.shape, Polygon):
        return OwnImpacts(None, ())
    prepared = _prepared(known, throws)
    windows = [window for event in prepared.events for window in every_window(event, prepared, SquareOptions.frames)]
    return OwnImpacts(prepared, tuple(windows))


def by_impacts(known: Known, throws: OwnThrows, usable: OwnImpacts, say: Say) -> tuple[GeometryFit, tuple[str, ...]]:
    """The fit to impacts by themselves, and the impacts' names.

    Real impacts take time and restitution differs from one to the next, so short windows are all that a rigid body on a
    straight ground explains.
    """
    prepared, windows = usable.prepared, usable.windows
    assert prepared is not None
    near = replace(
        known,
        shape=prepared.shape,
        axes=0.0,
        turn=_TURNED_LITTLE,
        point=_OFF_LITTLE * float(np.linalg.norm(known.shape.outline(), axis=1).max()),
        radius=known.radius and min(known.radius, max(prepared.radius_error, _ROUND_LITTLE)),
        slope=_TILTED_LITTLE,
        height=0.0,
    )
    pieces = [Piece(window.throw, np.ones(len(window.throw.time), dtype=bool), apart=True) for window in windows]
    found = fit_impacts(near, pieces, say)
    alignment = replace(found.alignment, turn=found.alignment.turn + throws.turn)
    count: Counter[str] = Counter()
    names = []
    for window in windows:
        count[window.name] += 1
        names.append(f"{window.name}, impact {count[window.name]}")
    return replace(found, alignment=alignment), tuple(names)


def _prepared(known: Known, throws: OwnThrows) -> PreparedThrows:
    """The study's preparation (:mod:`contactid.planar.squares.windows`) with the noise that is known already."""
    read = [
        PlanarThrow(name, throw.time, throw.position) for name, throw in zip(throws.names, throws.throws, strict=True)
    ]
    shape, interval = known.shape, throws.throws[0].frame_interval
    assert isinstance(shape, Polygon)
    alignment = Alignment(throws.throws[0].ground, throws.turn, np.zeros(2), 0.0)
    events = tuple(throw_events(throw, shape, alignment, event_size(throws.sigma, interval)) for throw in read)
    radius, error = corner_radius(events, replace(shape, radius=0.0), alignment) if known.radius else (0.0, 0.0)
    if radius > 0.0:
        shape = replace(shape, radius=radius)
    else:
        error = known.radius
    return PreparedThrows(shape, error, interval, alignment, events, FlightReport(throws.sigma, known.gravity, 0.0))


def left_open(geometry: GeometryFit) -> np.ndarray:
    """(2,) variances of J/m (m4) and mu that the unknown geometry leaves, however well eq. 27 is solved."""
    spread = np.diag(np.maximum(geometry.covariance, geometry.robust))[:2]
    return np.maximum(spread - np.diag(geometry.fixed), 0.0)


def with_geometry(fit: TrajectoryFit, geometry: GeometryFit) -> TrajectoryFit:
    """Standard errors that take in what isn't known of the geometry, and how far both fits are apart.

    Where the program found no contact sequence that explains the poses as well as the fitted motion does, J/m and
    friction are the motion's.
    """
    spread = np.diag(np.maximum(geometry.covariance, geometry.robust))[:2]
    if not geometry.apart and fit.misfit > geometry.misfit + _NO_SEQUENCE:
        return replace(
            fit,
            inertia_ratio=float(geometry.common[0]),
            inertia_ratio_se=float(np.sqrt(spread[0])),
            friction_mu=float(geometry.common[1]),
            friction_mu_se=float(np.sqrt(spread[1])),
            friction_is_bound=False,
            ratio_is_limit=False,
            method=FITTED_MOTION,
        )
    more = left_open(geometry)
    ratio = np.sqrt(fit.inertia_ratio_se**2 + more[0] + (fit.inertia_ratio - geometry.common[0]) ** 2)
    mu = np.sqrt(fit.friction_mu_se**2 + more[1] + (not geometry.apart) * (fit.friction_mu - geometry.common[1]) ** 2)
    return replace(fit, inertia_ratio_se=float(ratio), friction_mu_se=float(mu))


def settled_fit(body: OwnBody, geometry: GeometryFit, options: FitOptions, say: Say) -> TrajectoryFit:
    """A fit with standard errors: from the geometry's motion, else from a search, and once more with a finer step."""
    say("Eq. 27 along the fitted motion")
    followed = fit_from_motion(body.shape, geometry.throws, geometry.guess, options)
    settled = followed.converged and not np.isnan(followed.inertia_ratio_se)
    as_well = followed.misfit_per_degree <= max(_AS_WELL * geometry.misfit_per_degree, _USUAL)
    if settled and (as_well or not geometry.apart):  # of a whole throw the motion itself stands beside it
        return followed
    throws, options = geometry.throws, replace(options, sequences=2, tries=2, enough=1)
    say("Eq. 27 along other motions")
    first = fit_trajectories(body.shape, throws, options)
    first = followed if settled and followed.misfit <= first.misfit else first
    if first.converged and not np.isnan(first.inertia_ratio_se):
        return first
    say("Eq. 27 in finer time steps")
    finer = fit_trajectories(body.shape, throws, replace(options, longest_step=options.longest_step / 1.5))
    if not first.converged:
        return finer if finer.converged else first
    settled = finer.converged and not np.isnan(finer.inertia_ratio_se)
    return finer if settled and finer.misfit <= first.misfit + _WORSE else first
