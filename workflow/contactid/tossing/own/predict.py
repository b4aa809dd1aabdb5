"""Predict a user's own tosses by every scheme of a finished run, beside naive answers, and say what
not to trust.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.output.fits import read_json
from contactid.sources.motion import body_of
from contactid.tossing.configuration import NO_RESTITUTION, Scheme
from contactid.tossing.own.finished_run import FinishedRun, IdentifiedBody
from contactid.tossing.own.tosses import OwnTosses, test_part
from contactid.tossing.predict.prediction import POSE, predict, rest_errors
from contactid.tossing.prepare.calibration import Calibration
from contactid.tossing.prepare.metrics import trajectory_errors
from contactid.tossing.prepare.tosses import Problem, Variant, set_up, usable_tosses
from contactid.tossing.simulate.box import ContactParameters

LAWS = ("incremental", "newton")  # of impacts
_SUBSTEPS = 16  # per frame: mu and e_N hardly move with more, at the cube's 148 frames/s
_STEP = 1.0 / 148.0 / _SUBSTEPS  # s, of which other rates take as many as are needed
NO_IMPACT = "no_impact"  # the body stays where it first touches the surface
NAIVE, STATED = "naive", "stated"  # kinds of parameters, beside those of a run
# columns that name a scheme
_OF_SCHEME = [
    "scheme", "parameters", "identified_on", "calibrated", "friction_mu", "restitution_e_n",
]  # fmt: skip
_KINDS = {NAIVE: "naive: stays where it first touches", STATED: "stated parameters"}
_WORSE = 3.0  # standard errors


def predict_own(
    run: FinishedRun, tosses: OwnTosses, progress: Callable[[str], None] = lambda line: None
) -> pd.DataFrame:
    """Predict tosses from release to rest by every scheme that the run has identified for their
    body.

    Parameters
    ----------
    run, tosses : from :func:`contactid.tossing.own.finished_run.read_run` and
        :func:`contactid.tossing.own.tosses.read_tosses`
    progress : called with a line of text as each scheme is done

    Returns a row per toss and scheme: ``toss``, ``scheme``, ``parameters`` (``trajectory``,
    ``velocity`` or ``naive``), ``identified_on``, ``calibrated``, ``friction_mu``,
    ``restitution_e_n``, ``seen`` (the run identified on this very toss), and the columns of
    :func:`contactid.tossing.predict.prediction.predict`. The scheme ``no_impact`` is the naive
    answer: the body stays where it first touches the surface, its pose until then being the
    measured one.
    """
    tables = []
    for one in tosses.identified:
        for scheme in one.schemes.values():
            record = run.fit(one, scheme)
            law = ContactParameters(**record["parameters"])
            if scheme.kind == NO_RESTITUTION:
                # Table IV's scheme has the fit of another one
                law = replace(law, restitution_e_n=0.0)
            about: dict[str, Any] = {
                "scheme": scheme.name,
                "parameters": scheme.parameters,
                **asdict(law),
            }
            about |= {"identified_on": one.dataset, "calibrated": scheme.calibrated}
            table = predict(problem_by(run, tosses, one, scheme), law).assign(**about)
            tables.append(table)
            progress(
                f"{scheme.name}: {len(table)} tosses with mu = {law.friction_mu:.3g}, e_N = {law.restitution_e_n:.3g}"
            )
    tables.append(
        no_impact(test_part(tosses.prepared)).assign(
            scheme=NO_IMPACT, parameters=NAIVE, calibrated=False
        )
    )
    table = pd.concat(tables, ignore_index=True)
    table = table.assign(
        seen=table["toss"].isin(tosses.seen), identified_on=table["identified_on"].fillna("")
    )
    first = ["toss", *_OF_SCHEME, "seen"]
    return table[[*first, *(name for name in table if name not in first)]]


def problem_of(prepared: xr.Dataset, law: str, split: str) -> Problem:
    """A part of prepared tosses of a calibrated body, as they are simulated where no run says how."""
    step = 1.0 / float(prepared.attrs["sample_frequency"])
    # less a little, so that rounding asks for no step more
    substeps = max(int(np.ceil(step / _STEP - 1e-9)), 1)
    variant = Variant("toss", "flight_fit", substeps, law, "newton", refine=True, calibrated=True)
    return set_up(prepared, variant, split)


def problem_by(
    run: FinishedRun, tosses: OwnTosses, one: IdentifiedBody, scheme: Scheme, *parts: str
) -> Problem:
    """The tosses as a scheme of a run starts and steps them; ``parts`` are those that are simulated
    beside the test part.
    """
    data = tosses.prepared
    if scheme.calibrated:
        data = Calibration(**read_json(run.calibration(one))).apply(data)
    return set_up(test_part(data, *parts), Variant.from_config(scheme.stepping), None)


def no_impact(prepared: xr.Dataset) -> pd.DataFrame:
    """The naive answer's errors, a row per usable toss: the body stays where it first touches the
    surface.

    On a belt the body is carried along from where it first touches it.
    """
    length = body_of(prepared).length
    time_step = 1.0 / float(prepared.attrs["sample_frequency"])
    rows = []
    events = {name: prepared[name].to_series() for name in ("contact", "rest")}
    for item in usable_tosses(prepared, start="central_difference"):
        toss = item.toss
        contact, rest = (int(events[name][toss.name]) for name in ("contact", "rest"))
        # the contact as a row of the toss, whose last row is the rest
        at = contact - (rest + 1 - len(toss.position))
        # rows since the first contact; 0 before
        since = np.maximum(np.arange(len(toss.position)) - at, 0)
        # the row whose pose counts: its own until the contact, the contact's since then
        held = np.arange(len(toss.position)) - since
        position = toss.position[held] + since[:, None] * time_step * toss.surface_velocity
        orientation = toss.orientation[held]
        measured = (item.rest_position, item.rest_orientation)
        stays = (position[-1], orientation[-1])
        rows.append(
            {
                "toss": toss.name,
                "tumbled": item.tumbled,
                "moving": bool(np.any(toss.surface_velocity)),
                **trajectory_errors(toss.position, toss.orientation, position, orientation, length),
                **rest_errors(*measured, *stays),
                **dict(zip((f"measured_{k}" for k in POSE), np.concatenate(measured), strict=True)),
                **dict(zip((f"simulated_{k}" for k in POSE), np.concatenate(stays), strict=True)),
            }
        )
    return pd.DataFrame(rows)


def means(predictions: pd.DataFrame, run: FinishedRun, tosses: OwnTosses) -> pd.DataFrame:
    """:func:`means_of`, with ``run_mean_loss``, ``run_sem_loss`` and ``run_n_tosses`` of the run's
    own test tosses (NaN where it has none).
    """
    table, bodies = means_of(predictions), {one.dataset: one for one in tosses.identified}
    pairs = zip(table["scheme"], table["identified_on"], strict=True)
    own = [
        pd.Series(run.own_losses(bodies[on], scheme) if on else [], dtype=float)
        for scheme, on in pairs
    ]
    table["run_mean_loss"] = [losses.mean() for losses in own]
    table["run_sem_loss"] = [losses.sem() for losses in own]
    return table.assign(run_n_tosses=list(map(len, own)))


def means_of(predictions: pd.DataFrame) -> pd.DataFrame:
    """Mean loss (eq. 18) with its standard error, a row per scheme, over the tosses that the run
    didn't identify on.

    Where it identified on all of them, over all. Columns: those of :func:`predict_own` that name a
    scheme, ``n_tosses``, ``mean_loss``, ``sem_loss`` (NaN for one toss), the mean rest-pose errors,
    and ``same_face`` (how many).
    """
    schemes = counted(predictions).groupby(_OF_SCHEME, sort=False, dropna=False)
    return schemes.agg(
        n_tosses=("loss", "size"),
        mean_loss=("loss", "mean"),
        sem_loss=("loss", "sem"),
        rest_position_error_cm=("rest_position_error_cm", "mean"),
        rest_rotation_error_deg=("rest_rotation_error_deg", "mean"),
        same_face=("same_face", "sum"),
    ).reset_index()


def counted(predictions: pd.DataFrame) -> pd.DataFrame:
    """Of the tosses that the run didn't identify on; of all where there are no others."""
    unseen = predictions[~predictions["seen"]]
    return predictions if unseen.empty else unseen


def warnings_on_tosses(predictions: pd.DataFrame, summary: pd.DataFrame) -> Iterator[str]:
    """Sentences on what not to trust, as far as no run is asked; ``summary`` is from
    :func:`means_of`.
    """
    by_toss = predictions.drop_duplicates("toss")
    n, n_seen = len(by_toss), int(by_toss["seen"].sum())
    if n_seen == n:
        yield f"The run identified on these very tosses ({n}): losses say how well it fits, not how well it predicts"
    elif n_seen:
        yield f"The run identified on {n_seen} of these {n} tosses: means are over the {n - n_seen} others"
    predicted = summary[summary["parameters"] != NAIVE]
    beaten = [name for name in predicted["scheme"] if not _beats(predictions, name)]
    if beaten:
        # a scheme may be identified on several datasets
        names = ", ".join(dict.fromkeys(beaten))
        yield f"No better than staying where it first touches the surface ({NO_IMPACT}): {names}"


def warnings_by_run(summary: pd.DataFrame) -> Iterator[str]:
    """Further ones, by what the run says; ``summary`` is from :func:`means`."""
    predicted = summary[summary["parameters"] != NAIVE]
    apart = predicted["mean_loss"] - predicted["run_mean_loss"]
    error = np.hypot(predicted["sem_loss"], predicted["run_sem_loss"])
    worse = predicted[(apart > _WORSE * error).to_numpy()]
    if len(worse):
        row = worse.iloc[0]
        yield (
            f"Losses are higher than on the run's own test tosses by more than {_WORSE:g} standard errors "
            f"({', '.join(worse['scheme'])}; {row['scheme']}: {row['mean_loss']:.3g} against "
            f"{row['run_mean_loss']:.3g}): surface, body or camera may be others"
        )


def _beats(predictions: pd.DataFrame, scheme: str) -> bool:
    """Whether a scheme's losses are lower than the naive answer's, on average over the tosses,
    surely.
    """
    by_scheme = counted(predictions).pivot_table(index="toss", columns="scheme", values="loss")
    # toss by toss: both are of the same tosses
    gain = (by_scheme[NO_IMPACT] - by_scheme[scheme]).to_numpy(dtype=float)
    error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else 0.0
    return bool(gain.mean() > 2.0 * error)


def label(row: Mapping[str, object] | pd.Series, summary: pd.DataFrame) -> str:
    """A scheme's name, with the dataset that it was identified on where several have it."""
    several = (summary["scheme"] == row["scheme"]).sum() > 1
    return f"{row['scheme']} ({row['identified_on']})" if several else str(row["scheme"])


def lines(summary: pd.DataFrame) -> list[str]:
    """A line of text per scheme: its mean loss with standard error, its parameters, and the run's
    own test tosses.
    """
    sentences = []
    for _, row in summary.iterrows():
        kind = str(row["parameters"])
        about = [_KINDS.get(kind, f"{kind}-based")]
        if row["parameters"] != NAIVE:
            about.append(f"mu = {row['friction_mu']:.3g}, e_N = {row['restitution_e_n']:.3g}")
        if row["run_n_tosses"]:
            about.append(
                f"the run's own test tosses: {with_error(row['run_mean_loss'], row['run_sem_loss'])}"
            )
        sentences.append(
            f"{label(row, summary)}: loss = {with_error(row['mean_loss'], row['sem_loss'])} ({'; '.join(about)})"
        )
    return sentences


def with_error(mean: float, error: float) -> str:
    """``0.2051 +- 0.0098``."""
    return f"{mean:.4g} +- {error:.2g}" if np.isfinite(error) else f"{mean:.4g}"
