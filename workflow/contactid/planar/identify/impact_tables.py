"""Tables of what impact laws predict of measured impacts of an ellipse, and of where these depart
from the laws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.output.tables import write_exact
from contactid.planar.identify.impact_laws import (
    N_PLACES,
    Prediction,
    ellipse_impacts,
    fixed_predictions,
    trained_predictions,
)
from contactid.planar.identify.impacts import PlanarImpacts, impulse_ratios
from contactid.sources.motion import read_dataset

_BOOTSTRAP = 500


def write_ellipse(data: str, seeds: Sequence[int], tables: Sequence[str]) -> None:
    """Write the tables of :func:`ellipse_tables` to the last digit, in their order, of a canonical
    file of impacts.
    """
    for table, file in zip(ellipse_tables(read_dataset(data), seeds).values(), tables, strict=True):
        write_exact(table, file)


def ellipse_tables(data: xr.Dataset, seeds: Sequence[int]) -> dict[str, pd.DataFrame]:
    """Everything about a set of measured ellipse impacts.

    Parameters
    ----------
    seeds
        One random half for training each; the other half is predicted.

    Returns
    -------
    ``ext_real_ellipse``
        A row per model: parameters and errors on the held-out halves, averaged over the splits.
        ``error_v_x`` etc. are means of absolute errors, ``error_mean`` that of the norm with omega
        times the radius of gyration; ``_se`` is a bootstrap over the first split's held-out
        impacts, ``_sd`` the spread over splits. Models that need no training are judged on the same
        halves.
    ``ext_real_ellipse_impacts``
        A row per impact; predictions come from the first split's half without it.
    ``ext_real_ellipse_reasons``
        Where impacts depart from the laws: :func:`departures`.
    """
    impacts, ratio, n = ellipse_impacts(data), float(data["inertia_ratio"]), len(data["impact"])
    if n < 4 * N_PLACES:
        raise ContactIdError(f"{n} impacts to split into halves", f"Give at least {4 * N_PLACES}")
    fixed, splits, trained = fixed_predictions(data), [], []
    for seed in seeds:
        training = np.zeros(n, dtype=bool)
        # each seed's half is drawn once, for all models
        training[np.random.default_rng(seed).permutation(n)[: n // 2]] = True
        splits.append(~training)
        trained.append(trained_predictions(impacts, training, ratio))
    # two fits, each of one half, so that every impact has a prediction from the other half
    crossed = _crossed(trained[0], trained_predictions(impacts, splits[0], ratio), splits[0])
    rows = [_row(impacts, [runs[k] for runs in trained], splits) for k in range(len(trained[0]))]
    rows += [_row(impacts, [model] * len(splits), splits) for model in fixed]
    return {
        "ext_real_ellipse": pd.DataFrame(rows),
        "ext_real_ellipse_impacts": _impact_table(data, impacts, [*crossed, *fixed]),
        "ext_real_ellipse_reasons": departures(data, {model.name: model for model in crossed}),
    }


def _crossed(
    one: list[Prediction], other: list[Prediction], held_out: np.ndarray
) -> list[Prediction]:
    """Predictions of one fit where it didn't see the impact, else of the other."""
    return [
        replace(
            a,
            after=np.where(held_out[:, None], a.after, b.after),
            e_n=np.where(held_out, a.e_n, b.e_n),
            converged=a.converged and b.converged,
        )
        for a, b in zip(one, other, strict=True)
    ]


def _row(
    impacts: PlanarImpacts, models: Sequence[Prediction], splits: Sequence[np.ndarray]
) -> dict[str, object]:
    held_out = [
        impacts.errors(model.after)[chosen] for model, chosen in zip(models, splits, strict=True)
    ]
    parts = [
        np.abs(m.after - impacts.after)[chosen].mean(axis=0)
        for m, chosen in zip(models, splits, strict=True)
    ]
    means, first = np.array([errors.mean() for errors in held_out]), held_out[0]
    # (500, n) bootstrap of the first split's held-out errors
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
        "restitution_e_n": np.nan
        if np.isnan(e_n).all()
        else np.mean([model.e_n.mean() for model in models]),
        **dict(
            zip(
                ("error_v_x_m_s", "error_v_y_m_s", "error_omega_rad_s"),
                np.mean(parts, axis=0),
                strict=True,
            )
        ),
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


def _impact_table(
    data: xr.Dataset, impacts: PlanarImpacts, models: Sequence[Prediction]
) -> pd.DataFrame:
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
        name = (
            model.name if model.kind in ("identified", "bound") else f"{model.name}, {model.kind}"
        )
        columns[f"{name}: error_m_s"] = impacts.errors(model.after)
        if model.kind == "identified":
            columns |= _velocities(name, model.after)
            columns[f"{name}: impulse_ratio"] = impulse_ratios(replace(impacts, after=model.after))
            columns[f"{name}: restitution_e_n"] = model.e_n
    return pd.DataFrame({"impact": np.arange(len(impacts)), **columns})


def _velocities(name: str, values: np.ndarray) -> dict[str, np.ndarray]:
    return dict(
        zip((f"{name}: v_x_m_s", f"{name}: v_y_m_s", f"{name}: omega_rad_s"), values.T, strict=True)
    )


def departures(data: xr.Dataset, models: dict[str, Prediction]) -> pd.DataFrame:
    """Where impacts depart from the laws, in two kinds of rows.

    * ``variance of restitution explained``: cross-validated share of the apparent restitution's
      variance that a smooth function of something else explains; a single e_N leaves all of it.
    * ``median impulse ratio``: ``c_t/c_n``, positive where it opposes the initial slip, measured
      and by both laws. The groups are those of the step law: it slides on; the slip stops, and
      friction braked it; it stops or reverses, and friction in all drove it on, because the
      impulse's moment alone would reverse it.
    """
    impacts = ellipse_impacts(data)
    centre, theta = data["before"].values[:, 0], data["before"].values[:, 2]
    place = _powers(impacts.place)
    # (n, 6) three harmonics: orientation is periodic
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
    # positive where friction opposes the slip before the impact
    opposing = -np.sign(impacts.slip)
    measured = opposing * impulse_ratios(impacts)
    step, gradual = (
        opposing * impulse_ratios(replace(impacts, after=models[name].after))
        for name in ("step law", "incremental law")
    )
    # the step law's ratios are at most mu, which all impacts that slide on have
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
    return pd.DataFrame(
        rows, columns=["quantity", "group", "impacts", "measured", "step_law", "incremental_law"]
    )


def _powers(values: np.ndarray) -> np.ndarray:
    """(n, 4) powers of standardised values."""
    scaled = (values - values.mean()) / max(float(values.std()), np.finfo(float).tiny)
    return np.column_stack([scaled**k for k in range(1, 5)])


def _explained(values: np.ndarray, features: np.ndarray, folds: int = 5) -> float:
    """Share of the variance that a linear model explains in folds that it hasn't seen."""
    # every fifth impact is a fold
    table, fold = np.column_stack([np.ones(len(values)), features]), np.arange(len(values)) % folds
    predicted = np.empty_like(values)
    for k in range(folds):
        seen = fold != k
        predicted[~seen] = table[~seen] @ np.linalg.lstsq(table[seen], values[seen], rcond=None)[0]
    return 1.0 - float(np.sum((values - predicted) ** 2) / np.sum((values - values.mean()) ** 2))
