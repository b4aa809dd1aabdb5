"""What impact laws predict of a real ellipse's impacts: parameters from one half of them, errors on the other half.

Two laws, each with friction and restitution identified:

* the *step law* of the paper (eqs. 18 and 19), by the MPEC of :mod:`contactid.planar.models.impacts`: sticking or
  sliding is decided once, at the end of the impact;
* the *incremental law* (Routh's construction with Poisson's restitution, ``incremental_impulses`` there): friction
  follows the sliding velocity, which may stop or reverse within the impact, and the impulse ends at ``1 + e`` times its
  value at the greatest compression.

For each, restitution is a single number or depends on the place on the ground. Held against them:

* bounds: the best impulse of every impact with J/m known, which no law of a single contact point can beat; and the step
  law with each impact's own apparent restitution, so what friction alone gets wrong;
* the six published predictions as they are. They were computed for a body of the wrong handedness
  (:mod:`contactid.planar.readers.impacts`). Two of them are reproduced here on that body, which tells their
  parameters: Anitescu-Potra (Newton) is the step law, Wang-Mason the incremental law. So these two are predicted again
  for the body as it is, at the published parameters. Of all six the impulses are also mirrored (v_x changes as it did)
  and applied to it; that isn't what the models would predict, as friction opposed another slip.

Laws at given parameters are compared in the mean of ``sqrt(eps^2 + error^2)``, the MPEC's objective.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import xarray as xr
from scipy import optimize

from contactid.core.complementarity import Continuation
from contactid.core.errors import ContactIdError
from contactid.output.tables import write_exact
from contactid.planar.identify.identifiability import RatioEquations, fit_ratio
from contactid.planar.models.impacts import (
    ImpactModelOptions,
    PlanarImpacts,
    identify_from_impacts,
    impulse_ratios,
    incremental_impulses,
    place_weights,
    smoothed_mean,
    step_impulses,
)
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from contactid.sources.motion import read_dataset

Law = Callable[[PlanarImpacts, float, float, float | np.ndarray], np.ndarray]

N_PLACES = 6  # knots of a restitution that depends on the place
_CONTINUATION = Continuation(stages=(1.0, 10.0, 100.0, 1e3))  # settling does the rest; after 100 it may choose wrongly
_TURN = np.array([-1.0, 1.0, 1.0])  # x reversed
_BOOTSTRAP = 500
_REPRODUCED: dict[str, Law] = {"Anitescu-Potra (Newton)": step_impulses, "Wang-Mason": incremental_impulses}


def ellipse_impacts(data: xr.Dataset, *, published_rows: bool = False) -> PlanarImpacts:
    """Impacts of :func:`contactid.planar.readers.impacts.read_ellipse_impacts`.

    Parameters
    ----------
    published_rows
        N and T as published, for a pose one frame earlier; by default those of the ellipse at the pose itself, with
        which the best impulses explain the velocities better.
    """
    pose = data["before"].values
    at = contacts(Ellipse(*(float(value) for value in data["semi_axes"].values)), Ground(), pose)
    rows = (at.normal[:, 0], at.tangent[:, 0])
    if published_rows:
        rows = (data["normal"].values, data["tangent"].values)
    length = float(np.sqrt(float(data["inertia_ratio"])))
    before, after = data["velocity_before"].values, data["velocity_after"].values
    return PlanarImpacts(before, after, *rows, place=at.point[:, 0, 0], length=length)


def place_knots(place: np.ndarray, n_knots: int = N_PLACES) -> np.ndarray:
    """(n_knots,) m, from quantiles of the places, so that each has impacts around it.

    Raises
    ------
    ContactIdError
        Where places coincide.
    """
    knots = np.quantile(place, np.linspace(0.02, 0.98, n_knots))
    if not (np.diff(knots) > 0.0).all():
        raise ContactIdError("impacts are at the same place", "Take a single restitution")
    return knots


@dataclass(frozen=True)
class LawFit:
    """Parameters of a law and the mean smoothed error (m/s) at them; e_n is (p,)."""

    ratio: float
    mu: float
    e_n: np.ndarray
    objective: float
    converged: bool
    knots: np.ndarray | None = None

    def predict(self, impacts: PlanarImpacts, law: Law) -> np.ndarray:
        """(n, 3) v^+."""
        return impacts.pushed(self.ratio, law(impacts, self.ratio, self.mu, self.restitution(impacts)))

    def restitution(self, impacts: PlanarImpacts) -> np.ndarray:
        """(n,) e_N at the impacts."""
        if self.knots is None:
            return np.full(len(impacts), float(self.e_n[0]))
        return place_weights(impacts.place, self.knots) @ self.e_n


def fit_law(impacts: PlanarImpacts, law: Law, ratio: float, *, knots: np.ndarray | None = None) -> LawFit:
    """Least mean smoothed error over mu and e_N by direct search, J/m (m2) given."""
    weights = np.ones((len(impacts), 1)) if knots is None else place_weights(impacts.place, knots)

    def loss(z: np.ndarray) -> float:
        if z.min() < 0.0 or z[1:].max() > 1.0:
            return 10.0 * float(np.abs(impacts.approach).max()) + float(np.abs(z).sum())
        return smoothed_mean(impacts.errors(impacts.pushed(ratio, law(impacts, ratio, z[0], weights @ z[1:]))))

    mu = float(np.quantile(np.abs(impulse_ratios(impacts)), 0.75))
    start = np.array([mu, *np.full(weights.shape[1], np.clip(np.median(impacts.restitution), 0.02, 0.98))])
    for _ in range(2):  # a simplex that has shrunk is begun anew
        found = optimize.minimize(
            loss, start, method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9, "maxiter": 4000, "adaptive": True}
        )
        start = found.x
    return LawFit(ratio, float(start[0]), start[1:], float(found.fun), bool(found.success), knots)


def identify(impacts: PlanarImpacts, ratio: float | None, *, knots: np.ndarray | None = None) -> LawFit:
    """The step law's parameters by the MPEC; J/m (m2) is identified, too, where it isn't given."""
    weights = None if knots is None else place_weights(impacts.place, knots)
    options = ImpactModelOptions(ratio=ratio, weights=weights)
    found = identify_from_impacts(impacts, options, _CONTINUATION, friction_quantiles=(0.9,))
    return LawFit(found.ratio, found.mu, found.e_n, found.exact_objective, found.converged, knots)


def best_impulses(impacts: PlanarImpacts, ratio: float) -> np.ndarray:
    """(n, 3) v^+ by the impulse through the contact point that comes nearest to the measured one."""
    unit = np.array([1.0, 1.0, impacts.length])
    directions = np.stack([impacts.normal, impacts.tangent], axis=2) / np.array([1.0, 1.0, ratio])[:, None]
    scaled, change = directions * unit[:, None], (impacts.after - impacts.before) * unit
    square = np.swapaxes(scaled, 1, 2) @ scaled
    impulses = np.linalg.solve(square, np.swapaxes(scaled, 1, 2) @ change[..., None])[..., 0]
    return impacts.pushed(ratio, impulses)


def ratio_estimates(impacts: PlanarImpacts) -> dict[str, float]:
    """Eq. 31's J/m in m2 over all impacts: by least squares, total least squares, and the median of single impacts.

    Total least squares takes equal noise for the changes of v_x, v_y and length times omega.
    """
    change = impacts.after - impacts.before
    lever = np.stack([impacts.normal[:, 2] * impacts.normal[:, 1], impacts.tangent[:, 2]], axis=1)
    moment = np.einsum("ij,ij->i", lever, change[:, [1, 0]])
    covariance = np.zeros((len(impacts), 2, 2))
    covariance[:, 0, 0] = (lever**2).sum(axis=1)
    covariance[:, 1, 1] = impacts.length**-2
    spin = change[:, 2]
    turned = spin != 0.0
    if not turned.any():
        raise ContactIdError("no impact changes the spin", "J/m takes impacts beside the centre of mass")
    return {
        "least squares": float(moment @ spin / (spin @ spin)),
        "total least squares": fit_ratio(RatioEquations(moment, spin, covariance, noise_known=False)).total,
        "median": float(np.median(moment[turned] / spin[turned])),
    }


@dataclass(frozen=True)
class Prediction:
    """One model's v^+ for all n impacts (n, 3), and what it was made with.

    Attributes
    ----------
    kind : identified, bound, published, recomputed or mirrored
    e_n : (n,) of every impact, not numbers where the model has none
    """

    name: str
    kind: str
    after: np.ndarray
    ratio: float
    mu: float
    e_n: np.ndarray
    converged: bool = True


def published_fit(data: xr.Dataset, name: str) -> tuple[LawFit, float]:
    """Parameters with which a law reproduces a published model on the body of wrong handedness, and how well.

    Returns
    -------
    fit, deviation : the law's parameters and the median (m/s) between its predictions and the published ones
    """
    if name not in _REPRODUCED:
        raise ContactIdError(f"no law for the model {name}", f"One of {', '.join(_REPRODUCED)}")
    given = ellipse_impacts(data, published_rows=True)
    wrong = replace(given, after=data["predicted"].sel(model=name).values).mirrored()
    ratio, law = float((data["semi_axes"].values ** 2).sum() / 5.0), _REPRODUCED[name]
    fit = fit_law(wrong, law, ratio)
    return fit, float(np.median(wrong.errors(fit.predict(wrong, law))))


def _best_friction(impacts: PlanarImpacts, ratio: float, e_n: np.ndarray) -> float:
    """The step law's mu for given restitutions; a grid first, as the loss has a plateau where nothing slides."""

    def loss(mu: float) -> float:
        return smoothed_mean(impacts.errors(impacts.pushed(ratio, step_impulses(impacts, ratio, mu, e_n))))

    grid = np.linspace(0.0, 1.0, 51)
    best = float(min(grid, key=loss))
    bounds = (max(best - 0.02, 0.0), best + 0.02)
    return float(optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-7}).x)


def fixed_predictions(data: xr.Dataset) -> list[Prediction]:
    """Everything that needs no training: the bounds, the published models, and what can be made of these."""
    impacts, given = ellipse_impacts(data), ellipse_impacts(data, published_rows=True)
    ratio, none = float(data["inertia_ratio"]), np.full(len(impacts), np.nan)
    own = np.clip(impacts.restitution, 0.0, 1.0)
    mu = _best_friction(impacts, ratio, own)
    rows = [
        Prediction("best impulse of each impact", "bound", best_impulses(impacts, ratio), ratio, np.nan, none),
        Prediction(
            "step law, e_N of each impact", "bound", impacts.pushed(ratio, step_impulses(impacts, ratio, mu, own)),
            ratio, mu, own,
        ),
    ]  # fmt: skip
    theirs = float((data["semi_axes"].values ** 2).sum() / 5.0)
    for name in (str(value) for value in data["model"].values):
        after = data["predicted"].sel(model=name).values
        rows.append(Prediction(name, "published", after, theirs, np.nan, none))
        pushed = after - given.before  # x is right here, so their c_t along their x is already mirrored
        impulses = np.column_stack([pushed[:, 1], pushed[:, 0]])
        rows.append(Prediction(name, "mirrored", given.pushed(theirs, impulses), theirs, np.nan, none))
    for name, law in _REPRODUCED.items():
        fit = published_fit(data, name)[0]
        rows.append(Prediction(name, "recomputed", fit.predict(impacts, law), theirs, fit.mu, fit.restitution(impacts)))
    return rows


def trained_predictions(impacts: PlanarImpacts, training: np.ndarray, ratio: float) -> list[Prediction]:
    """Laws identified on a part of the impacts, predicting all; ``ratio`` is the known J/m, m2."""
    part = impacts.part(training)
    knots = place_knots(part.place)
    by_place = fit_law(part, incremental_impulses, ratio, knots=knots)
    fits: list[tuple[str, Law, LawFit]] = [
        ("step law, J/m identified", step_impulses, identify(part, None)),
        ("step law", step_impulses, identify(part, ratio)),
        ("step law, e_N by place", step_impulses, identify(part, ratio, knots=knots)),
        ("incremental law", incremental_impulses, fit_law(part, incremental_impulses, ratio)),
        ("incremental law, e_N by place", incremental_impulses, by_place),
    ]
    return [
        Prediction(
            name, "identified", fit.predict(impacts, law), fit.ratio, fit.mu, fit.restitution(impacts), fit.converged
        )
        for name, law, fit in fits
    ]


def ellipse_tables(data: xr.Dataset, seeds: Sequence[int] = range(5)) -> dict[str, pd.DataFrame]:
    """Everything about a set of measured ellipse impacts.

    Parameters
    ----------
    seeds
        One random half for training each; the other half is predicted.

    Returns
    -------
    ``ext_real_ellipse``
        A row per model: parameters and errors on the held-out halves, averaged over the splits. ``error_v_x`` etc. are
        means of absolute errors, ``error_mean`` that of the norm with omega times the radius of gyration; ``_se`` is a
        bootstrap over the first split's held-out impacts, ``_sd`` the spread over splits. Models that need no training
        are judged on the same halves.
    ``ext_real_ellipse_impacts``
        A row per impact; predictions come from the first split's half without it.
    ``ext_real_ellipse_reasons``
        Where impacts depart from the laws: :func:`departures`.
    ``ext_real_ellipse_ratio``
        Eq. 31's J/m with x right and with x as published, from N and T as published.
    """
    impacts, ratio, n = ellipse_impacts(data), float(data["inertia_ratio"]), len(data["impact"])
    if n < 4 * N_PLACES:
        raise ContactIdError(f"{n} impacts to split into halves", f"Give at least {4 * N_PLACES}")
    fixed, splits, trained = fixed_predictions(data), [], []
    for seed in seeds:
        training = np.zeros(n, dtype=bool)
        training[np.random.default_rng(seed).permutation(n)[: n // 2]] = True
        splits.append(~training)
        trained.append(trained_predictions(impacts, training, ratio))
    crossed = _crossed(trained[0], trained_predictions(impacts, splits[0], ratio), splits[0])
    rows = [_row(impacts, [runs[k] for runs in trained], splits) for k in range(len(trained[0]))]
    rows += [_row(impacts, [model] * len(splits), splits) for model in fixed]
    return {
        "ext_real_ellipse": pd.DataFrame(rows),
        "ext_real_ellipse_impacts": _impact_table(data, impacts, [*crossed, *fixed]),
        "ext_real_ellipse_reasons": departures(data, {model.name: model for model in crossed}),
        "ext_real_ellipse_ratio": _ratio_table(data),
    }


def _crossed(one: list[Prediction], other: list[Prediction], held_out: np.ndarray) -> list[Prediction]:
    """Predictions of one fit where it didn't see the impact, else of the other."""
    merged = []
    for a, b in zip(one, other, strict=True):
        after = np.where(held_out[:, None], a.after, b.after)
        e_n = np.where(held_out, a.e_n, b.e_n)
        merged.append(Prediction(a.name, a.kind, after, a.ratio, a.mu, e_n, a.converged and b.converged))
    return merged


def _row(impacts: PlanarImpacts, models: Sequence[Prediction], splits: Sequence[np.ndarray]) -> dict[str, object]:
    held_out = [impacts.errors(model.after)[chosen] for model, chosen in zip(models, splits, strict=True)]
    parts = [np.abs(m.after - impacts.after)[chosen].mean(axis=0) for m, chosen in zip(models, splits, strict=True)]
    means, first = np.array([errors.mean() for errors in held_out]), held_out[0]
    drawn = first[np.random.default_rng(0).integers(0, len(first), (_BOOTSTRAP, len(first)))]
    ratios, mus = (np.array([getattr(model, name) for model in models]) for name in ("ratio", "mu"))
    trained, e_n, more = models[0].kind == "identified", models[0].e_n, min(1, len(models) - 1)
    return {
        "model": models[0].name,
        "kind": models[0].kind,
        "inertia_ratio_mm2": 1e6 * ratios.mean(),
        "inertia_ratio_sd_mm2": 1e6 * ratios.std(ddof=more) if trained else np.nan,
        "friction_mu": mus.mean(),
        "friction_mu_sd": mus.std(ddof=more) if trained else np.nan,
        "restitution_e_n": np.nan if np.isnan(e_n).all() else np.mean([model.e_n.mean() for model in models]),
        **dict(zip(("error_v_x_m_s", "error_v_y_m_s", "error_omega_rad_s"), np.mean(parts, axis=0), strict=True)),
        "error_mean_m_s": means.mean(),
        "error_mean_se_m_s": drawn.mean(axis=1).std(),
        "error_mean_sd_m_s": means.std(ddof=more),
        "error_median_m_s": np.mean([np.median(errors) for errors in held_out]),
        "error_median_se_m_s": np.median(drawn, axis=1).std(),
        "error_p90_m_s": np.mean([np.quantile(errors, 0.9) for errors in held_out]),
        "held_out_impacts": len(first),
        "splits": len(splits),
        "converged": sum(model.converged for model in models),
    }


def _impact_table(data: xr.Dataset, impacts: PlanarImpacts, models: Sequence[Prediction]) -> pd.DataFrame:
    columns: dict[str, np.ndarray] = {
        "place_m": impacts.place,
        "theta_rad": data["before"].values[:, 2],
        "arm_mm": 1e3 * impacts.normal[:, 2],
        "approach_m_s": -impacts.approach,
        "slip_before_m_s": impacts.slip,
        "slip_after_m_s": np.einsum("ij,ij->i", impacts.tangent, impacts.after),
        "apparent_restitution": impacts.restitution,
        "impulse_ratio": impulse_ratios(impacts),
    }
    for name, values in (("before", impacts.before), ("measured", impacts.after)):
        columns |= _velocities(name, values)
    for model in models:
        name = model.name if model.kind in ("identified", "bound") else f"{model.name}, {model.kind}"
        columns[f"{name}: error_m_s"] = impacts.errors(model.after)
        if model.kind == "identified":
            columns |= _velocities(name, model.after)
            columns[f"{name}: impulse_ratio"] = impulse_ratios(replace(impacts, after=model.after))
            columns[f"{name}: restitution_e_n"] = model.e_n
    return pd.DataFrame({"impact": np.arange(len(impacts)), **columns})


def _velocities(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    return dict(zip((f"{name}: v_x_m_s", f"{name}: v_y_m_s", f"{name}: omega_rad_s"), values.T, strict=True))


def _ratio_table(data: xr.Dataset) -> pd.DataFrame:
    given = ellipse_impacts(data, published_rows=True)
    rows = []
    for frame, impacts in (("x as published", given.mirrored()), ("x reversed", given)):
        for estimator, ratio in ratio_estimates(impacts).items():
            rows.append({"x": frame, "estimator": estimator, "inertia_ratio_mm2": 1e6 * ratio, "impacts": len(impacts)})
    return pd.DataFrame(rows).assign(published_mm2=1e6 * float(data["inertia_ratio"]))


def departures(data: xr.Dataset, models: dict[str, Prediction]) -> pd.DataFrame:
    """Where impacts depart from the laws, in two kinds of rows.

    * ``variance of restitution explained``: cross-validated share of the apparent restitution's variance that a smooth
      function of something else explains; a single e_N leaves all of it.
    * ``median impulse ratio``: ``c_t/c_n``, positive where it opposes the initial slip, measured and by both laws. The
      groups are those of the step law: it slides on; the slip stops, and friction braked it; it stops or reverses, and
      friction in all drove it on, because the impulse's moment alone would reverse it.
    """
    impacts = ellipse_impacts(data)
    centre, theta = data["before"].values[:, 0], data["before"].values[:, 2]
    place = _powers(impacts.place)
    turn = np.column_stack([f(k * theta) for k in (1, 2, 3) for f in (np.sin, np.cos)])
    causes = {
        "place of the contact": place,
        "place of the centre": _powers(centre),
        "v_x": _powers(impacts.before[:, 0]),
        "approach speed": _powers(impacts.approach),
        "orientation": turn,
        "place and v_x": np.hstack([place, _powers(impacts.before[:, 0])]),
        "place and orientation": np.hstack([place, turn]),
    }
    rows: list[dict[str, object]] = [
        {
            "quantity": "variance of restitution explained", "group": name, "impacts": len(impacts),
            "measured": _explained(impacts.restitution, values),
        }
        for name, values in causes.items()
    ]  # fmt: skip
    opposing = -np.sign(impacts.slip)
    measured = opposing * impulse_ratios(impacts)
    step, gradual = (
        opposing * impulse_ratios(replace(impacts, after=models[name].after))
        for name in ("step law", "incremental law")
    )
    edge = 0.98 * float(np.max(np.abs(step)))
    groups = {
        "slides on": step > edge,
        "stops, braked": (step >= 0.0) & (step <= edge),
        "stops, driven on": (step < 0.0) & (step > -0.5 * edge),
        "turned round": step <= -0.5 * edge,
    }
    for name, chosen in groups.items():
        if chosen.any():
            rows.append(
                {
                    "quantity": "median impulse ratio", "group": name, "impacts": int(chosen.sum()),
                    "measured": float(np.median(measured[chosen])), "step_law": float(np.median(step[chosen])),
                    "incremental_law": float(np.median(gradual[chosen])),
                }
            )  # fmt: skip
    return pd.DataFrame(rows, columns=["quantity", "group", "impacts", "measured", "step_law", "incremental_law"])


def _powers(values: np.ndarray) -> np.ndarray:
    """(n, 4) powers of standardised values."""
    scaled = (values - values.mean()) / max(float(values.std()), np.finfo(float).tiny)
    return np.column_stack([scaled**k for k in range(1, 5)])


def _explained(values: np.ndarray, features: np.ndarray, folds: int = 5) -> float:
    """Share of the variance that a linear model explains in folds that it hasn't seen."""
    table, fold = np.column_stack([np.ones(len(values)), features]), np.arange(len(values)) % folds
    predicted = np.empty_like(values)
    for k in range(folds):
        seen = fold != k
        predicted[~seen] = table[~seen] @ np.linalg.lstsq(table[seen], values[seen], rcond=None)[0]
    return 1.0 - float(np.sum((values - predicted) ** 2) / np.sum((values - values.mean()) ** 2))


def write_ellipse(data: str, seeds: Sequence[int], tables: Sequence[str]) -> None:
    """Write the tables of :func:`ellipse_tables` to the last digit, in their order, of a canonical file of impacts."""
    for table, file in zip(ellipse_tables(read_dataset(data), seeds).values(), tables, strict=True):
        write_exact(table, file)
