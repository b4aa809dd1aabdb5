"""Tables II to IV, and what else the predictions of a run say: errors by scheme, and of the
solver.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import stdtrit

from contactid.output.fits import read_json
from contactid.output.tables import read_csv, write_report_csv
from contactid.sources.motion import iterate_recordings
from contactid.tossing.artefacts.data import by_name, data_label, object_of
from contactid.tossing.configuration import (
    NO_RESTITUTION,
    SIMULATOR,
    Scheme,
    schemes_of,
    velocity_cases,
)
from contactid.tossing.predict.prediction import rest_errors

_ERRORS = (
    "position_error_pct",
    "rotation_error_deg",
    "rest_position_error_cm",
    "rest_rotation_error_deg",
)
_PARAMETERS = ("friction_mu", "restitution_e_n")
IDENTIFICATION_COLUMNS = (
    "dataset", "identified_on", "simulator", "scheme", "parameters", "calibrated", "subset", "n_tosses",
    "friction_mu", "restitution_e_n", "mean_loss", "sem_loss", *_ERRORS,
)  # fmt: skip


@dataclass(frozen=True)
class Prediction:
    """A prediction table with where it came from."""

    # dataset, identified_on: names
    dataset: str
    identified_on: str
    scheme: Scheme  # where its parameters come from and how it is stepped
    # object, data: what was tossed, and which data it is
    object: str
    data: str
    fit: dict[str, Any]  # the fit record used
    table: pd.DataFrame  # from :func:`contactid.tossing.predict.prediction.predict`

    def about(self) -> dict[str, Any]:
        """Columns that say where a row came from; each table takes those that it needs."""
        names = {
            name: getattr(self, name) for name in ("dataset", "identified_on", "object", "data")
        }
        scheme = {
            "scheme": self.scheme.name,
            "parameters": self.scheme.parameters,
            "calibrated": self.scheme.calibrated,
        }
        return {**names, **scheme, "simulator": SIMULATOR, **self.fit.get("parameters", {})}


def prediction_tables(
    prepared: Sequence[str],
    datasets: Sequence[str],
    toss_tables: Sequence[str],
    predicted: Sequence[tuple[str, str, str]],
    predictions: Sequence[str],
    fits: Sequence[str],
    with_printed: Sequence[str],
    published: str,
    block: Mapping[str, Any],
    tosses: str,
) -> dict[str, pd.DataFrame]:
    """The tables of this module and ``tosses.csv``.

    ``toss_tables`` are tables of all tosses, used or not; ``predictions`` and ``fits`` files of
    every prediction (identified on, predicted on, scheme). ``with_printed`` is the file of
    predictions with printed parameters, if there are any for the objects. ``published`` are the
    printed values, ``tosses`` is the file ``tosses.csv`` to write.
    """
    data, schemes = by_name(prepared, datasets), schemes_of(block)
    found = []
    for (on, dataset, scheme), fit, file in zip(predicted, fits, predictions, strict=True):
        record, table = read_json(fit), read_csv(file).astype({"toss": str})
        if schemes[scheme].kind == NO_RESTITUTION:
            # that scheme has the fit of the paper's own one
            record["parameters"]["restitution_e_n"] = 0.0
        of_data = object_of(data[dataset]), data_label(data[dataset])
        found.append(Prediction(dataset, on, schemes[scheme], *of_data, record, table))
    with_restitution = [item for item in found if item.scheme.kind != NO_RESTITUTION]
    without = [item for item in found if item.scheme.kind == NO_RESTITUTION]
    printed = {
        name: printed_table(read_csv(published), name) for name in ("tab02", "tab03", "tab04")
    }
    tables = {
        "tab02_identified_parameters": parameters_table(with_restitution, printed["tab02"]),
        "tab03_rest_pose_errors": rest_pose_table(with_restitution, printed["tab03"], "Table III"),
        "tab04_rest_pose_errors_without_restitution": rest_pose_table(
            without, printed["tab04"], "Table IV"
        ),
        "ext_identification": identification_table(found),
        "ext_solver": solver_table(found),
        "ext_no_impact": no_impact_table(with_restitution, data),
    }
    if velocity_cases(block):
        tables["ext_velocity_against_trajectory"] = disagreement_table(found)
    for file in with_printed:
        tables["ext_printed_parameters"] = with_printed_table(
            read_csv(file), data, printed["tab03"]
        )
    write_report_csv(
        toss_rows([read_csv(file).astype({"toss": str}) for file in toss_tables], found), tosses
    )
    return {f"tables/{name}": table for name, table in tables.items()}


def printed_table(published: pd.DataFrame, artefact: str) -> pd.DataFrame:
    """The printed values of a table, one row per condition, one column per quantity; without what
    is said of it.
    """
    of_table = published["condition"].str.fullmatch(
        r"object=[^;]+;parameters=[^;]+;simulator=[^;]+"
    )
    part = published[(published["artefact"] == artefact) & of_table]
    conditions = (
        part["condition"]
        .str.split(";")
        .map(lambda items: dict(item.split("=", 1) for item in items))
    )
    wide = part.assign(**pd.DataFrame(list(conditions), index=part.index))
    keys = ["object", "parameters", "simulator"]
    return (
        wide.pivot(index=keys, columns="quantity", values="value")
        .reset_index()
        .rename_axis(columns=None)
    )


def parameters_table(predictions: Sequence[Prediction], published: pd.DataFrame) -> pd.DataFrame:
    """Table II: parameters identified by every scheme beside the printed ones."""
    rows = []
    for item in predictions:
        fit, row = item.fit, item.about()
        for name in _PARAMETERS:
            row[f"{name}_low"], row[f"{name}_high"] = fit["intervals"][name]
        row |= {
            "restitution_flat_to": fit.get("restitution_flat_to"),
            "objective": fit["objective"],
        }
        row |= {
            "n_tosses": fit["data"]["n_tosses"],
            "n_impacts": fit["data"].get("n_impacts", np.nan),
        }
        rows.append(row | {"converged": fit["converged"]})
    names = [
        "object", "parameters", "simulator", "scheme", *_PARAMETERS,
        *(f"{name}_{side}" for name in _PARAMETERS for side in ("low", "high")), "restitution_flat_to", "objective",
        "n_tosses", "n_impacts", "converged", "identified_on", "data",
    ]  # fmt: skip
    return _beside_printed(pd.DataFrame(rows)[names], published, "Table II")


def rest_pose_table(
    predictions: Sequence[Prediction], published: pd.DataFrame, where: str
) -> pd.DataFrame:
    """Tables III and IV: rest-pose errors (eqs. 20, 21) on a stationary surface, mean and standard
    deviation.

    A toss that ends on another face than predicted has no angle about the normal in the sense of
    eq. 20; the rotation columns are over the others, and ``n_same_face`` counts them. The 95 %
    intervals are those of the means.
    """
    rows = []
    for prediction in predictions:
        # Tables III and IV are of a conveyor at rest
        still = prediction.table[~prediction.table["moving"]]
        for subset, part in _subsets(still):
            if len(part):
                position, angle = errors_at_rest(part)
                intervals = _interval("position_error_mean_cm", position) | _interval(
                    "rotation_error_mean_deg", angle
                )
                counts = {"subset": subset, "n_tosses": len(part), "n_same_face": len(angle)}
                rows.append(prediction.about() | means_of(position, angle) | intervals | counts)
    names = [
        "parameters",
        "simulator",
        "scheme",
        "object",
        *means_of(position, angle),
        *intervals,
        *counts,
    ]
    table = pd.DataFrame(rows)[[*names, "identified_on", "dataset", "data"]]
    return _beside_printed(table, published, where)


def with_printed_table(
    predictions: pd.DataFrame, prepared: Mapping[str, xr.Dataset], published: pd.DataFrame
) -> pd.DataFrame:
    """``ext_printed_parameters``: Table III with the printed parameters of Table II in place of
    identified ones.
    """
    found = []
    for (name, kind), table in predictions.groupby(["dataset", "parameters"], sort=False):
        dataset = str(name)
        scheme = Scheme("printed", "printed", str(kind), "", {"calibrated": False}, False)
        of_data = prepared[dataset]
        found.append(
            Prediction(dataset, "", scheme, object_of(of_data), data_label(of_data), {}, table)
        )
    return rest_pose_table(found, published, "Table III").drop(columns="identified_on")


def no_impact_table(
    predictions: Sequence[Prediction], prepared: Mapping[str, xr.Dataset]
) -> pd.DataFrame:
    """``ext_no_impact``: the errors of Table III if every toss ended where the box first touches
    the surface.

    It is what a prediction by flight alone would say at best: the pose at first contact is the
    measured one.
    """
    rows = []
    for item in {prediction.dataset: prediction for prediction in predictions}.values():
        still = item.table[~item.table["moving"]]
        measured = dict(iterate_recordings(prepared[item.dataset]))
        if len(still):
            landed = pd.DataFrame([_at_contact(measured[toss]) for toss in still["toss"]])
            position, angle = errors_at_rest(landed)
            counts = {"n_tosses": len(position), "n_same_face": len(angle)}
            rows.append(
                {
                    "object": item.object,
                    "dataset": item.dataset,
                    **means_of(position, angle),
                    **counts,
                }
            )
            rows[-1]["data"] = item.data
    nothing = pd.Series(dtype=float)
    names = ["object", "dataset", *means_of(nothing, nothing), "n_tosses", "n_same_face", "data"]
    return pd.DataFrame(rows, columns=names)


def _at_contact(toss: xr.Dataset) -> dict[str, Any]:
    """Errors of a toss's pose at first contact against its rest pose."""
    contact = int(toss["contact"])
    pose = toss["position"].values[contact], toss["orientation"].values[contact]
    return rest_errors(toss["rest_position"].values, toss["rest_orientation"].values, *pose)


def _interval(name: str, values: pd.Series) -> dict[str, float]:
    """95 % interval of a mean over tosses by Student's distribution; NaN for fewer than two."""
    n = len(values)
    # the deviation is estimated from the same few tosses
    reach = float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    return {
        f"{name}_low": float(values.mean()) - reach,
        f"{name}_high": float(values.mean()) + reach,
    }


def identification_table(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """``ext_identification``: one row per dataset, model, parameters and subset."""
    rows = [
        item.about() | {"subset": subset} | summarise(part)
        for item in predictions
        for subset, part in _subsets(item.table, always=True)
    ]
    return pd.DataFrame(rows)[list(IDENTIFICATION_COLUMNS)]


def solver_table(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """``ext_solver``: how well the contact law held in the predicted tosses, recomputed in every
    step.
    """
    counted = ["contact_steps", "hyperstatic_steps", "unsolved_steps"]
    rows = []
    for item in predictions:
        counts = {"n_tosses": len(item.table), **item.table[counted].sum()}
        counts["solved_pct"] = 100.0 * (1.0 - counts["unsolved_steps"] / counts["contact_steps"])
        counts["largest_residual_m_s"] = item.table["largest_residual"].max()
        rows.append(item.about() | counts)
    return pd.DataFrame(rows)[["dataset", "identified_on", "scheme", *counts, "data"]]


def toss_rows(tables: Sequence[pd.DataFrame], predictions: Sequence[Prediction]) -> pd.DataFrame:
    """``tosses.csv``: one row per toss, with the errors of every variant where it was predicted."""
    keys = ["dataset", "toss"]
    tosses = pd.concat(tables, ignore_index=True).drop_duplicates(keys)
    for variant in dict.fromkeys(item.scheme.name for item in predictions):
        parts = [
            item.table.assign(dataset=item.dataset)
            for item in predictions
            if item.scheme.name == variant
        ]
        errors = pd.concat(parts).drop_duplicates(keys).set_index(keys)[["loss", *_ERRORS]]
        tosses = tosses.merge(errors.add_prefix(f"{variant}_").reset_index(), on=keys, how="left")
    return tosses


def _subsets(table: pd.DataFrame, always: bool = False) -> list[tuple[str, pd.DataFrame]]:
    """All tosses, and those that don't tumble where some do (or ``always``)."""
    subsets = [("all", table)]
    if always or table["tumbled"].any():
        subsets.append(("non_tumbling", table[~table["tumbled"]]))
    return subsets


def _beside_printed(ours: pd.DataFrame, published: pd.DataFrame, where: str) -> pd.DataFrame:
    """Append the printed rows of the table for the objects at hand."""
    at_hand = published["object"].isin(set(ours["object"])) & published["parameters"].isin(
        set(ours["parameters"])
    )
    printed = published[at_hand]
    return pd.concat([ours, printed.assign(data=f"printed, {where}")], ignore_index=True)


def disagreement_table(predictions: Sequence[Prediction]) -> pd.DataFrame:
    """``ext_velocity_against_trajectory``: parameters from impacts less those from trajectories,
    with 95 % intervals.

    Each scheme on impacts is held against the trajectory scheme that steps as it predicts, which
    has the same body. The two are identified on different motion, so their errors are taken as
    independent and half-widths add in squares.
    """
    tosses = {(item.dataset, item.scheme.name): item for item in predictions}
    rows = []
    for item in predictions:
        other = tosses.get((item.dataset, item.scheme.stepping["name"]))
        if item.scheme.parameters != "velocity" or other is None:
            continue
        row: dict[str, Any] = {
            "object": item.object,
            "scheme": item.scheme.name,
            "against": other.scheme.name,
        }
        row["calibrated"] = item.scheme.calibrated
        for name in _PARAMETERS:
            values = [each.fit["parameters"][name] for each in (item, other)]
            ends = np.array([each.fit["intervals"][name] for each in (item, other)], dtype=float)
            # (2, 2) lower and upper half-widths of both; intervals needn't be symmetric
            sides = np.abs(ends - np.array(values)[:, None])
            # upwards: the first's upper and the second's lower end
            up, down = np.hypot(sides[0, 1], sides[1, 0]), np.hypot(sides[0, 0], sides[1, 1])
            difference = values[0] - values[1]
            low, high = difference - down, difference + up
            row |= {
                f"{name}_velocity": values[0],
                f"{name}_trajectory": values[1],
                f"{name}_difference": difference,
            }
            row |= {f"{name}_difference_low": low, f"{name}_difference_high": high}
            row[f"{name}_differs"] = bool(low > 0 or high < 0)
        rows.append(row | {"data": item.data})
    return pd.DataFrame(rows)


def errors_at_rest(still: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    """What Tables III and IV are about: position errors (cm), and angles (deg) of tosses that end
    on the same face.
    """
    return still["rest_position_error_cm"], still.loc[still["same_face"], "e_rot_deg"].abs()


def means_of(position: pd.Series, angle: pd.Series) -> dict[str, float]:
    """The columns of Tables III and IV, from :func:`errors_at_rest`."""
    return {
        "position_error_mean_cm": float(position.mean()),
        "position_error_std_cm": float(position.std(ddof=1)),
        "rotation_error_mean_deg": float(angle.mean()),
        "rotation_error_std_deg": float(angle.std(ddof=1)),
    }


def summarise(predictions: pd.DataFrame) -> dict[str, float]:
    """Mean errors over tosses, with the standard error of the mean loss."""
    n = len(predictions)
    return {
        "n_tosses": n,
        "mean_loss": float(predictions["loss"].mean()) if n else np.nan,
        "sem_loss": float(predictions["loss"].std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan,
        **{name: float(predictions[name].mean()) if n else np.nan for name in _ERRORS},
    }
