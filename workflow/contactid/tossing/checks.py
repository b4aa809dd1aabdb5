"""Which of the tossing paper's printed numbers a run answers to, and why the others can't be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.comparison import Key, Reproduced, Tolerance, compare
from contactid.output.tables import read_csv, write_csv
from contactid.tossing.configuration import SIMULATOR

_TWIN = "synthetic twin stands in for the 4TU archive"
_OTHER_BODY = "made from other data than the paper's"
_TRAJECTORY = "section=V;parameters=trajectory"
_EXAMPLE = "Box006"

REASONS = {
    "": "not reproduced by this run: the paper's archive is not part of it, or Algoryx Dynamics would be needed",
    "text": "not reproduced by this run: its part of the study is switched off, or Algoryx Dynamics would be needed",
}

Tables = Mapping[str, pd.DataFrame]


def check(
    published: str, tables: Sequence[str], names: Sequence[str], paper_schemes: dict[str, str], checks: str
) -> None:
    """Hold the printed numbers of a file against those of the study's tables, and write the verdicts.

    ``tables`` are files, ``names`` theirs; ``paper_schemes`` as in :func:`reproduced_numbers`.
    """
    ours = reproduced_numbers(dict(zip(names, map(read_csv, tables), strict=True)), paper_schemes)
    write_csv(compare("tossing", read_csv(published), ours, REASONS), checks)


def reproduced_numbers(tables: Tables, paper_schemes: Mapping[str, str]) -> dict[Key, Reproduced]:
    """Our numbers by the printed number they answer to.

    Parameters
    ----------
    tables
        The study's tables by name; a part that the run leaves out has none.
    paper_schemes
        The paper's own scheme for ``trajectory`` and ``velocity`` parameters, and for ``no_restitution``.
    """
    numbers: dict[Key, Reproduced] = {}
    for row in tables["tab01_object_properties"].to_dict("records"):
        numbers |= _homogeneous_inertia(row)
    numbers |= _parameters(tables["tab02_identified_parameters"], paper_schemes)
    for artefact, name, kinds in (
        ("tab03", "tab03_rest_pose_errors", ("trajectory", "velocity")),
        ("tab04", "tab04_rest_pose_errors_without_restitution", ("no_restitution",)),
    ):
        for kind in kinds:
            if kind in paper_schemes:
                numbers |= _rest_errors(artefact, _ours(tables[name], paper_schemes[kind]))
    numbers |= _ranges(_ours(tables["tab03_rest_pose_errors"], paper_schemes["trajectory"]), tables)
    numbers |= _restitution_to_zero(tables, paper_schemes)
    return numbers | _sensitivity(tables) | _impacts(tables, paper_schemes) | _moving(tables, paper_schemes)


def _parameters(table: pd.DataFrame, paper_schemes: Mapping[str, str]) -> dict[Key, Reproduced]:
    """Table II, and what section IV says of Box006."""
    numbers: dict[Key, Reproduced] = {}
    for kind in ("trajectory", "velocity"):
        for row in _ours(table, paper_schemes.get(kind, "")).to_dict("records"):
            condition = f"object={row['object']};parameters={kind};simulator=matlab"
            for quantity in ("friction_mu", "restitution_e_n"):
                note = _why(row) + f"; 95 % interval {row[f'{quantity}_low']:.3g} to {row[f'{quantity}_high']:.3g}"
                ours = _beside(row[quantity], note)
                numbers["tab02", quantity, condition] = ours
                if kind == "velocity" and row["object"] == _EXAMPLE:
                    in_text = f"section=IV-A;object={_EXAMPLE};simulator=matlab"
                    numbers["text", f"velocity_{quantity}_in_text", in_text] = ours
            if kind == "trajectory" and row["object"] == _EXAMPLE:
                numbers["text", "restitution_insensitive_below", f"section=IV-B;object={_EXAMPLE}"] = _beside(
                    row["restitution_flat_to"],
                    _why(row) + "; largest e_N whose mean loss is within 2 % of the optimum",
                )
    return numbers


def _rest_errors(artefact: str, table: pd.DataFrame) -> dict[Key, Reproduced]:
    """Tables III and IV."""
    numbers: dict[Key, Reproduced] = {}
    for row in table.to_dict("records"):
        condition = f"object={row['object']};parameters={row['parameters']};simulator=matlab"
        for quantity in (
            "position_error_mean_cm", "position_error_std_cm", "rotation_error_mean_deg", "rotation_error_std_deg",
        ):  # fmt: skip
            numbers[artefact, quantity, condition] = _beside(
                row[quantity], f"{_why(row)}; {row['n_tosses']:.0f} tosses"
            )
    return numbers


def _ranges(rest: pd.DataFrame, tables: Tables) -> dict[Key, Reproduced]:
    """Section V's ranges of mean errors over the boxes."""
    if rest.empty:
        return {}
    sizes = tables["tab01_object_properties"].set_index("object")[["length_mm", "width_mm", "height_mm"]].max(axis=1)
    share = 1e3 * rest["position_error_mean_cm"] / rest["object"].map(sizes)
    note = _why(rest.iloc[0].to_dict()) + "; over the run's objects"
    numbers: dict[Key, Reproduced] = {}
    for name, values in (
        ("position_error_cm", rest["position_error_mean_cm"]),
        ("position_error_pct", share),
        ("rotation_error_deg", rest["rotation_error_mean_deg"]),
    ):
        for which, value in (("least", values.min()), ("largest", values.max())):
            numbers["text", f"{which}_{name}", _TRAJECTORY] = _beside(value, note)
    least = numbers["text", "least_rotation_error_deg", _TRAJECTORY]
    return numbers | {("text", "least_rotation_error_deg", "section=VII;parameters=trajectory"): least}


def _restitution_to_zero(tables: Tables, paper_schemes: Mapping[str, str]) -> dict[Key, Reproduced]:
    """Table IV over Table III: the paper calls them very similar."""
    kept = _ours(tables["tab03_rest_pose_errors"], paper_schemes["trajectory"]).set_index("object")
    none = _ours(tables["tab04_rest_pose_errors_without_restitution"], paper_schemes["no_restitution"])
    none = none.set_index("object")
    if kept.empty or none.empty:
        return {}
    numbers: dict[Key, Reproduced] = {}
    for error, column in (("position", "position_error_mean_cm"), ("rotation", "rotation_error_mean_deg")):
        ratio = float((none[column] / kept[column]).mean())
        numbers["text", "error_without_over_with_restitution", f"section=VI;error={error}"] = _beside(
            ratio, _why(kept.iloc[0].to_dict()) + "; mean over the run's objects"
        )
    return numbers


def _sensitivity(tables: Tables) -> dict[Key, Reproduced]:
    """Section VI's statements: half the range of rest poses, mean over tosses and objects."""
    table = tables["ext_sensitivity"]
    numbers: dict[Key, Reproduced] = {}
    for parameter, part in table[table["subset"] == "all"].groupby("parameter"):
        for quantity, printed in (
            ("position_mm", "rest_position_change_mm"),
            ("position_pct", "rest_position_change_pct"),
            ("rotation_deg", "rest_orientation_change_deg"),
        ):
            rows = part[part["quantity"] == quantity]
            numbers["text", printed, f"section=VI;changed={parameter};by=0.05"] = _beside(
                rows["mean"].mean(),
                _why(rows.iloc[0].to_dict()) + f"; mean over {int(rows['n_tosses'].sum())} tosses, median "
                f"{rows['median'].mean():.3g}",
            )
    return numbers


def _impacts(tables: Tables, paper_schemes: Mapping[str, str]) -> dict[Key, Reproduced]:
    """Section IV-A: where friction no longer matters, how long an impact takes; and e_T of section IV."""
    numbers: dict[Key, Reproduced] = {}
    if "ext_velocity_identification" in tables:
        table = tables["ext_velocity_identification"]
        for row in table[table["scheme"] == paper_schemes["velocity"]].to_dict("records"):
            if row["object"] == _EXAMPLE and np.isfinite(row["friction_flat_from"]):
                numbers["text", "friction_insensitive_above", f"section=IV-A;object={_EXAMPLE}"] = _beside(
                    row["friction_flat_from"],
                    _why(row) + "; from there on the mean loss stays within 1 %",
                )
    if "ext_impact_mpec" in tables:
        table = tables["ext_impact_mpec"]
        rows = table[table["form"] == "disk, e_T free"]
        highest = float(rows["restitution_e_t_high"].max())
        numbers["text", "restitution_e_t", "section=IV"] = _beside(
            rows["restitution_e_t"].mean(),
            _why(rows.iloc[0].to_dict()) + f"; mean; the largest upper end of a 95 % interval is {highest:.2g}",
        )
    if "impacts" in tables:
        kept = tables["impacts"][tables["impacts"]["kept"].astype(bool)]
        # a central difference needs one pose more on either side than the motion fitted to poses
        duration = (kept["first_post"] - kept["last_pre"] + 2).median()
        numbers["text", "impact_duration_samples", "section=IV-A;figure=6"] = _beside(
            duration, f"another impact than the paper's; median over {len(kept)} impacts"
        )
    return numbers


def _moving(tables: Tables, paper_schemes: Mapping[str, str]) -> dict[Key, Reproduced]:
    """Section V: errors with a moving conveyor are of the same order of magnitude."""
    table = tables["ext_moving_surface"]
    rows = table[table["scheme"] == paper_schemes["trajectory"]]
    if rows.empty:
        return {}
    row = rows.iloc[-1].to_dict()  # over all datasets, where there are several
    note = _why(row) + f"; {row['moving_n']:.0f} tosses on a moving surface, {row['still_n']:.0f} on one at rest"
    ratio = float(row["ratio_rest_position_error_cm"])
    return {("text", "moving_over_still_position_error", "section=V;surface=moving"): _beside(ratio, note)}


def _ours(table: pd.DataFrame, scheme: str) -> pd.DataFrame:
    rows = table[(table["simulator"] == SIMULATOR) & (table["scheme"] == scheme)]
    return rows[rows["subset"] == "all"] if "subset" in rows else rows


def _beside(value: Any, note: str) -> Reproduced:
    """A number that stands beside the printed one, but was made from other data; ``note`` says which."""
    return Reproduced(float(value), comparable=False, note=note)


def _why(row: Mapping[Any, Any]) -> str:
    return _TWIN if row["data"] == "synthetic twin" else _OTHER_BODY


def _homogeneous_inertia(row: Mapping[Any, Any]) -> dict[Key, Reproduced]:
    """The inertia that printed size and mass imply, against the printed inertia.

    Size is printed to 1 mm and mass to 1 g, so the implied inertia is known to the sum of their effects.
    """
    size = np.array([row["length_mm"], row["width_mm"], row["height_mm"]])
    mass = float(row["mass_kg"])
    numbers: dict[Key, Reproduced] = {}
    for axis, k in enumerate("xyz"):
        others = np.delete(size, axis)
        rounding = mass / 6.0 * 0.5 * float(others.sum()) + 0.0005 * float((others**2).sum()) / 12.0 + 0.5
        numbers["tab01", f"inertia_{k}{k}_kg_mm2", f"object={row['object']}"] = Reproduced(
            float(row[f"homogeneous_inertia_{k}{k}_kg_mm2"]),
            Tolerance(rounding, "rounding of the printed size, mass and inertia"),
            note="inertia of a homogeneous box of the printed size and mass",
        )
    return numbers
