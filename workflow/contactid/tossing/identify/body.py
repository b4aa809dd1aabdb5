"""What a body really weighs where: scale, centre of mass and inertia from flight, rest and impacts.

Three facts need no contact law, so they can be had before friction and restitution are identified:

* in free flight the centre of mass falls on a parabola, which gives it, and the scale by gravity. A
  camera's errors bend the path of each toss sideways, so that each has a small horizontal
  acceleration of its own;
* at rest a face lies on the surface: the body's height against its half-width gives the scale a
  second time;
* the impulse of an impact at one corner changes momentum and spin together: ``I (w+ - w-) = (p - c)
  x m (v+ - v-)`` with the corner p, whatever the law. All impacts of single corners count, and they
  tell the inertia I and once more the centre c.

The inertia as stated is the prior's mean, so that ten tosses do where hundreds did.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import xarray as xr
from scipy.optimize import least_squares

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output.fits import write_json
from contactid.sources.motion import (
    BodyProperties,
    body_of,
    iterate_recordings,
    read_dataset,
    some_recordings,
)
from contactid.tossing.impacts.impact import Impact
from contactid.tossing.impacts.selection import SelectionOptions, find_impacts
from contactid.tossing.prepare.calibration import Calibration, uncalibrated
from contactid.tossing.prepare.preprocess import IDENTIFICATION

GRAVITY = 9.81  # m/s2
# where the six elements xx, yy, zz, xy, xz, yz of an inertia stand in its tensor
_PLACES = np.array([[0, 3, 4], [3, 1, 5], [4, 5, 2]])
FEWEST_TOSSES = 5  # tosses: of fewer, with no impact among them, the centre may be a centimetre off
_BLOCKS = 20  # of neighbouring tosses, for standard errors
# tosses whose impacts give a first inertia: many times the five that the prior outweighs
_FIRST_TOSSES = 60

# What is said of the cube's tosses below is by those of the public run's identification part alone
# (workflow/resources/tossing_body_constants.csv, by tests/helpers/body_constants.py).

# m/s2: tosses fall askew by this much, each otherwise; centres of twenty tosses are as near to that
# of all with .03 to .2, and a third nearer than with 0
_ASKEW = 0.07
# of a flight's weight: a short flight may fit too well by chance, so none counts as if it had less
# than a quarter of the median variance
_LEAST_VARIANCE = 0.25
_ROUNDS = 6  # of reweighting; weights then stand still to a thousandth
# prior standard deviation of the moments, in shares of the uniform box's mean one: a hollow box has
# up to 5/3 of it
_PRIOR_MOMENT = 0.3
_PRIOR_PRODUCT = 0.1  # the same of the products of inertia, which symmetry makes small
# mean squared residual of the motion around an impact, in that of free flight; as in
# config/public.yaml
_MISFIT = 9.0
# share of the moment that spin and impulse may disagree by: first with the stated inertia, which
# may be a third off, then with the one found
_FIRST_IMBALANCE, _IMBALANCE = 0.7, 0.25
_SPEED, _WINDOW = 0.3, 5  # m/s and frames: those of the paper
_MEDIAN_CHI2_3 = 2.366  # of a chi-square with three degrees of freedom
# errors of impacts in those of the fitted motions (the cube's: 6 to 7), and how many impacts this
# counts for: twenty of its tosses have 14, and few impacts would be fitted exactly
_TYPICAL_SCALE, _TYPICAL_IMPACTS = 6.0, 5
# of what impacts' formal errors of the inertia are too small by: of ten tosses 1.3 (1.0 to 1.6)
# against the values of all tosses, of twenty 1.1
_IMPACT_INFLATION = 1.5
# m: corners aren't where the tracked frame has them; the cube's centre by flights and by impacts
# differ by as much, as far as its three coordinates tell
_CORNERS = 6e-4
_SCALE_ROUNDS = 4  # of the impacts' common scale of errors; it then stands still to a thousandth


def calibrate(prepared: xr.Dataset) -> Calibration:
    """Calibrate the body of a prepared dataset on the usable tosses of its identification part.

    Standard errors of what flights and rest say are jackknifed over blocks of neighbouring tosses,
    since a camera's errors last longer than a frame. Those of what impacts add are formal ones,
    widened so that they hold for ten tosses of the cube.

    Raises
    ------
    ContactIdError
        For fewer than five tosses, where the flights leave the centre open, or the inertia isn't
        that of a body or not to be had by its search.
    """
    part, body = _identification(prepared), body_of(prepared)
    if part.sizes["recording"] < FEWEST_TOSSES:
        raise ContactIdError(
            f"{prepared.attrs['source']}: {part.sizes['recording']} usable tosses are too few to calibrate the body",
            f"Give at least {FEWEST_TOSSES} or switch calibration off",
        )
    # (4,) centre in the data's lengths, and gravity in them
    flight, flight_se = _from_flights(part)
    scale = GRAVITY / flight[3]
    scale_se = scale * flight_se[3] / flight[3]
    center, center_se = scale * flight[:3], scale * flight_se[:3]
    stated = np.array(uncalibrated(body).inertia)
    prior = np.concatenate([stated, center])
    deviation = np.concatenate([_inertia_spread(body), center_se])
    estimate, errors, count = prior, deviation, 0
    # which impacts are of one corner depends on the body, so it is found on some tosses first, with
    # a wide tolerance, and then on all with a narrow one
    rounds = (_some(part, _FIRST_TOSSES), _FIRST_IMBALANCE), (part, _IMBALANCE)
    for tosses, imbalance in rounds:
        # impacts are found with the body as it is known so far
        known = replace(
            uncalibrated(body),
            scale=scale,
            center_of_mass=tuple(estimate[6:]),
            inertia=tuple(estimate[:6]),
        )
        placed = known.apply(tosses)
        options = SelectionOptions(_WINDOW, _SPEED, _MISFIT, imbalance)
        candidates = find_impacts(placed, options)
        impacts = [one.impact.impact for one in candidates if one.impact is not None]
        count = len(impacts)
        if impacts:
            # the prior stays that of the stated body: no impact counts twice
            estimate, errors = _from_impacts(impacts, body_of(placed), prior, deviation, estimate)
    if np.linalg.eigvalsh(estimate[_PLACES])[0] <= 0.0:
        raise ContactIdError(
            f"{prepared.attrs['source']}: the inertia found is no body's", "Give it: inertia"
        )
    rest_scale, rest_scale_se = _scale_from_rest(part)
    down = part["gravity"].values[0] / np.linalg.norm(part["gravity"].values[0])
    return Calibration(
        scale=float(scale),
        scale_se=float(scale_se),
        scale_from_rest=rest_scale,
        scale_from_rest_se=rest_scale_se,
        gravity=tuple(map(float, flight[3] * down)),
        gravity_se=tuple(map(float, flight_se[3] * np.abs(down))),
        center_of_mass=tuple(map(float, estimate[6:])),
        center_of_mass_se=tuple(map(float, errors[6:])),
        inertia=tuple(map(float, estimate[:6])),
        inertia_se=tuple(map(float, errors[:6])),
        n_tosses=part.sizes["recording"],
        n_impacts=count,
    )


def inertia_by_data(calibration: Calibration, stated: BodyProperties) -> float:
    """Share of the prior's variance that the data take away, mean of the three moments; the prior
    is about the stated body.
    """
    left = np.array(calibration.inertia_se[:3]) / _inertia_spread(stated)[:3]
    return float(np.mean(1.0 - left**2))


def _inertia_spread(stated: BodyProperties) -> np.ndarray:
    """(6,) kg m2, the prior's standard deviations."""
    mean_moment = float(np.trace(stated.inertia)) / 3.0
    return mean_moment * np.repeat([_PRIOR_MOMENT, _PRIOR_PRODUCT], 3)


def _identification(prepared: xr.Dataset) -> xr.Dataset:
    usable = prepared["reason"].values == ""
    return some_recordings(prepared, usable & (prepared["split"].values == IDENTIFICATION))


def _some(part: xr.Dataset, number: int) -> xr.Dataset:
    """So many of the tosses, evenly spaced, since neighbours are of one session."""
    n = part.sizes["recording"]
    chosen = np.zeros(n, dtype=bool)
    chosen[np.linspace(0, n - 1, min(number, n)).round().astype(int)] = True
    return some_recordings(part, chosen)


# Flights


def _from_flights(prepared: xr.Dataset) -> tuple[np.ndarray, np.ndarray]:
    """Centre of mass (3,) in B and gravity, both in the data's lengths, (4,) with standard errors."""
    step = 1.0 / float(prepared.attrs["sample_frequency"])
    flights = [_Flight.of(samples, step) for _, samples in iterate_recordings(prepared)]
    weights = np.ones(len(flights))
    estimate, errors = np.zeros(4), np.zeros(4)
    for _ in range(_ROUNDS):
        pairs = list(zip(weights, flights, strict=True))
        # without a turn, a shift of the centre is one of the place at release
        if np.linalg.cond(sum(weight * flight.matrix for weight, flight in pairs)) > 1e12:
            raise ContactIdError(
                f"{prepared.attrs['source']}: the box hardly turns in flight, so that its centre of mass stays open",
                "Give it: centre, or toss it with spin",
            )
        estimate, errors = block_jackknife(
            [(weight * flight.matrix, weight * flight.vector) for weight, flight in pairs]
        )
        variances = np.array([flight.variance(estimate) for flight in flights])
        # reweighting: a flight counts by how well it fits
        weights = 1.0 / np.maximum(variances, _LEAST_VARIANCE * np.median(variances))
    return estimate, errors


@dataclass(frozen=True)
class _Flight:
    """Normal equations (4, 4) and (4,) of a flight in centre and gravity, y^T y, and degrees of
    freedom.
    """

    matrix: np.ndarray
    vector: np.ndarray
    square: float
    degrees: int

    @classmethod
    def of(cls, samples: xr.Dataset, step: float) -> _Flight:
        """From release to first contact; place and velocity at release are the flight's own."""
        # contact itself is left out: its sample may be behind the impact
        rows = slice(int(samples["release"]), int(samples["contact"]))
        vertical = -samples["gravity"].values / np.linalg.norm(samples["gravity"].values)
        axes = _with_third(vertical)  # (3, 3) rows: two horizontal ones, and up
        position = samples["position"].values[rows] @ axes.T
        rotation = axes @ rotations.matrices(samples["orientation"].values[rows])
        time = step * (np.arange(len(position)) - 0.5 * (len(position) - 1))
        straight = np.column_stack([np.ones_like(time), time])
        # (n, n) takes out the flight's own place and velocity
        project = np.eye(len(time)) - straight @ np.linalg.pinv(straight)
        bend = project @ (0.5 * time**2)
        noise = _deviation_about_parabola(project, position)
        matrix, vector, square = np.zeros((4, 4)), np.zeros(4), 0.0
        for axis in range(3):
            columns = np.zeros((len(time), 4))
            # position = start + velocity t - R c, and -g t^2 / 2 upwards
            columns[:, :3] = -rotation[:, axis]
            weight = np.eye(len(time))
            if axis == 2:
                columns[:, 3] = -0.5 * time**2
            else:  # an acceleration of its own, integrated out
                # Sherman and Morrison: the inverse covariance, times the noise's variance, of noise
                # and of an acceleration whose deviation is _ASKEW
                weight -= np.outer(bend, bend) / (bend @ bend + (noise / _ASKEW) ** 2)
            columns, values = project @ columns, project @ position[:, axis]
            matrix += columns.T @ weight @ columns
            vector += columns.T @ weight @ values
            square += float(values @ weight @ values)
        # place and velocity are fitted to each axis
        return cls(matrix, vector, square, max(3 * (len(time) - 2), 1))

    def variance(self, estimate: np.ndarray) -> float:
        """Mean squared residual at an estimate, m2."""
        residual = self.square - 2.0 * estimate @ self.vector + estimate @ self.matrix @ estimate
        return max(float(residual), 1e-16) / self.degrees


def _with_third(vertical: np.ndarray) -> np.ndarray:
    # across the axis that is least along the vertical, so that the product doesn't vanish
    first = np.cross(vertical, np.eye(3)[np.argmin(np.abs(vertical))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(vertical, first), vertical])


def _deviation_about_parabola(project: np.ndarray, position: np.ndarray) -> float:
    """Noise of a place in m, from third differences, which a body's motion hardly has."""
    if len(position) < 5:
        return 1e-4
    third = np.diff(position, n=3, axis=0)
    return float(np.sqrt(np.mean(third**2) / 20.0))  # 20 = 1 + 9 + 9 + 1


# Impacts


def _from_impacts(
    impacts: Sequence[Impact],
    body: BodyProperties,
    prior: np.ndarray,
    deviation: np.ndarray,
    start: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Inertia's six elements and the centre, (9,), with standard errors, by all impacts and the
    prior.

    The loss is Cauchy's over impacts, since some aren't of one corner alone. Impacts last, and
    their errors are some times those of the fitted motions: one factor for all is found with the
    estimate.
    """
    whitening = np.stack([_whitening(impact, body) for impact in impacts])
    estimate = start
    solution = None
    for _ in range(_SCALE_ROUNDS):
        residual = np.einsum("nij,nj->ni", whitening, _imbalances(impacts, body, estimate))
        # of the median impact, so that those of two corners don't decide
        own = float(np.median((residual**2).sum(axis=1))) / _MEDIAN_CHI2_3
        known = _TYPICAL_IMPACTS * _TYPICAL_SCALE**2
        # as if _TYPICAL_IMPACTS more had the typical scale
        scale = np.sqrt((len(impacts) * own + known) / (len(impacts) + _TYPICAL_IMPACTS))

        def residuals(standard: np.ndarray, scale: float = scale) -> np.ndarray:
            moments = _imbalances(impacts, body, prior + standard * deviation)
            each = np.einsum("nij,nj->ni", whitening, moments) / scale
            # Cauchy's loss of an impact's three residuals together: least_squares' own would take
            # each by itself
            size = np.maximum(np.linalg.norm(each, axis=1), 1e-9)
            softened = np.sqrt(3.0 * np.log1p(size**2 / 3.0))
            # the prior is one residual of unit variance for each parameter
            return np.concatenate([(each * (softened / size)[:, None]).ravel(), standard])

        solution = least_squares(residuals, (estimate - prior) / deviation)
        if not solution.success:
            raise ContactIdError(
                f"the inertia isn't to be had by {len(impacts)} impacts: {solution.message}",
                "Give it: inertia",
            )
        estimate = prior + solution.x * deviation
    assert solution is not None
    slopes = np.asarray(solution.jac)
    covariance = np.linalg.inv(slopes.T @ slopes)
    # widening makes no error larger than the prior's
    errors = np.minimum(_IMPACT_INFLATION * np.sqrt(np.diag(covariance)), 1.0) * deviation
    errors[6:] = np.hypot(errors[6:], _CORNERS)
    return estimate, errors


def _imbalances(
    impacts: Sequence[Impact], body: BodyProperties, estimate: np.ndarray
) -> np.ndarray:
    """(n, 3) N m s in B: I dw - (p - c) x m dv, by which spin and impulse disagree."""
    inertia, center = estimate[_PLACES], estimate[6:]
    rows = []
    for impact in impacts:
        turned = rotations.matrices(impact.orientation)
        change = impact.post_twist - impact.pre_twist
        to_center = turned @ center
        # the twist is of B's origin, the impulse changes the centre's velocity
        of_center = change[:3] + np.cross(change[3:], to_center)
        arm = turned @ body.vertices[impact.vertex] - to_center
        moment = turned.T @ np.cross(arm, body.mass * of_center)
        rows.append(inertia @ (turned.T @ change[3:]) - moment)
    return np.stack(rows)


def _whitening(impact: Impact, body: BodyProperties) -> np.ndarray:
    """(3, 3) that takes an imbalance to unit variance, as far as the fitted twists' errors go."""
    turned = rotations.matrices(impact.orientation)
    covariance = impact.pre_covariance + impact.post_covariance
    to_center = turned @ body.center_of_mass
    of_center = np.hstack([np.eye(3), -rotations.skew(to_center)])
    arm = turned @ body.vertices[impact.vertex] - to_center
    lever = body.mass * turned.T @ rotations.skew(arm)
    # a weight need not have the whole tensor
    inertia = float(np.trace(body.inertia)) / 3.0
    of_moment = lever @ of_center @ covariance @ of_center.T @ lever.T
    of_spin = inertia**2 * turned.T @ covariance[3:, 3:] @ turned
    return np.linalg.inv(np.linalg.cholesky(of_moment + of_spin))


# Rest


def _scale_from_rest(part: xr.Dataset) -> tuple[float, float]:
    """Half the body's height over the measured height of its centre above the frame's own plane,
    and standard error.
    """
    vertices, plane_height = part["vertices"].values, float(part.attrs["plane_height"])
    ratios = []
    for _, samples in iterate_recordings(part):
        # z_C in B
        upward = rotations.matrices(samples["rest_orientation"].values)[2]
        half_height = -float(np.sort(vertices @ upward)[:4].mean())  # the resting face's centre
        # preparation put the body on the fitted plane; the camera's own plane is plane_height below
        ratios.append(half_height / (float(samples["rest_position"][2]) + plane_height))
    mean, error = block_jackknife([(np.eye(1), np.array([ratio])) for ratio in ratios])
    return float(mean[0]), float(error[0])


def block_jackknife(
    equations: list[tuple[np.ndarray, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """Least squares over normal equations (A^T A, A^T y) in order of time, and its standard errors.

    The errors come from leaving out each of twenty blocks of neighbours (of each equation where
    there are fewer).
    """
    matrices, vectors = (np.stack(part) for part in zip(*equations, strict=True))
    matrix, vector = matrices.sum(axis=0), vectors.sum(axis=0)
    blocks = np.array_split(np.arange(len(equations)), min(_BLOCKS, len(equations)))
    left_out = np.stack(
        [
            np.linalg.solve(
                matrix - matrices[block].sum(axis=0), vector - vectors[block].sum(axis=0)
            )
            for block in blocks
        ]
    )
    n = len(blocks)
    # the jackknife's variance, of blocks
    error = np.sqrt((n - 1) / n * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))
    return np.linalg.solve(matrix, vector), error


def calibrate_dataset(prepared: str, calibration: str) -> None:
    """Calibrate on a file of prepared tosses, and write the record."""
    write_json(calibration, asdict(calibrate(read_dataset(prepared))))
