"""Which of the tossing paper's printed numbers a run answers to, and why the others can't be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.comparison import Key, Reproduced, Tolerance, compare
from contactid.output.tables import read_csv, write_csv
from contactid.tossing.configuration import SIMULATOR

_TWIN = "synthetic twin stands in for the 4TU archive"
_OTHER_BODY = "made from other data than the paper's"
_EXAMPLE = "Box006"

REASONS = {
    "": "not reproduced by this run: the paper's archive is not part of it, or Algoryx Dynamics would be needed",
    "text": "not reproduced by this run: its part of the study is switched off, or Algoryx Dynamics would be needed",
}

Tables = Mapping[str, pd.DataFrame]
Numbers = Iterator[tuple[Key, Reproduced]]


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
    trajectory = paper_schemes["trajectory"]
    rest = _ours(tables["tab03_rest_pose_errors"], trajectory)
    none = _ours(tables["tab04_rest_pose_errors_without_restitution"], paper_schemes["no_restitution"])
    from_impacts = _ours(tables["tab03_rest_pose_errors"], paper_schemes.get("velocity", ""))
    return dict(
        chain(
            _homogeneous_inertia(tables["tab01_object_properties"]),
            _parameters(tables["tab02_identified_parameters"], paper_schemes),
            _rest_errors("tab03", rest),
            _rest_errors("tab03", from_impacts),
            _rest_errors("tab04", none),
            _ranges(rest, tables["tab01_object_properties"]),
            _restitution_to_zero(rest, none),
            _sensitivity(tables["ext_sensitivity"]),
            _impacts(tables, paper_schemes),
            _moving(tables["ext_moving_surface"], trajectory),
        )
    )


def _parameters(table: pd.DataFrame, paper_schemes: Mapping[str, str]) -> Numbers:
    """Table II, and what section IV says of Box006."""
    for kind in ("trajectory", "velocity"):
        for row in _ours(table, paper_schemes.get(kind, "")).to_dict("records"):
            condition = f"object={row['object']};parameters={kind};simulator=matlab"
            for quantity in ("friction_mu", "restitution_e_n"):
                note = _why(row) + f"; 95 % interval {row[f'{quantity}_low']:.3g} to {row[f'{quantity}_high']:.3g}"
                ours = _beside(row[quantity], note)
                yield ("tab02", quantity, condition), ours
                if kind == "velocity" and row["object"] == _EXAMPLE:
                    in_text = f"section=IV-A;object={_EXAMPLE};simulator=matlab"
                    yield ("text", f"velocity_{quantity}_in_text", in_text), ours
            if kind == "trajectory" and row["object"] == _EXAMPLE:
                note = _why(row) + "; largest e_N whose mean loss is within 2 % of the optimum"
                below = _beside(row["restitution_flat_to"], note)
                yield ("text", "restitution_insensitive_below", f"section=IV-B;object={_EXAMPLE}"), below


def _rest_errors(artefact: str, table: pd.DataFrame) -> Numbers:
    """Tables III and IV."""
    for row in table.to_dict("records"):
        condition = f"object={row['object']};parameters={row['parameters']};simulator=matlab"
        note = f"{_why(row)}; {row['n_tosses']:.0f} tosses"
        for error in ("position_error_mean_cm", "position_error_std_cm", "rotation_error_mean_deg",
                      "rotation_error_std_deg"):  # fmt: skip
            yield (artefact, error, condition), _beside(row[error], note)


def _ranges(rest: pd.DataFrame, properties: pd.DataFrame) -> Numbers:
    """Section V's ranges of mean errors over the boxes."""
    if rest.empty:
        return
    sizes = properties.set_index("object")[["length_mm", "width_mm", "height_mm"]].max(axis=1)
    share = 1e3 * rest["position_error_mean_cm"] / rest["object"].map(sizes)
    note = _why(rest.iloc[0].to_dict()) + "; over the run's objects"
    for name, values in (
        ("position_error_cm", rest["position_error_mean_cm"]),
        ("position_error_pct", share),
        ("rotation_error_deg", rest["rotation_error_mean_deg"]),
    ):
        for which, value in (("least", values.min()), ("largest", values.max())):
            yield ("text", f"{which}_{name}", "section=V;parameters=trajectory"), _beside(value, note)
    again = _beside(rest["rotation_error_mean_deg"].min(), note)
    yield ("text", "least_rotation_error_deg", "section=VII;parameters=trajectory"), again


def _restitution_to_zero(kept: pd.DataFrame, none: pd.DataFrame) -> Numbers:
    """Table IV over Table III: the paper calls them very similar."""
    if kept.empty or none.empty:
        return
    note = _why(kept.iloc[0].to_dict()) + "; mean over the run's objects"
    for error, column in (("position", "position_error_mean_cm"), ("rotation", "rotation_error_mean_deg")):
        ratio = none.set_index("object")[column] / kept.set_index("object")[column]
        what = "text", "error_without_over_with_restitution", f"section=VI;error={error}"
        yield what, _beside(ratio.mean(), note)


def _sensitivity(table: pd.DataFrame) -> Numbers:
    """Section VI's statements: half the range of rest poses, mean over tosses and objects."""
    for parameter, part in table[table["subset"] == "all"].groupby("parameter"):
        for quantity, printed in (
            ("position_mm", "rest_position_change_mm"),
            ("position_pct", "rest_position_change_pct"),
            ("rotation_deg", "rest_orientation_change_deg"),
        ):
            rows = part[part["quantity"] == quantity]
            note = f"mean over {int(rows['n_tosses'].sum())} tosses, median {rows['median'].mean():.3g}"
            ours = _beside(rows["mean"].mean(), f"{_why(rows.iloc[0].to_dict())}; {note}")
            yield ("text", printed, f"section=VI;changed={parameter};by=0.05"), ours


def _impacts(tables: Tables, paper_schemes: Mapping[str, str]) -> Numbers:
    """Section IV-A: where friction no longer matters, how long an impact takes; and e_T of section IV."""
    if "ext_velocity_identification" in tables:
        table = tables["ext_velocity_identification"]
        of_example = table[(table["scheme"] == paper_schemes["velocity"]) & (table["object"] == _EXAMPLE)]
        for row in of_example[np.isfinite(of_example["friction_flat_from"])].to_dict("records"):
            note = _why(row) + "; from there on the mean loss stays within 1 %"
            ours = _beside(row["friction_flat_from"], note)
            yield ("text", "friction_insensitive_above", f"section=IV-A;object={_EXAMPLE}"), ours
    if "ext_impact_mpec" in tables:
        table = tables["ext_impact_mpec"]
        rows = table[table["form"] == "disk, e_T free"]
        highest = float(rows["restitution_e_t_high"].max())
        note = f"mean; the largest upper end of a 95 % interval is {highest:.2g}"
        ours = _beside(rows["restitution_e_t"].mean(), f"{_why(rows.iloc[0].to_dict())}; {note}")
        yield ("text", "restitution_e_t", "section=IV"), ours
    if "impacts" in tables:
        kept = tables["impacts"][tables["impacts"]["kept"].astype(bool)]
        # a central difference needs one pose more on either side than the motion fitted to poses
        duration = (kept["first_post"] - kept["last_pre"] + 2).median()
        ours = _beside(duration, f"another impact than the paper's; median over {len(kept)} impacts")
        yield ("text", "impact_duration_samples", "section=IV-A;figure=6"), ours


def _moving(table: pd.DataFrame, scheme: str) -> Numbers:
    """Section V: errors with a moving conveyor are of the same order of magnitude."""
    for row in table[table["scheme"] == scheme].tail(1).to_dict("records"):  # over all datasets, if there are several
        note = f"{row['moving_n']:.0f} tosses on a moving surface, {row['still_n']:.0f} on one at rest"
        ours = _beside(row["ratio_rest_position_error_cm"], f"{_why(row)}; {note}")
        yield ("text", "moving_over_still_position_error", "section=V;surface=moving"), ours


def _ours(table: pd.DataFrame, scheme: str) -> pd.DataFrame:
    rows = table[(table["simulator"] == SIMULATOR) & (table["scheme"] == scheme)]
    return rows[rows["subset"] == "all"] if "subset" in rows else rows


def _beside(value: Any, note: str) -> Reproduced:
    """A number that stands beside the printed one, but was made from other data; ``note`` says which."""
    return Reproduced(float(value), comparable=False, note=note)


def _why(row: Mapping[Any, Any]) -> str:
    return _TWIN if row["data"] == "synthetic twin" else _OTHER_BODY


def _homogeneous_inertia(table: pd.DataFrame) -> Numbers:
    """The inertia that printed size and mass imply, against the printed inertia.

    Size is printed to 1 mm and mass to 1 g, so the implied inertia is known to the sum of their effects.
    """
    for row in table.to_dict("records"):
        size = np.array([row["length_mm"], row["width_mm"], row["height_mm"]])
        mass = float(row["mass_kg"])
        for axis, k in enumerate("xyz"):
            others = np.delete(size, axis)
            rounding = mass / 6.0 * 0.5 * float(others.sum()) + 0.0005 * float((others**2).sum()) / 12.0 + 0.5
            yield (
                ("tab01", f"inertia_{k}{k}_kg_mm2", f"object={row['object']}"),
                Reproduced(
                    float(row[f"homogeneous_inertia_{k}{k}_kg_mm2"]),
                    Tolerance(rounding, "rounding of the printed size, mass and inertia"),
                    note="inertia of a homogeneous box of the printed size and mass",
                ),
            )
