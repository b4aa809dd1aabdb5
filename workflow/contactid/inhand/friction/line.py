"""Friction and warp of a surface from trials at several loads, by a line.

A surface that yields under a finger turns towards the tangential force, by the more the harder the
finger presses. With N the normal force at slip and phi the angle between the force and the
undeformed normal (eq. 5 is tan phi),

    phi = atan(mu) + warp N

so at one load mu and warp can't be told apart, and at several the intercept is atan(mu). No warp
turns the surface away from the force: an angle that falls with the load is friction's own change,
and what is stated then is what the largest load shows.

A sensor's zero turns all forces by about its size over N. Over a few loads that is nearly a line,
too, so no scatter shows it: what is stated to remain of it is an error that all trials share.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

_SPREAD = 1.3  # largest load over the smallest, below which all trials have one load
# standard errors that the lower bound allows for: 2 would do of normal errors, but a slip that is
# hard to see is dated where noise is high
_BOUND_ERRORS = 2.5
_FEWEST = 2  # slips that a line needs
_FALLS = 2.0  # standard errors that the slope is below zero, from which on the angle falls


@dataclass(frozen=True)
class SurfaceFriction:
    """What k trials that slipped tell of a surface.

    Attributes
    ----------
    line : whether their loads differ enough for a line
    by_load : whether the angle falls with the load
    friction, standard_error : mu; of one load, and where the angle falls with it, what eq. 5 shows
        there, at the largest one
    angle_error : rad, standard error of its angle atan(mu)
    lower_bound : of mu, 2.5 standard errors below; of one load that of what eq. 5 shows
    warp, warp_error : rad/N; nan of one load
    angle : (2,) rad and rad/N, the line's intercept and slope
    covariance : (2, 2) of it
    scatter : of the angles about the line, over what is stated; 1 where no trial is left to tell
    unlikely : whether the stated errors hardly explain so much
    by_zero : change of mu by a sensor's zero of 1 N in the direction that matters most
    """

    line: bool
    by_load: bool
    friction: float
    standard_error: float
    angle_error: float
    lower_bound: float
    warp: float
    warp_error: float
    angle: np.ndarray
    covariance: np.ndarray
    scatter: float
    unlikely: bool
    by_zero: float


def surface_friction(
    friction: np.ndarray,
    errors: np.ndarray,
    load: np.ndarray,
    direction_sd: float,
    by_zero: np.ndarray | None = None,
    zero_sd: float = 0.0,
) -> SurfaceFriction:
    """Fit the line to trials that slipped.

    Parameters
    ----------
    friction, errors : (k,), eq. 5 of each trial and its standard error by the forces' noise; k is
        one or more
    load : (k,), N, the normal force at slip
    direction_sd : rad, of the force model's error of direction, one of each trial
    by_zero : (k, 3) rad/N, change of each trial's angle by the sensor's zero; none by default
    zero_sd : N, of a component of what remains of that zero, the same in all trials
    """
    # d atan(mu) = d mu / (1 + mu^2)
    angles, deviations = np.arctan(friction), np.hypot(direction_sd, errors / (1.0 + friction**2))
    # loads that are nearly alike leave slope and intercept untold
    line = len(load) >= _FEWEST and bool(load.max() >= _SPREAD * load.min())
    slopes = np.zeros((len(load), 3)) if by_zero is None else by_zero
    root = np.linalg.cholesky(np.diag(deviations**2) + zero_sd**2 * slopes @ slopes.T)
    both = np.column_stack([np.ones_like(load), load])[:, : 1 + line]
    # (k, 2) or (k, 1), (k,) and (k, 3)
    columns, white, zero = (np.linalg.solve(root, one) for one in (both, angles, slopes))
    covariance = np.linalg.inv(columns.T @ columns)
    # answer and its change by the zero, which is rad/N
    answer, shifts = (covariance @ columns.T @ one for one in (white, zero))
    chi2 = float(np.sum((white - columns @ answer) ** 2))
    degrees = len(load) - len(answer)
    scatter = np.sqrt(chi2 / degrees) if degrees else 1.0
    # a larger scatter widens the errors, a smaller one doesn't narrow them
    covariance = covariance * max(scatter, 1.0) ** 2
    by_load = line and bool(answer[1] < -_FALLS * np.sqrt(covariance[1, 1]))
    # the load at which friction is stated: none, but where friction itself depends on it
    place = np.array([1.0, load.max() if by_load else 0.0])[: 1 + line]
    angle, error = place @ answer, np.sqrt(place @ covariance @ place)
    mu = np.tan(angle)
    # without a line the slope is zero, and so is its variance
    whole, spread = np.zeros(2), np.zeros((2, 2))
    whole[: len(answer)], spread[: len(answer), : len(answer)] = answer, covariance
    return SurfaceFriction(
        line=line,
        by_load=by_load,
        friction=float(mu),
        standard_error=float((1.0 + mu**2) * error),
        angle_error=float(error),
        # bound of the angle, then its tangent: friction isn't negative
        lower_bound=float(max(0.0, np.tan(angle - _BOUND_ERRORS * error))),
        warp=float(whole[1]) if line else np.nan,
        warp_error=float(np.sqrt(spread[1, 1])) if line else np.nan,
        angle=whole,
        covariance=spread,
        scatter=float(scatter),
        unlikely=bool(degrees and chdtrc(degrees, chi2) < 1e-3),
        by_zero=float((1.0 + mu**2) * np.linalg.norm(place @ shifts)),
    )
