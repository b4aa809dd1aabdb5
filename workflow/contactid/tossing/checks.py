"""Which of the tossing paper's printed numbers a run answers to, and why the others can't be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.comparison import INPUT, PRINT, Key, Reproduced, compare
from contactid.output.tables import read_csv, write_csv
from contactid.sources.origin import Origin, read_origins
from contactid.tossing.claims import ERRORS, EXAMPLE, SIZE, Numbers, from_print, stated
from contactid.tossing.configuration import BOXES, SIMULATOR

Tables = Mapping[str, pd.DataFrame]

_SAMPLE = 275  # of the impact of figures 5 to 8
#: What printed numbers were made from: the ends of the registry's names, by quantity or else by artefact.
_ROLES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        (
            "impact_duration_samples", "friction_insensitive_above", "cost_shows_an_optimum",
            "cost_near_zero_at_optimum", "velocity_friction_mu_in_text", "velocity_restitution_e_n_in_text",
            "restitution_e_t",
        ),
        ("drops",),
    ),
    "parameters_differ_by_criterion": ("drops", "trajectories"),
    "trajectory_parameters_better": ("drops", "trajectories", "validation"),
    "n_tosses": ("validation",),
    **dict.fromkeys(("restitution_insensitive_below", "tab01", "tab02"), ("trajectories",)),
    **dict.fromkeys(("tab03", "tab04", "fig14", "text"), ("trajectories", "validation")),
}  # fmt: skip
#: What no run computes yet, by quantity.
_NOT_COMPUTED = {
    "smaller_steps_change_nothing": "the velocity-based loss on a finer grid with the paper's own stepping",
    "costs_of_boxes_have_similar_shapes": "the likeness of the boxes' trajectory-based losses over the grid",
    "sticking_impacts_have_larger_errors": "rest-pose errors of tosses with sticking impacts and without",
}
_ON_TWINS = "trajectory_parameters_better_on_twins"
#: Statements on what the model does, which tosses of a twin can refute.
_OF_THE_MODEL = (
    _ON_TWINS,
    "rest_position_sensitive_to_friction_and_orientation_not", "rest_pose_insensitive_to_restitution",
    "rest_pose_insensitive_below_a_threshold",
)  # fmt: skip


def check(
    published: str,
    tables: Sequence[str],
    names: Sequence[str],
    cards: Sequence[str],
    archives: Mapping[str, str],
    paper_schemes: dict[str, str],
    checks: str,
) -> None:
    """Hold the printed numbers of a file against those of the study's tables, and write the verdicts.

    ``tables`` are files, ``names`` theirs, ``cards`` those of the datasets; the others as in
    :func:`reproduced_numbers`.
    """
    printed = read_csv(published)
    found = dict(zip(names, map(read_csv, tables), strict=True))
    ours = reproduced_numbers(printed, found, paper_schemes, read_origins(cards), archives)
    write_csv(compare("tossing", printed, ours, {}), checks)


def reproduced_numbers(
    published: pd.DataFrame,
    tables: Tables,
    paper_schemes: Mapping[str, str],
    origins: Mapping[str, Origin],
    archives: Mapping[str, str],
) -> dict[Key, Reproduced]:
    """Our number, or what is missing of it, for every printed one.

    What is made from data is compared only where all of these are the paper's own recordings.

    Parameters
    ----------
    published
        The printed values, see :func:`contactid.output.comparison.compare`.
    tables
        The study's tables by name; a part that the run leaves out has none.
    paper_schemes
        The paper's own scheme for ``trajectory`` and ``velocity`` parameters, and for ``no_restitution``.
    origins
        Of the run's datasets, by name.
    archives
        DOI of every archive of the study, by the dataset's name.
    """
    rows = {(row["artefact"], row["quantity"], row["condition"]): row for row in published.to_dict("records")}
    found = from_print({key: float(row["value"]) for key, row in rows.items()})
    for key, made in _from_data(tables, paper_schemes):
        if key in rows:
            ours = _judged(made, rows[key], origins, archives)
            if key not in found or (found[key].missing and not ours.missing):  # of several, the paper's own
                found[key] = ours
    for key in rows.keys() - found.keys():
        found[key] = Reproduced(np.nan, "", missing=_lacking(rows[key], archives))
    return found


def _judged(
    made: Reproduced, printed: Mapping[Any, Any], origins: Mapping[str, Origin], archives: Mapping[str, str]
) -> Reproduced:
    """The one rule: a number is compared where every dataset behind it is the paper's own, and of every box.

    A statement on what the model does can be refuted by tosses of a twin, too; it says nothing of the recordings.
    """
    names = made.data.split(", ")
    if made.basis != PRINT and any(_made_with(printed, origins[name]) for name in names):
        made = replace(made, basis=INPUT)
    told = dict.fromkeys(origins[name].told for name in names)
    made = replace(made, note="; ".join(filter(None, (made.note, f"data: {', '.join(told)}"))))
    if printed["quantity"] in _OF_THE_MODEL and list(told) == ["synthetic"]:
        return made
    complete = "object=" in printed["condition"] or set(_needed(printed, archives)) <= set(names)
    if complete and all(origins[name].of_the_paper for name in names):
        return made
    return replace(made, missing=_lacking(printed, archives))


def _made_with(printed: Mapping[Any, Any], twin: Origin) -> bool:
    """Whether a dataset was made with a printed number: what is identified on it isn't found without that number."""
    return twin.rests_on(str(printed["artefact"]), str(printed["quantity"]), str(printed["condition"]))


def _lacking(printed: Mapping[Any, Any], archives: Mapping[str, str]) -> str:
    """What a run lacks without a number of ours that could be held against a printed one."""
    quantity, where, condition = printed["quantity"], printed["where"], printed["condition"]
    of = f" of {_boxes(condition)[0]}" if "object=" in condition else ""
    if "simulator=algoryx" in condition:
        return f"{quantity}{of} by Algoryx Dynamics ({where}), which is licensed software"
    if quantity in _NOT_COMPUTED:
        return f"{_NOT_COMPUTED[quantity]} ({where}), which no run computes"
    if quantity == _ON_TWINS:
        return f"rest poses of synthetic twins predicted with the printed parameters of each kind ({where})"
    needed = ", ".join(f"{name} {archives[name]}" for name in _needed(printed, archives))
    return f"{quantity}{of} ({where}) from {needed}"


def _needed(printed: Mapping[Any, Any], archives: Mapping[str, str]) -> list[str]:
    """The registry's names of the paper's own datasets behind a printed number."""
    roles = _ROLES.get(printed["quantity"]) or _ROLES[printed["artefact"]]
    if "parameters=velocity" in printed["condition"]:
        roles = tuple({"trajectories": "drops"}.get(role, role) for role in roles)
    names = [f"iam_{box.lower()}_{role}" for box in _boxes(printed["condition"]) for role in roles]
    # a box without an archive of drops is identified on the impacts of its trajectories
    return list(dict.fromkeys(name if name in archives else name.replace("drops", "trajectories") for name in names))


def _boxes(condition: str) -> tuple[str, ...]:
    """The boxes that a printed number is about: the one that it names, the example of the figures, or all."""
    named = [item.removeprefix("object=") for item in condition.split(";") if item.startswith("object=")]
    return tuple(named) or ((EXAMPLE,) if "figure=" in condition else BOXES)


def _from_data(tables: Tables, paper_schemes: Mapping[str, str]) -> Numbers:
    """What the run's tables give, whatever data they are made from."""
    trajectory, velocity = paper_schemes["trajectory"], paper_schemes.get("velocity", "")
    identified, rest = tables["tab02_identified_parameters"], tables["tab03_rest_pose_errors"]
    kept, from_impacts = _ours(rest, trajectory), _ours(rest, velocity)
    none = _ours(tables["tab04_rest_pose_errors_without_restitution"], paper_schemes["no_restitution"])
    of_paper = pd.concat([_ours(identified, trajectory), _ours(identified, velocity)])
    behind = _behind(kept)
    return chain(
        _bodies(tables["tab01_object_properties"]),
        _parameters(of_paper),
        _disagreement(of_paper, behind, _behind(from_impacts)),
        *(_rest_errors(artefact, table, tables["ext_no_impact"])
          for artefact, table in (("tab03", kept), ("tab03", from_impacts), ("tab04", none))),
        _counts(kept),
        _ranges(kept, tables["tab01_object_properties"]),
        _restitution_to_zero(kept, none),
        _criteria(kept, from_impacts),
        _criteria_on_twins(tables.get("ext_printed_parameters", pd.DataFrame())),
        _sensitivity(tables["ext_sensitivity"], behind),
        _impacts(tables, velocity),
        _moving(tables["ext_moving_surface"], trajectory, behind),
    )  # fmt: skip


def _bodies(table: pd.DataFrame) -> Numbers:
    """Table I: size and mass as the recordings have them."""
    for row in table.to_dict("records"):
        for name in (*SIZE, "mass_kg"):
            yield ("tab01", name, f"object={row['object']}"), Reproduced(float(row[name]), data=row["dataset"])


def _parameters(table: pd.DataFrame) -> Numbers:
    """Table II, and what section IV says of Box006."""
    for row in table.to_dict("records"):
        kind = row["parameters"]
        condition = f"object={row['object']};parameters={kind};simulator=matlab"
        for name in ("friction_mu", "restitution_e_n"):
            note = f"95 % interval {row[f'{name}_low']:.3g} to {row[f'{name}_high']:.3g}"
            ours = Reproduced(float(row[name]), data=row["identified_on"], note=note)
            yield ("tab02", name, condition), ours
            if kind == "velocity" and row["object"] == EXAMPLE:
                yield ("text", f"velocity_{name}_in_text", f"section=IV-A;object={EXAMPLE};simulator=matlab"), ours
        if kind == "trajectory" and row["object"] == EXAMPLE:
            note = "largest e_N whose mean loss is within 2 % of the optimum"
            below = Reproduced(float(row["restitution_flat_to"]), data=row["identified_on"], note=note)
            yield ("fig12", "restitution_insensitive_below", f"section=IV-B;object={EXAMPLE}"), below


def _disagreement(identified: pd.DataFrame, trajectory: Mapping[str, str], velocity: Mapping[str, str]) -> Numbers:
    """The abstract: both criteria lead to different values, as identified for the prediction of one dataset."""
    names = ["friction_mu", "restitution_e_n"]
    values = identified.drop_duplicates(["identified_on", "scheme"]).set_index(["identified_on", "parameters"])[names]
    both = [(velocity[name], trajectory[name]) for name in velocity if name in trajectory]
    if both:
        found = {place: list(row) for place, row in zip(values.index, values.to_numpy(), strict=True)}
        pairs = [[*found[one, "velocity"], *found[other, "trajectory"]] for one, other in both]
        what = "text", "parameters_differ_by_criterion", "section=abstract;simulator=matlab"
        yield what, stated(what[1], pairs, _joined(*both), note="by more than a step of the grid in every box")


def _rest_errors(artefact: str, table: pd.DataFrame, no_impact: pd.DataFrame) -> Numbers:
    """Tables III and IV, beside the errors if every toss ended where the box first touches the surface."""
    landed = no_impact.set_index("dataset")
    for row in table.to_dict("records"):
        condition = f"object={row['object']};parameters={row['parameters']};simulator=matlab"
        note = f"{row['n_tosses']:.0f} tosses"
        for error in (name.format(of) for name in ERRORS.values() for of in ("mean", "std")):
            naive = float(landed.loc[row["dataset"], error])
            yield (
                (artefact, error, condition),
                Reproduced(
                    float(row[error]),
                    data=_joined([row["identified_on"]], [row["dataset"]]),
                    naive={} if np.isnan(naive) else {"no impact": naive},
                    is_error=True,
                    note=note,
                ),
            )


def _counts(rest: pd.DataFrame) -> Numbers:
    """How many tosses of each box Table III is about."""
    for row in rest.to_dict("records"):
        yield ("tab03", "n_tosses", f"object={row['object']}"), Reproduced(float(row["n_tosses"]), data=row["dataset"])


def _ranges(rest: pd.DataFrame, properties: pd.DataFrame) -> Numbers:
    """Section V's and VII's ranges of mean errors over the boxes."""
    if rest.empty:
        return
    sizes = properties.drop_duplicates("object").set_index("object")[list(SIZE)].max(axis=1)
    share = 1e3 * rest["position_error_mean_cm"] / rest["object"].map(sizes)
    data = _joined(rest["identified_on"], rest["dataset"])
    for name, values in (
        ("position_error_cm", rest["position_error_mean_cm"]),
        ("position_error_pct", share),
        ("rotation_error_deg", rest["rotation_error_mean_deg"]),
    ):
        for which, value in (("least", values.min()), ("largest", values.max())):
            condition = "section=V;parameters=trajectory"
            yield ("tab03", f"{which}_{name}", condition), Reproduced(float(value), data=data)
    again = Reproduced(float(rest["rotation_error_mean_deg"].min()), data=data)
    yield ("text", "least_rotation_error_deg", "section=VII;parameters=trajectory"), again


def _restitution_to_zero(kept: pd.DataFrame, none: pd.DataFrame) -> Numbers:
    """Table IV over Table III. Without any impact e_N wouldn't matter either, and the ratio would be 1."""
    if kept.empty or none.empty:
        return
    data = _joined(kept["identified_on"], kept["dataset"])
    for error, name in ERRORS.items():
        column = name.format("mean")
        ratio = none.set_index("dataset")[column] / kept.set_index("dataset")[column]
        what = "tab04", "error_without_over_with_restitution", f"section=VI;error={error}"
        ours = Reproduced(float(ratio.mean()), data=data, naive={"no impact": 1.0}, note="mean over the boxes")
        yield what, ours


def _criteria(trajectory: pd.DataFrame, velocity: pd.DataFrame) -> Numbers:
    """Section V: whether the parameters from trajectories predict the rest better than those from impacts."""
    both = velocity.merge(trajectory, on="dataset", suffixes=("", "_other"))
    if both.empty:
        return
    data = _joined(both["identified_on"], both["identified_on_other"], both["dataset"])
    for error, count in (("position", "n_tosses"), ("rotation", "n_same_face")):
        names = [ERRORS[error].format("mean"), ERRORS[error].format("std"), count]
        rows = both[names + [f"{name}_other" for name in names]].to_numpy().tolist()
        what = "tab03", "trajectory_parameters_better", f"section=V;error={error};simulator=matlab"
        note = "the mean over boxes is smaller by more than two standard errors"
        yield what, stated(what[1], rows, data, no_impact=_same_twice(rows), note=note)


def _criteria_on_twins(table: pd.DataFrame) -> Numbers:
    """The same of tosses that are simulated with the printed values alone: whether Tables II and III agree."""
    if table.empty or not (table["data"] == "synthetic twin").any():
        return
    ours = table[table["data"] == "synthetic twin"].set_index(["dataset", "parameters"])
    data = list(dict.fromkeys(ours.index.get_level_values("dataset")))
    for error, count in (("position", "n_tosses"), ("rotation", "n_same_face")):
        names = [ERRORS[error].format("mean"), ERRORS[error].format("std"), count]
        of_kinds = [[(name, kind) for kind in ("velocity", "trajectory")] for name in data]
        rows = [ours[names].loc[both].to_numpy(dtype=float).ravel().tolist() for both in of_kinds]
        what = "tab03", _ON_TWINS, f"section=V;error={error};simulator=matlab"
        told = ", ".join(f"{row[0]:.3g} and {row[3]:.3g}" for row in rows)
        note = f"twins follow Table II's trajectory-based values; both kinds' mean errors by box: {told}"
        yield what, stated(what[1], rows, _joined(data), basis=PRINT, no_impact=_same_twice(rows), note=note)


def _same_twice(rows: Sequence[Sequence[float]]) -> list[list[float]]:
    """Errors without any impact are the same, whatever the parameters."""
    return [[*row[:3], *row[:3]] for row in rows]


def _sensitivity(table: pd.DataFrame, behind: Mapping[str, str]) -> Numbers:
    """Section VI's numbers and statements: half the range of rest poses, mean over tosses and boxes."""
    every = table[table["subset"] == "all"]
    data = _joined(every["dataset"].map(behind), every["dataset"])
    mean: dict[tuple[str, str], float] = {}
    quantities = {
        "position_mm": "rest_position_change_mm",
        "position_pct": "rest_position_change_pct",
        "rotation_deg": "rest_orientation_change_deg",
    }
    for (parameter, quantity), part in every.groupby(["parameter", "quantity"]):
        if quantity in quantities:
            mean[str(parameter), str(quantity)] = value = float(part["mean"].mean())
            ours = Reproduced(value, data=data, note=f"mean over {part['n_tosses'].sum()} tosses")
            yield ("fig14", quantities[str(quantity)], f"section=VI;changed={parameter};by=0.05"), ours
    change = {
        (parameter, kind): factor * mean[parameter, quantity]
        for parameter in ("friction_mu", "restitution_e_n")
        for kind, quantity, factor in (("position", "position_pct", 0.01), ("orientation", "rotation_deg", np.pi / 180))
    }
    by_friction = {kind: change["friction_mu", kind] for kind in ("position", "orientation")}
    by_restitution = {kind: change["restitution_e_n", kind] for kind in ("position", "orientation")}
    for statement, given in (
        ("rest_position_sensitive_to_friction_and_orientation_not", by_friction),
        ("rest_pose_insensitive_to_restitution", {"by friction": by_friction["position"], **by_restitution}),
    ):
        told = ", ".join(f"{name} {value:.2g}" for name, value in given.items())
        note = f"changes as shares of the largest dimension and in rad, mean over boxes: {told}"
        nothing = dict.fromkeys(given, 0.0)
        yield ("fig14", statement, "section=VI"), stated(statement, given, data, no_impact=nothing, note=note)
    thresholds = every.groupby("dataset")["restitution_insensitive_below"].first().tolist()
    note = "e_N up to which the median rest position stays within 5 % of the largest dimension: "
    what = "text", "rest_pose_insensitive_below_a_threshold", "section=VII"
    told = ", ".join(f"{value:g}" for value in thresholds)
    yield what, stated(what[1], thresholds, data, no_impact=[1.0] * len(thresholds), note=note + told)


def _impacts(tables: Tables, velocity: str) -> Numbers:
    """Section IV-A: what the velocity-based loss looks like, how long an impact takes; and e_T of section IV."""
    of_example: list[str] = []
    if "ext_velocity_identification" in tables:
        table = tables["ext_velocity_identification"]
        for row in table[(table["scheme"] == velocity) & (table["object"] == EXAMPLE)].to_dict("records"):
            of_example.append(row["dataset"])
            yield from _velocity_loss(row)
    if "ext_impact_mpec" in tables:
        table = tables["ext_impact_mpec"]
        rows = table[table["form"] == "disk, e_T free"]
        note = f"mean; the largest upper end of a 95 % interval is {float(rows['restitution_e_t_high'].max()):.2g}"
        ours = Reproduced(float(rows["restitution_e_t"].mean()), data=_joined(rows["dataset"]), note=note)
        yield ("text", "restitution_e_t", "section=IV"), ours
    for name in of_example if "impacts" in tables else ():
        table = tables["impacts"]
        impacts = table[table["kept"].astype(bool) & (table["dataset"] == name)]
        shown = impacts[(impacts["sample"] - _SAMPLE).abs() <= 1]  # counted from 0 or from 1
        # a central difference needs one pose more on either side than the motion fitted to poses
        duration = (shown["first_post"] - shown["last_pre"] + 2).median()
        lacks = "" if len(shown) else f"an impact at sample {_SAMPLE} of {name}, which is figure 6's"
        note = f"median of {len(shown)} impacts of {EXAMPLE} at sample {_SAMPLE}"
        ours = Reproduced(float(duration), data=name, missing=lacks, note=note)
        yield ("fig06", "impact_duration_samples", "section=IV-A;figure=6"), ours


def _velocity_loss(row: Mapping[Any, Any]) -> Numbers:
    """What sections IV-A and V say of the velocity-based loss of Box006."""
    flat_from = float(row["friction_flat_from"])
    found = "from there on" if np.isfinite(flat_from) else "the grid has no friction from which on"
    ours = Reproduced(flat_from, data=row["dataset"], note=f"{found} the mean loss stays within 1 %")
    yield ("fig09", "friction_insensitive_above", f"section=IV-A;object={EXAMPLE}"), ours
    intervals = [(row[f"{name}_low"], row[f"{name}_high"]) for name in ("friction_mu", "restitution_e_n")]
    what = "fig09", "cost_shows_an_optimum", f"section=IV-A;object={EXAMPLE};simulator=matlab"
    yield what, stated(what[1], intervals, row["dataset"], no_impact=[(0.0, 1.0)] * 2, note="by 95 % intervals")
    losses = row["identification_loss"], row["loss_without_contact"]
    what = "fig09", "cost_near_zero_at_optimum", f"section=V;object={EXAMPLE};simulator=matlab"
    note = f"{losses[0]:.2g} m/s, and {losses[1]:.2g} without any impact"
    yield what, stated(what[1], losses, row["dataset"], no_impact=(losses[1], losses[1]), note=note)


def _moving(table: pd.DataFrame, scheme: str, behind: Mapping[str, str]) -> Numbers:
    """Section V: errors with a moving conveyor are of the same order of magnitude."""
    rows = table[table["scheme"] == scheme]
    names = [name for name in rows["dataset"] if name in behind]
    for row in rows.tail(1).to_dict("records"):  # over all datasets, if there are several
        pair = row["moving_rest_position_error_cm"], row["still_rest_position_error_cm"]
        note = f"{row['moving_n']:.0f} tosses on a moving surface, {row['still_n']:.0f} on one at rest"
        note = f"{pair[0]:.3g} and {pair[1]:.3g} cm; {note}"
        what = "tab03", "moving_over_still_position_error", "section=V;surface=moving"
        yield what, stated(what[1], [pair], _joined([behind[name] for name in names], names), note=note)


def _ours(table: pd.DataFrame, scheme: str) -> pd.DataFrame:
    rows = table[(table["simulator"] == SIMULATOR) & (table["scheme"] == scheme)]
    return rows[rows["subset"] == "all"] if "subset" in rows else rows


def _behind(rest: pd.DataFrame) -> dict[str, str]:
    """By predicted dataset the one that its parameters were identified on."""
    return dict(zip(rest["dataset"], rest["identified_on"], strict=True))


def _joined(*names: Iterable[str]) -> str:
    """Names of datasets as a row has them."""
    return ", ".join(dict.fromkeys(chain(*names)))
