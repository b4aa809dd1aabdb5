"""Which of the tossing paper's printed numbers a run answers to, and what the others lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.comparison import Key, Reproduced, Tolerance, compare, datasets_of
from contactid.output.statements import judge_statements
from contactid.output.tables import read_csv, write_csv
from contactid.output.verdicts import NEVER_PUBLISHED, PRINT, Lack
from contactid.sources.origin import read_origins
from contactid.tossing.claims import (
    ERRORS,
    PARAMETERS,
    SIMULATORS,
    Recordings,
    Tables,
    condition_of,
    of_scheme,
)
from contactid.tossing.configuration import BOXES

Numbers = Iterator[tuple[Key, Reproduced]]

_EXAMPLE = "Box006"
_SIZE = ("length_mm", "width_mm", "height_mm")
_FROM_PRINT = "from=printed_table"
_STEP = 0.05  # of the paper's grid
_IDENTIFIED, _REST = "tab02_identified_parameters", "tab03_rest_pose_errors"
_WITHOUT, _LOSSES = "tab04_rest_pose_errors_without_restitution", "ext_velocity_identification"
_BY_IMPACTS, _BY_TOSSES = (
    condition_of("{box}", kind, "matlab") for kind in ("velocity", "trajectory")
)
_UNPUBLISHED = "whose models of the boxes aren't published"
# Algoryx's, too
_PLOTTED_BOXES = {"tab02": (_EXAMPLE,), "text": (_EXAMPLE,), "tab03": ("Box005", _EXAMPLE)}
_PLOTTED_AS = "object={object};parameters={parameters};simulator={simulator}"
#: What columns of the run's tables answer to: table, kind of its scheme; artefact, condition,
#: quantities; columns.
_COLUMNS: tuple[tuple[str, str, str, str, Sequence[str], Sequence[str]], ...] = (
    ("tab01_object_properties", "", "tab01", "object={box}", [*_SIZE, "mass_kg"], [*_SIZE, "mass_kg"]),
    (_IDENTIFIED, "velocity", "tab02", _BY_IMPACTS, PARAMETERS, PARAMETERS),
    (_IDENTIFIED, "trajectory", "tab02", _BY_TOSSES, PARAMETERS, PARAMETERS),
    (_REST, "velocity", "tab03", _BY_IMPACTS, ERRORS, ERRORS),
    (_REST, "trajectory", "tab03", _BY_TOSSES, ERRORS, ERRORS),
    (_REST, "trajectory", "tab03", "object={box}", ["n_tosses"], ["n_tosses"]),
    (_WITHOUT, "no_restitution", "tab04", _BY_TOSSES, ERRORS, ERRORS),
    (_LOSSES, "velocity", "fig09", "section=IV-A;object={box}", ["friction_insensitive_above"], ["friction_flat_from"]),
    (_IDENTIFIED, "trajectory", "fig12", "section=IV-B;object={box}",
     ["restitution_insensitive_below"], ["restitution_flat_to"]),
    (_IDENTIFIED, "velocity", "text", "section=IV-A;object={box};simulator=matlab",
     [f"velocity_{name}_in_text" for name in PARAMETERS], PARAMETERS),
)  # fmt: skip
#: What a calculation with a table's columns answers to: the printed number; table, rows,
#: expression.
_CALCULATED = {
    ("text", "travelled_m", "section=IV-B"): ("ext_recorded_motion", "not moving", "travelled_m.mean()"),
    ("text", "sample_frequency_hz", "section=III"): ("ext_recorded_motion", "not moving", "sample_frequency_hz.mean()"),
    ("text", "restitution_e_t", "section=IV"): (
        "ext_impact_mpec", "form == 'disk, e_T free'", "restitution_e_t.mean()",
    ),
    # of the figures' sample, counted from 0 or from 1; a difference needs a pose more on either
    # side than a fit
    ("fig06", "impact_duration_samples", "section=IV-A;figure=6"): (
        "impacts", "kept and dataset.str.contains('box006') and abs(sample - 275) <= 1",
        "(first_post - last_pre + 2).median()",
    ),
    **{
        ("fig14", f"rest_{quantity}", f"section=VI;changed={parameter};by=0.05"): (
            "ext_sensitivity",
            f"parameter == '{parameter}' and quantity == '{column}'",
            "mean.mean()",
        )
        for parameter, (quantity, column) in product(PARAMETERS, {
            "position_change_mm": "position_mm", "position_change_pct": "position_pct",
            "orientation_change_deg": "rotation_deg",
        }.items())
    },
}  # fmt: skip
#: What the authors' plot data answer to: table, rows; artefact, condition, quantities; columns.
_PLOTTED: tuple[tuple[str, str, str, str, Sequence[str], Sequence[str]], ...] = (
    ("ext_plotted_costs", "", "tab02", _PLOTTED_AS, PARAMETERS, PARAMETERS),
    ("ext_plotted_costs", "parameters == 'velocity'", "text", "section=IV-A;object={object};simulator={simulator}",
     [f"velocity_{name}_in_text" for name in PARAMETERS], PARAMETERS),
    ("ext_plotted_costs", "parameters == 'velocity' and simulator == 'matlab'", "fig09", "section=IV-A;object={object}",
     ["friction_insensitive_above"], ["friction_flat_from"]),
    ("ext_plotted_costs", "parameters == 'trajectory' and simulator == 'matlab'", "fig12",
     "section=IV-B;object={object}", ["restitution_insensitive_below"], ["restitution_flat_to"]),
    ("ext_plotted_rest_poses", "", "tab03", _PLOTTED_AS, ERRORS, ERRORS),
    ("ext_plotted_rest_poses", "simulator == 'matlab'", "tab03", "object={object}", ["n_tosses"], ["n_tosses"]),
    ("ext_plotted_impact", "sample == 275", "fig06", "section=IV-A;figure=6", ["impact_duration_samples"],
     ["first_post - last_pre + 2"]),
)  # fmt: skip
#: Roles of the archives behind a printed number, by quantity or else by artefact; all others need
#: both.
_ROLES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("tab01", "tab02", "fig12"), ("trajectories",)),
    **dict.fromkeys(("fig06", "fig09", "restitution_e_t"), ("drops",)),
    **dict.fromkeys([f"velocity_{name}_in_text" for name in PARAMETERS], ("drops",)),
    "n_tosses": ("validation",),
}
#: What numbers are, by quantity.
_NOTES = {
    "friction_insensitive_above": "from there on the mean loss stays within 1 %, if there is such a friction",
    "restitution_insensitive_below": "largest e_N whose mean loss is within 2 % of the optimum",
    "impact_duration_samples": "median of the impacts of Box006 at sample 275",
    "travelled_m": "path of the box's centre from release to rest, mean over tosses on a conveyor at rest",
}


def check(
    published: str, ledger: str, tables: Sequence[str], names: Sequence[str], cards: Sequence[str],
    archives: Mapping[str, str], paper_schemes: Mapping[str, str], checks: str,
) -> None:  # fmt: skip
    """Hold the paper's printed numbers and statements against the study's tables, and write the
    verdicts.

    Parameters
    ----------
    published, ledger : files of the printed numbers and of the statements
    tables, names : files of the run's tables, and their names; a part that the run leaves out has
        none
    cards : files of the datasets' cards
    archives : DOI of every archive of the study, by the dataset's name
    paper_schemes : the paper's own scheme for ``trajectory``, ``velocity`` and ``no_restitution``
    checks : the file to write
    """
    printed, of_run = read_csv(published), dict(zip(names, map(read_csv, tables), strict=True))
    origins = read_origins(cards)
    rest = of_scheme(of_run[_REST], paper_schemes["trajectory"])
    recordings = Recordings(
        origins, archives, dict(zip(rest["dataset"], rest["identified_on"], strict=True))
    )
    rows = {
        (row["artefact"], row["quantity"], row["condition"]): row
        for row in printed.to_dict("records")
    }
    values = {key: float(row["value"]) for key, row in rows.items()}
    made = chain(
        _from_print(values), _from_data(of_run, paper_schemes, recordings), _from_plots(of_run)
    )
    ours = _compared(rows, made, recordings)
    named = {"printed": values, "recordings": recordings, "schemes": paper_schemes}
    numbers = compare("tossing", printed, ours, {}, origins)
    statements = judge_statements("tossing", ledger, of_run, named, origins)
    write_csv(pd.concat([numbers, statements], ignore_index=True), checks)


def _compared(
    rows: Mapping[Key, Any], numbers: Numbers, recordings: Recordings
) -> dict[Key, Reproduced]:
    """Our number, or what is missing of it, for every printed one.

    What is made from data is compared only where all of these are the paper's own recordings.
    """
    ours: dict[Key, Reproduced] = {}
    for key, made in numbers:
        if key not in rows:
            continue  # of an object that isn't the paper's
        # print needs no recordings
        if made.basis != PRINT:
            lack = _lack(rows[key], made.data, recordings)
            note = recordings.note(made.data, _NOTES.get(key[1], ""))
            made = replace(made, lack=lack, note=note)
        if key not in ours or (ours[key].lack and not made.lack):  # of several, the paper's own
            ours[key] = made
    absent = {key: _lack(row, "", recordings) for key, row in rows.items() if key not in ours}
    return ours | {key: Reproduced(np.nan, "", lack=lack) for key, lack in absent.items()}


def _lack(printed: Mapping[Any, Any], data: str, recordings: Recordings) -> Lack | None:
    """What keeps a number that was made from ``data`` from being held against a printed one."""
    quantity, where, condition = printed["quantity"], printed["where"], printed["condition"]
    named = [
        item.removeprefix("object=") for item in condition.split(";") if item.startswith("object=")
    ]
    what = f"{quantity} of {named[0]} ({where})" if named else f"{quantity} ({where})"
    if "simulator=algoryx" in condition:
        if data and all(recordings.origins[name].of_the_paper for name in datasets_of(data)):
            return None  # the authors' own
        plotted = named[0] in _PLOTTED_BOXES.get(printed["artefact"], ())
        words = "of which the authors' plot data tell (docs/data.md)" if plotted else _UNPUBLISHED
        return Lack(NEVER_PUBLISHED, f"{what} by Algoryx Dynamics, licensed software, {words}")
    roles = _ROLES.get(quantity) or _ROLES.get(printed["artefact"], ("trajectories", "validation"))
    if "parameters=velocity" in condition:
        roles = tuple({"trajectories": "drops"}.get(role, role) for role in roles)
    boxes = tuple(named) or ((_EXAMPLE,) if "figure=" in condition else BOXES)
    return recordings.lack(what, roles, boxes, data)


def _from_data(tables: Tables, schemes: Mapping[str, str], recordings: Recordings) -> Numbers:
    """What the run's tables give, whatever data they are made from."""
    landed = tables["ext_no_impact"].set_index("dataset")
    for name, kind, artefact, condition, quantities, columns in _COLUMNS:
        table = tables.get(name, pd.DataFrame())
        rows = of_scheme(table, schemes.get(kind, "")) if kind and len(table) else table
        for row, (quantity, column) in product(
            rows.to_dict("records"), zip(quantities, columns, strict=True)
        ):
            # a naive toss ends where the box first touches the surface
            naive = (
                float(landed[column].get(row["dataset"], np.nan)) if column in ERRORS else np.nan
            )
            wrong = {} if np.isnan(naive) else {"no impact": naive}
            data = ", ".join(
                dict.fromkeys(row[role] for role in ("identified_on", "dataset") if role in row)
            )
            ours = Reproduced(float(row[column]), data=data, naive=wrong, is_error=column in ERRORS)
            yield (artefact, quantity, condition.format(box=row["object"])), ours
    for key, (name, of_rows, expression) in _CALCULATED.items():
        part = tables[name].query(of_rows, engine="python") if name in tables else pd.DataFrame()
        if len(part):
            value: Any = part.eval(expression, engine="python")
            yield key, Reproduced(float(value), data=recordings.data_of(part["dataset"]))
    kept = of_scheme(tables[_REST], schemes["trajectory"])
    largest = (
        tables["tab01_object_properties"]
        .drop_duplicates("object")
        .set_index("object")[[*_SIZE]]
        .max(axis=1)
    )
    for key, value in _ranges(kept, kept["object"].map(largest)):
        yield key, Reproduced(value, data=recordings.data_of(kept["dataset"]))


def _from_plots(tables: Tables) -> Numbers:
    """What the authors' plot data give, where a run has them: held against print after what was
    computed from data.
    """
    for name, of_rows, artefact, condition, quantities, columns in _PLOTTED:
        table = tables.get(name, pd.DataFrame())
        part = table.query(of_rows, engine="python") if of_rows and len(table) else table
        for quantity, column in zip(quantities, columns, strict=True) if len(part) else ():
            values: Any = part.eval(column, engine="python")
            for row, value in zip(part.to_dict("records"), values, strict=True):
                ours = Reproduced(float(value), data=str(row["dataset"]), is_error=column in ERRORS)
                yield (artefact, quantity, condition.format_map(row)), ours


def _ranges(errors: pd.DataFrame, largest: pd.Series) -> Iterator[tuple[Key, float]]:
    """Sections V's and VII's ranges of mean errors, as such and over the boxes' ``largest``
    dimensions (mm).
    """
    position, rotation = errors["position_error_mean_cm"], errors["rotation_error_mean_deg"]
    for name, values in (
        ("position_error_cm", position),
        ("position_error_pct", 1e3 * position / largest),
        ("rotation_error_deg", rotation),
    ):
        yield ("tab03", f"least_{name}", "section=V;parameters=trajectory"), float(values.min())
        yield ("tab03", f"largest_{name}", "section=V;parameters=trajectory"), float(values.max())
    yield (
        ("text", "least_rotation_error_deg", "section=VII;parameters=trajectory"),
        float(rotation.min()),
    )


def _from_print(printed: Mapping[Key, float]) -> Numbers:
    """What printed numbers alone give."""
    largest = {}
    for box in BOXES:
        size = np.array([printed["tab01", name, f"object={box}"] for name in _SIZE])
        yield from _body(box, size, printed["tab01", "mass_kg", f"object={box}"])
        largest[box] = size.max()
    # mm
    mean_largest = float(np.mean([*largest.values()]))
    yield (
        ("text", "largest_dimension_cm", f"section=VII;{_FROM_PRINT}"),
        _print(0.1 * mean_largest, "mean of Table I"),
    )
    for simulator, kind, name in product(SIMULATORS, ("velocity", "trajectory"), PARAMETERS):
        section = "IV-A" if kind == "velocity" else "IV-B"
        condition = f"section={section};object={_EXAMPLE};simulator={simulator};{_FROM_PRINT}"
        value = printed["tab02", name, condition_of(_EXAMPLE, kind, simulator)]
        yield ("text", f"{kind}_{name}_in_text", condition), _print(value, "Table II")
    yield from _ranges_in_print(printed, largest)
    for name in PARAMETERS:
        condition = f"section=VI;changed={name};by=0.05"
        change = printed["fig14", "rest_position_change_mm", condition]
        identified = [
            printed["tab02", name, condition_of(box, "trajectory", simulator)]
            for box, simulator in product(BOXES, SIMULATORS)
        ]
        from_print = f"{condition};{_FROM_PRINT}"
        yield (
            ("fig14", "rest_position_change_pct", from_print),
            _print(
                100.0 * change / mean_largest,
                "the printed change over the mean largest dimension of Table I",
            ),
        )
        yield (
            ("fig14", "relative_variation_pct", from_print),
            _print(
                100.0 * _STEP / float(np.mean(identified)),
                "of the mean of Table II's trajectory-based values",
            ),
        )


def _ranges_in_print(printed: Mapping[Key, float], largest: Mapping[str, float]) -> Numbers:
    """Least and largest errors of Table III, by the boxes' largest dimensions (mm)."""
    errors, dimensions = [], []
    for box, simulator in product(BOXES, SIMULATORS):
        condition = condition_of(box, "trajectory", simulator)
        errors.append({name: printed["tab03", name, condition] for name in ERRORS})
        dimensions.append(largest[box])
    for (artefact, quantity, condition), value in _ranges(
        pd.DataFrame(errors), pd.Series(dimensions)
    ):
        key = artefact, quantity, f"{condition};{_FROM_PRINT}"
        yield key, _print(value, "Table III, both simulators")


def _body(box: str, size: np.ndarray, mass: float) -> Numbers:
    """Table I: the inertias and the density that printed size (mm) and mass (kg) give.

    Size is printed to 1 mm and mass to 1 g, so an inertia is known to the sum of their effects.
    """
    for axis, k in enumerate("xyz"):
        others = np.delete(size, axis)
        squares = float((others**2).sum())
        # half a mm of both sides, half a g of mass, half a kg mm2 of the printed inertia itself
        rounding = mass / 6.0 * 0.5 * float(others.sum()) + 0.0005 * squares / 12.0 + 0.5
        tolerance = Tolerance(rounding, "rounding of the printed size, mass and inertia")
        inertia = _print(
            mass * squares / 12.0, "inertia of a homogeneous box of the printed size and mass"
        )
        yield (
            ("tab01", f"inertia_{k}{k}_kg_mm2", f"object={box}"),
            replace(inertia, tolerance=tolerance),
        )
    density = _print(
        1e9 * mass / float(size.prod()), "printed mass over printed size, with the carton"
    )
    lack = Lack(
        NEVER_PUBLISHED, f"mass and size of the filling of {box} (sec III) without its carton"
    )
    yield ("tab01", "density_kg_m3", f"object={box};{_FROM_PRINT}"), replace(density, lack=lack)


def _print(value: float, note: str) -> Reproduced:
    return Reproduced(float(value), PRINT, note=note)
