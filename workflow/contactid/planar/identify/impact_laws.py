"""What impact laws predict of a real ellipse's impacts: parameters from one half of them, errors on
the other half.

Two laws, each with friction and restitution identified:

* the *step law* of the paper (eqs. 18 and 19): sticking or sliding is decided once, at the end of
  the impact;
* the *incremental law* (Routh's construction with Poisson's restitution): friction follows the
  sliding velocity, which may stop or reverse within the impact, and the impulse ends at ``1 + e``
  times its value at the greatest compression.

For each, restitution is a single number or depends on the place on the ground. Held against them:

* bounds: the best impulse of every impact with J/m known, which no law of a single contact point
  can beat; and the step law with each impact's own apparent restitution, so what friction alone
  gets wrong;
* the six published predictions as they are. They were computed for a body of the wrong handedness
  (:mod:`contactid.planar.readers.impacts`). Two of them are reproduced here on that body, which
  tells their parameters: Anitescu-Potra (Newton) is the step law, Wang-Mason the incremental law.
  So these two are predicted again for the body as it is, at the published parameters.

A law has three to eight parameters and an answer in closed form
(:mod:`contactid.planar.identify.impacts`), so a direct search finds the least mean of ``sqrt(eps^2
+ error^2)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import xarray as xr
from scipy import optimize

from contactid.core.errors import ContactIdError
from contactid.planar.identify.impacts import (
    PlanarImpacts,
    impulse_ratios,
    incremental_impulses,
    place_weights,
    smoothed_mean,
    step_impulses,
)
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts

Law = Callable[[PlanarImpacts, float, float, float | np.ndarray], np.ndarray]

N_PLACES = 6  # knots of a restitution that depends on the place
_REPRODUCED: dict[str, Law] = {
    "Anitescu-Potra (Newton)": step_impulses,
    "Wang-Mason": incremental_impulses,
}


def ellipse_impacts(data: xr.Dataset, *, published_rows: bool = False) -> PlanarImpacts:
    """Impacts of :func:`contactid.planar.readers.impacts.read_ellipse_impacts`.

    Parameters
    ----------
    published_rows
        N and T as published, for a pose one frame earlier; by default those of the ellipse at the
        pose itself, with which the best impulses explain the velocities better.
    """
    pose = data["before"].values
    at = contacts(Ellipse(*(float(value) for value in data["semi_axes"].values)), Ground(), pose)
    # (n, 3) of the one contact
    rows = (at.normal[:, 0], at.tangent[:, 0])
    if published_rows:
        rows = (data["normal"].values, data["tangent"].values)
    length = float(np.sqrt(float(data["inertia_ratio"])))
    before, after = data["velocity_before"].values, data["velocity_after"].values
    return PlanarImpacts(before, after, *rows, place=at.point[:, 0, 0], length=length)


def place_knots(place: np.ndarray) -> np.ndarray:
    """(6,) m, from quantiles of the places, so that each has impacts around it.

    Raises
    ------
    ContactIdError
        Where places coincide.
    """
    knots = np.quantile(place, np.linspace(0.02, 0.98, N_PLACES))
    if not (np.diff(knots) > 0.0).all():
        raise ContactIdError("impacts are at the same place", "Take a single restitution")
    return knots


@dataclass(frozen=True)
class LawFit:
    """Parameters of a law and the mean smoothed error (m/s) at them; e_n is (p,), one or one for
    each of the knots.
    """

    law: Law
    ratio: float
    mu: float
    e_n: np.ndarray
    objective: float
    converged: bool
    knots: np.ndarray | None

    def predict(self, impacts: PlanarImpacts) -> np.ndarray:
        """(n, 3) v^+."""
        return impacts.pushed(
            self.ratio, self.law(impacts, self.ratio, self.mu, self.restitution(impacts))
        )

    def restitution(self, impacts: PlanarImpacts) -> np.ndarray:
        """(n,) e_N at the impacts."""
        return _weights(impacts, self.knots) @ self.e_n


def _weights(impacts: PlanarImpacts, knots: np.ndarray | None) -> np.ndarray:
    """(n, p) shares of the knots, or of a single restitution."""
    return np.ones((len(impacts), 1)) if knots is None else place_weights(impacts.place, knots)


def fit_law(
    impacts: PlanarImpacts, law: Law, ratio: float | None, knots: np.ndarray | None = None
) -> LawFit:
    """Least mean smoothed error over mu, e_N and, where it isn't given, J/m (m2), by direct search."""
    weights, unit = _weights(impacts, knots), impacts.length**2
    places = weights.shape[1]

    def parameters(z: np.ndarray) -> tuple[float, np.ndarray, float]:
        """mu, e_N, J/m."""
        return float(z[0]), z[1 : 1 + places], unit * float(z[-1]) if ratio is None else ratio

    def loss(z: np.ndarray) -> float:
        mu, e_n, inertia = parameters(z)
        # worse than any prediction: a direct search knows no bounds
        if z.min() < 0.0 or e_n.max() > 1.0:
            return 10.0 * float(np.abs(impacts.approach).max()) + float(np.abs(z).sum())
        return smoothed_mean(
            impacts.errors(impacts.pushed(inertia, law(impacts, inertia, mu, weights @ e_n)))
        )

    # sliding impacts have a ratio of impulses at mu, sticking ones below
    mu = float(np.quantile(np.abs(impulse_ratios(impacts)), 0.75))
    e_n = np.full(places, np.clip(np.median(impacts.restitution), 0.02, 0.98))
    # J/m begins at the length's square, the published one
    start = np.array([mu, *e_n, *([1.0] if ratio is None else [])])
    options: Any = {"xatol": 1e-6, "fatol": 1e-9, "maxiter": 4000, "adaptive": True}
    for _ in range(2):  # a simplex that has shrunk is begun anew
        found = optimize.minimize(loss, start, method="Nelder-Mead", options=options)
        start = found.x
    mu, e_n, inertia = parameters(start)
    return LawFit(law, inertia, mu, e_n, float(found.fun), bool(found.success), knots)


def best_impulses(impacts: PlanarImpacts, ratio: float) -> np.ndarray:
    """(n, 3) v^+ by the impulse through the contact point that comes nearest to the measured one."""
    unit = np.array([1.0, 1.0, impacts.length])
    directions = (
        np.stack([impacts.normal, impacts.tangent], axis=2) / np.array([1.0, 1.0, ratio])[:, None]
    )
    # least squares with omega in the same unit as speeds, the norm of the errors
    scaled, change = directions * unit[:, None], (impacts.after - impacts.before) * unit
    # (n, 2, 2) normal equations
    square = np.swapaxes(scaled, 1, 2) @ scaled
    impulses = np.linalg.solve(square, np.swapaxes(scaled, 1, 2) @ change[..., None])[..., 0]
    return impacts.pushed(ratio, impulses)


@dataclass(frozen=True)
class Prediction:
    """One model's v^+ for all n impacts (n, 3), and what it was made with.

    Attributes
    ----------
    kind : identified, bound, published or recomputed
    e_n : (n,) of every impact, not numbers where the model has none
    """

    name: str
    kind: str
    after: np.ndarray
    ratio: float
    mu: float
    e_n: np.ndarray
    converged: bool = True


def published_fit(data: xr.Dataset, name: str) -> LawFit:
    """Parameters with which a law reproduces a published model on the body of wrong handedness."""
    given = ellipse_impacts(data, published_rows=True)
    # what they predicted takes the measurement's place, so the fit tells their parameters
    wrong = replace(given, after=data["predicted"].sel(model=name).values).mirrored()
    return fit_law(wrong, _REPRODUCED[name], _their_ratio(data))


def _their_ratio(data: xr.Dataset) -> float:
    """J/m of the published models, m2."""
    # (a^2 + b^2)/5, with which their predictions are exact (readers/impacts.py)
    return float((data["semi_axes"].values ** 2).sum() / 5.0)


def _best_friction(impacts: PlanarImpacts, ratio: float, e_n: np.ndarray) -> float:
    """The step law's mu for given restitutions; a grid first, as the loss has a plateau where
    nothing slides.
    """

    def loss(mu: float) -> float:
        return smoothed_mean(
            impacts.errors(impacts.pushed(ratio, step_impulses(impacts, ratio, mu, e_n)))
        )

    # steps of 0.02, and the best one's neighbours are the bounds of the fine search
    grid = np.linspace(0.0, 1.0, 51)
    best = float(min(grid, key=loss))
    bounds = (max(best - 0.02, 0.0), best + 0.02)
    return float(
        optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-7}).x
    )


def fixed_predictions(data: xr.Dataset) -> list[Prediction]:
    """Everything that needs no training: the bounds, the published models, and what can be made of
    these.
    """
    impacts = ellipse_impacts(data)
    ratio, none = float(data["inertia_ratio"]), np.full(len(impacts), np.nan)
    # single impacts' apparent restitutions also lie beyond what a law may have
    own = np.clip(impacts.restitution, 0.0, 1.0)
    mu = _best_friction(impacts, ratio, own)
    rows = [
        Prediction("best impulse of each impact", "bound", best_impulses(impacts, ratio), ratio, np.nan, none),
        Prediction(
            "step law, e_N of each impact", "bound", impacts.pushed(ratio, step_impulses(impacts, ratio, mu, own)),
            ratio, mu, own,
        ),
    ]  # fmt: skip
    theirs = _their_ratio(data)
    for name in (str(value) for value in data["model"].values):
        after = data["predicted"].sel(model=name).values
        rows.append(Prediction(name, "published", after, theirs, np.nan, none))
    rows += [
        _predicted(name, "recomputed", published_fit(data, name), impacts) for name in _REPRODUCED
    ]
    return rows


def _predicted(name: str, kind: str, fit: LawFit, impacts: PlanarImpacts) -> Prediction:
    after, e_n = fit.predict(impacts), fit.restitution(impacts)
    return Prediction(name, kind, after, fit.ratio, fit.mu, e_n, fit.converged)


def trained_predictions(
    impacts: PlanarImpacts, training: np.ndarray, ratio: float
) -> list[Prediction]:
    """Laws identified on a part of the impacts, predicting all; ``ratio`` is the known J/m, m2."""
    part = impacts.part(training)
    knots = place_knots(part.place)
    fits = {
        "step law, J/m identified": fit_law(part, step_impulses, None),
        "step law": fit_law(part, step_impulses, ratio),
        "step law, e_N by place": fit_law(part, step_impulses, ratio, knots),
        "incremental law": fit_law(part, incremental_impulses, ratio),
        "incremental law, e_N by place": fit_law(part, incremental_impulses, ratio, knots),
    }
    return [_predicted(name, "identified", fit, impacts) for name, fit in fits.items()]
