"""What the in-hand paper says of its methods without a number of its own, held against its tables and against twins.

What each statement asks is in :mod:`.statements`. From print its errors are those of the printed estimates, from twins
those of the paper's own way of solving, both from tables A1 to A4 as they are read there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.inertia import InertialParameters, geodesic_distance, tensor
from contactid.inhand.artefacts.estimates import PRINTED
from contactid.inhand.artefacts.printed import (
    ARTEFACTS,
    BLOCKS,
    SIGNS,
    consistency_margin,
    printed_body,
    rounding_margin,
)
from contactid.inhand.identify.methods import (
    BASELINE,
    FACTOR_GRAPH,
    GROUND_TRUTH,
    LEAST_SQUARES,
    METHODS,
    PARAMETER_COLUMNS,
    parameter_values,
)
from contactid.inhand.readers.objects import InHandObject, object_of
from contactid.inhand.readers.sources import (
    APPENDIX_TABLES,
    ERROR_FIGURES,
    IN_HAND_KINEMATIC,
    IN_HAND_VISION,
    OBJECTS,
    SIMULATION,
    SOURCES,
    WRIST,
)
from contactid.inhand.statements import (
    A_BODY_CAN_HAVE,
    FAR_WORSE,
    FIRST_ALL_ABOVE,
    MOSTLY,
    NEARER,
    NO_EXCEPTION,
    NONE_IS_A_BODY,
    OF_THE_SAME_SIZE,
    PRIOR_CHANGES_LESS,
    SAME,
    SAME_IN_EVERY_UNIT,
    SOME_ARE_NO_BODY,
    SPOILT_WITHOUT_FILTER,
    Statement,
    counted_pairs,
)
from contactid.output.comparison import COMPUTED, FITTED, PRINT, Key, Reproduced

Tables = Mapping[str, pd.DataFrame]
#: Of an estimate: eq. 38, relative error of the mass, distance of the centres of mass (m), relative one of the tensors.
MEASURES = INERTIAL_ERROR, MASS, CENTER, TENSOR = "inertial_error", "mass", "center_of_mass", "inertia"
_BASELINE_FG, _FREE, _CONSTRAINED, _PRIOR = METHODS[1:]
_UNIFORM = "uniform body"
_SIGNS = {"print": (1.0, -1.0), "twins": (1.0,)}  # of the off-diagonals, as shown and turned: print doesn't state it
_IN_HAND = (IN_HAND_VISION, IN_HAND_KINEMATIC)
_SOLVERS = {"print": (PRINTED,), "twins": (LEAST_SQUARES, FACTOR_GRAPH)}
_TUNED = "not independent of print: the twins' unsensed forces were chosen so that the mass is lost as there"
_TUNED_NOISE = "not independent of print: the noises were chosen, vision's as the larger"


def block_of(source: str) -> str:
    """A source's name in ``published/inhand.csv``."""
    return {name: block for block, name in BLOCKS.items()}.get(source, source)


def twins_of(source: str) -> str:
    """What a number made from a source's twins names as its data."""
    return f"inhand_twin:{source}"


def printed_consistency_claims(printed: pd.DataFrame) -> dict[Key, Reproduced]:
    """Whether each printed estimate with the constraint is a body's, by how much not, and if lost digits could mend it.

    ``printed`` is :func:`.printed.printed_table`.
    """
    found: dict[Key, Reproduced] = {}
    for row in printed[printed["method"].isin([_CONSTRAINED, _PRIOR])].to_dict("records"):
        margins = {off_diagonals: consistency_margin(printed_body(row, off_diagonals)) for off_diagonals in SIGNS}
        best = max(margins, key=lambda off_diagonals: margins[off_diagonals])
        note = (
            f"tensor about the origin, the more generous sign: off-diagonals as {best.replace('_', ' ')};"
            f" smallest second moment about the centre of mass {margins[best]:+.2g} m c^2"
        )
        if margins[best] <= 0.0:
            mended = not all(rounding_margin(row, off_diagonals) < 0.0 for off_diagonals in SIGNS)
            note += "; rounding may mend it" if mended else "; no rounding mends it"
        key = f"source={row['block']};object={row['object']};method={row['method']}"
        found[ARTEFACTS[row["source"]], "physically_consistent", key] = A_BODY_CAN_HAVE.of(row, PRINT, note=note)
    return found


def method_claims(
    tables: Tables, objects: Mapping[str, InHandObject], printed: pd.DataFrame, forces: pd.DataFrame
) -> dict[Key, Reproduced]:
    """Every other statement that the run's tables can answer.

    ``tables`` by name: A1 to A4, ``ext_friction``, ``ext_differences`` and ``ext_force_sensing``; ``forces`` is figure
    9's.
    """
    found: dict[Key, Reproduced] = {}
    for origin, solvers in _SOLVERS.items():
        by_sign = {
            source: [_errors(tables[name], solvers, objects, sign) for sign in _SIGNS[origin]]
            for source, name in APPENDIX_TABLES.items()
        }
        for measure in MEASURES:
            # the other measures don't see the off-diagonals
            errors = by_sign if measure == TENSOR else {source: some[:1] for source, some in by_sign.items()}
            for source in SOURCES:
                found |= _with_every_sign([_within_a_source(source, measure, origin, one) for one in errors[source]])
            choices = (dict(zip(errors, chosen, strict=True)) for chosen in product(*errors.values()))
            found |= _with_every_sign([_between_sources(measure, origin, chosen) for chosen in choices])
        found |= _sizes(tables, origin, solvers, objects) | _baseline_mass(origin, by_sign[SIMULATION][0])
    return (
        found
        | _baseline_elsewhere(tables)
        | _filtering(tables["ext_differences"])
        | _constraint_as_a_cost(tables, printed)
        | _friction(tables["ext_friction"])
        | _force_sensing(tables["ext_force_sensing"])
        | _force_scale(forces)
        | _units(objects)
        | _untestable()
    )


def _figure(source: str) -> str:
    return ERROR_FIGURES[source].split("_")[0]


def _key(quantity: str, source: str, measure: str, origin: str) -> Key:
    artefact = _figure(source) if measure == INERTIAL_ERROR else ARTEFACTS[source]
    return artefact, quantity, f"source={block_of(source)};measure={measure};from={origin}"


def _with_every_sign(answers: Sequence[Mapping[Key, Reproduced]]) -> dict[Key, Reproduced]:
    """The first answers, with the signs as shown; not comparable where another sign of print gives another answer."""
    numbers = dict(answers[0])
    for key, ours in answers[0].items():
        if len(np.unique([one[key].value for one in answers])) > 1:  # nan is one value
            missing = f"needs the sign of the printed off-diagonals: {key[1]} ({key[0]}) hangs on it"
            numbers[key] = Reproduced(np.nan, basis="", missing=missing, note=f"as shown: {ours.note}")
        elif any(one[key].note != ours.note for one in answers):
            numbers[key] = replace(ours, note=f"{ours.note}; with the other sign of the off-diagonals as well")
    return numbers


def _errors(
    table: pd.DataFrame, solvers: Sequence[str], objects: Mapping[str, InHandObject], sign: float
) -> pd.DataFrame:
    """Columns method, object and :data:`MEASURES` of a table's estimates, and of the uniform body in each hull.

    Infinite for an estimate that didn't converge; eq. 38 also where no body can have it. ``sign`` multiplies the
    off-diagonals of printed rows.
    """
    rows: list[dict[str, Any]] = []
    truths = table[table["method"] == GROUND_TRUTH].set_index("object").to_dict("index")
    estimates = table["origin"].isin(list(solvers)) & (table["method"] != GROUND_TRUTH)
    ours: list[dict[Any, Any]] = table[estimates].to_dict("records")
    for name in truths:
        thing = object_of(objects, str(name))
        far = geodesic_distance(thing.uniform_body, thing.parameters)
        values = parameter_values(thing.uniform_body)
        ours.append({"method": _UNIFORM, "object": name, "geodesic_error": far} | dict(values))
    for row in ours:
        one, truth = (_numbers(values) for values in (row, truths[row["object"]]))
        if row.get("origin") == PRINTED:
            one[7:] *= sign
        apart = one - truth
        measured = {
            INERTIAL_ERROR: row["geodesic_error"],
            MASS: abs(apart[0] / truth[0]),
            CENTER: np.linalg.norm(apart[1:4]),
            TENSOR: np.linalg.norm(tensor(apart[4:])) / np.linalg.norm(tensor(truth[4:])),
        }
        rows.append({"method": row["method"], "object": row["object"]} | measured)
    return pd.DataFrame(rows, columns=["method", "object", *MEASURES]).fillna(np.inf)


def _numbers(row: Mapping[Any, Any]) -> np.ndarray:
    return np.array([row[name] for name in PARAMETER_COLUMNS], dtype=float)


def _picked(
    errors: pd.DataFrame, measure: str, methods: Iterable[str], objects: Iterable[str]
) -> tuple[float, ...] | None:
    """The errors of every method and object, in this order; None where one lacks."""
    found = errors.set_index(["method", "object"])[measure].to_dict()
    wanted = [(method, name) for method in methods for name in objects]
    return tuple(float(found[one]) for one in wanted) if all(one in found for one in wanted) else None


def _told(origin: str) -> str:
    return "on twins, constraint as a cost" if origin == "twins" else "printed rows against printed truths"


def _compared(given: Sequence[Any], origin: str, of: str, basis: str, data: str, more: str = "") -> Reproduced:
    wins, losses, pairs = counted_pairs(given)
    note = f"{_told(origin)}; {of} in {wins} of {pairs}, further in {losses}, else the same to {SAME:.0%}"
    if pairs < len(given[0]):
        note += f"; {len(given[0]) - pairs} pairs have no error, since eq. 38 is infinite for both"
    return NEARER.of(given, basis, data, "; ".join(filter(None, (note, more))))


def _told_of(found: Mapping[Key, tuple[Reproduced, bool]]) -> dict[Key, Reproduced]:
    """The same, without those that nothing finite decides, and with the twins' experiments counted once, by eq. 38."""
    numbers: dict[Key, Reproduced] = {}
    for (artefact, quantity, condition), (ours, decided) in found.items():
        if not decided:
            missing = f"needs a finite error by eq. 38 ({artefact}): no body can have these rows"
            ours = Reproduced(np.nan, basis="", missing=missing, note=ours.note)
        source, measure, origin = condition.split(";")
        if origin == "from=twins" and measure != f"measure={INERTIAL_ERROR}" and quantity != "wrist_is_nearer":
            ours = replace(ours, repeats=f"{source};measure={INERTIAL_ERROR};{origin}")
        numbers[artefact, quantity, condition] = ours
    return numbers


def _within_a_source(source: str, measure: str, origin: str, errors: pd.DataFrame) -> dict[Key, Reproduced]:
    """Constraint, prior, uniform body and box_4 (section V-C)."""
    basis, data = (PRINT, "") if origin == "print" else (COMPUTED, twins_of(source))
    tuned = FITTED if basis == COMPUTED and source in _IN_HAND else basis
    rows = {name: _picked(errors, measure, [name], OBJECTS[source]) for name in (*METHODS, _UNIFORM)}
    free, constrained, both = (rows[name] for name in (_FREE, _CONSTRAINED, _PRIOR))
    uniform, found = rows[_UNIFORM], {}
    if free is None or constrained is None or both is None or uniform is None:
        return {}
    ours = _compared((constrained, free), origin, "nearer with the constraint", basis, data)
    found["constraint_is_nearer"] = ours, _finite(constrained, free)
    medians = tuple(float(np.median(row)) for row in (free, constrained, both))
    note = "median error without constraint, with it, with prior too: " + ", ".join(f"{one:.3g}" for one in medians)
    ours = PRIOR_CHANGES_LESS.of(medians, basis, data, f"{_told(origin)}; {note}")
    found["prior_changes_less"] = ours, _finite(medians)
    if (
        source != SIMULATION and measure != MASS
    ):  # there the shape was inferred as a uniform body's; no hull says a mass
        # the paper says it of the rows without constraint on the wrist, of its own method in hand
        ours = _compared(
            (free if source == WRIST else constrained, uniform), origin,
            "nearer than the uniform body of the true mass in the inferred hull", tuned, data,
            _TUNED if tuned == FITTED else "",
        )  # fmt: skip
        found["nearer_than_uniform_body"] = ours, True
    if source in _IN_HAND:
        one, others = constrained[-1], constrained[:-1]
        note = f"{_told(origin)}; error of box_4 {one:.3g}, largest of the others {max(others):.3g}"
        ours = NO_EXCEPTION.of((one, others), tuned if measure == MASS else basis, data, note)
        if measure != MASS:
            ours = _also_refusing(ours, NO_EXCEPTION, (uniform[-1], uniform[:-1]))
        found["box_4_is_no_exception"] = ours, _finite(constrained)
    return _told_of({_key(quantity, source, measure, origin): one for quantity, one in found.items()})


def _finite(*rows: Sequence[float]) -> bool:
    return any(bool(np.isfinite(row).any()) for row in rows)


def _also_refusing(ours: Reproduced, asked: Statement, uniform: Any) -> Reproduced:
    """The same with the study's naive answer among what must be refused."""
    return replace(ours, naive={**ours.naive, _UNIFORM: float(asked.holds(uniform))})


def _between_sources(measure: str, origin: str, errors: Mapping[str, pd.DataFrame]) -> dict[Key, Reproduced]:
    """Relaxed rigidity against vision; in hand against the wrist, where box_2 is said to be the exception."""
    found: dict[Key, tuple[Reproduced, bool]] = {}
    printed, boxes = origin == "print", OBJECTS[WRIST]
    asked = [("relaxed_rigidity_is_nearer", IN_HAND_KINEMATIC, IN_HAND_VISION, boxes, "by relaxed rigidity")]
    for source in _IN_HAND:
        asked.append(("box_2_is_nearer_in_hand", source, WRIST, ("box_2",), "in hand, box_2,"))
        if measure == MASS:
            others = tuple(name for name in boxes if name != "box_2")
            asked.append(("wrist_is_nearer", WRIST, source, others, "on the wrist, without box_2,"))
    for quantity, first, second, names, of in asked:
        one, other = (_picked(errors[source], measure, (_CONSTRAINED, _PRIOR), names) for source in (first, second))
        if one is None or other is None:
            continue
        if WRIST in (first, second):
            more = "" if printed else _TUNED
        else:
            more = "which table is which is a guess from the other rows' masses" if printed else _TUNED_NOISE
        data = "" if printed else f"{twins_of(first)}, {twins_of(second)}"
        basis = PRINT if printed else FITTED
        ours = _compared((one, other), origin, f"constrained rows nearer {of}", basis, data, more)
        found[_key(quantity, second if first == WRIST else first, measure, origin)] = ours, _finite(one, other)
    return _told_of(found)


def _sizes(
    tables: Tables, origin: str, solvers: Sequence[str], objects: Mapping[str, InHandObject]
) -> dict[Key, Reproduced]:
    """Numerical similarity (section V-C): of the tensor's diagonal everywhere, of all ten numbers in simulation."""
    found: dict[Key, Reproduced] = {}
    for source, name in APPENDIX_TABLES.items():
        table = tables[name]
        truths = table[table["method"] == GROUND_TRUTH].set_index("object")[list(PARAMETER_COLUMNS)]
        rows = table[(table["method"] == _CONSTRAINED) & table["origin"].isin(list(solvers))].set_index("object")
        if set(rows.index) != set(OBJECTS[source]):
            continue
        ratios = (rows[list(PARAMETER_COLUMNS)] / truths.loc[rows.index]).to_numpy(dtype=float)
        basis, data = (PRINT, "") if origin == "print" else (COMPUTED, twins_of(source))
        asked = {"diagonal_of_the_truths_size": slice(4, 7)}
        if source == SIMULATION:
            asked["all_of_the_truths_size"] = slice(0, 10)
        for quantity, columns in asked.items():
            given = ratios[:, columns]
            note = f"{_told(origin)}; {given.min():.3g} to {given.max():.3g} of the truth, half to twice is asked"
            ours = OF_THE_SAME_SIZE.of(given, basis, data, note)
            if source != SIMULATION:  # whose truth is a uniform body's
                naive = np.array(
                    [_numbers(parameter_values(object_of(objects, str(one)).uniform_body)) for one in rows.index]
                )
                ours = _also_refusing(ours, OF_THE_SAME_SIZE, (naive / truths.loc[rows.index].to_numpy())[:, columns])
            key = f"source={block_of(source)};from={origin}"
            if source == SIMULATION and origin == "twins" and quantity.startswith("diagonal"):  # one of the ten
                ours = replace(ours, repeats=key)
            found[ARTEFACTS[source], quantity, key] = ours
    return found


def _baseline_mass(origin: str, errors: pd.DataFrame) -> dict[Key, Reproduced]:
    """Without noise, the baseline's mass (section V-C)."""
    one = _picked(errors, MASS, [BASELINE], OBJECTS[SIMULATION][:1])
    others = _picked(errors, MASS, METHODS[1:], OBJECTS[SIMULATION][:1])
    if one is None or others is None:
        return {}
    basis, data = (PRINT, "") if origin == "print" else (COMPUTED, twins_of(SIMULATION))
    note = f"{_told(origin)}; relative error {one[0]:.3g}, of the others at most {max(others):.3g}; asked: ten times"
    key = (ARTEFACTS[SIMULATION], "baseline_mass_far_worse", f"source={SIMULATION};object=noise_level_0;from={origin}")
    return {key: FAR_WORSE.of((one[0], others), basis, data, note)}


def _baseline_elsewhere(tables: Tables) -> dict[Key, Reproduced]:
    """Why the paper doesn't report the baseline on the other sources (section V-C)."""
    found: dict[Key, Reproduced] = {}
    for source in SOURCES[1:]:
        table = tables[APPENDIX_TABLES[source]]
        rows = table[(table["method"] == BASELINE) & (table["origin"] == LEAST_SQUARES)]
        if len(rows):
            bodies = rows["physically_consistent"].to_numpy(dtype=float)
            note = f"on twins; {bodies.sum():.0f} of {rows['runs'].sum():.0f} estimates are a body's"
            key = (ARTEFACTS[source], "baseline_fails_or_is_no_body", f"source={block_of(source)};from=twins")
            found[key] = NONE_IS_A_BODY.of(bodies > 0, COMPUTED, twins_of(source), note)
    return found


def _filtering(differences: pd.DataFrame) -> dict[Key, Reproduced]:
    """What spoils the baseline without noise: the differences (section V-C) or the filter."""
    rows = differences[(differences["scheme"] == "paper") & (differences["object"] == "noise_level_0")]
    worst = rows.groupby("estimator")["mass_error_pct"].max()
    if BASELINE not in worst or "least squares without filter" not in worst:
        return {}
    given = (float(worst[BASELINE]), float(worst["least squares without filter"]))
    note = (
        f"on a twin without noise, longest time step; error of the mass {given[0]:.3g} %, with the same differences but"
        f" no filter {given[1]:.3g} %: the filter spoils it"
    )
    key = (ARTEFACTS[SIMULATION], "constant_velocity_spoils_baseline", f"source={SIMULATION};from=twins")
    return {key: SPOILT_WITHOUT_FILTER.of(given, COMPUTED, twins_of(SIMULATION), note)}


def _constraint_as_a_cost(tables: Tables, printed: pd.DataFrame) -> dict[Key, Reproduced]:
    """Section VI: as a cost it pushes towards the feasible region and doesn't ensure feasibility."""
    shortfalls: dict[str, dict[tuple[str, str, str], float]] = {"print": {}, "twins": {}}
    for row in printed.to_dict("records"):
        best = max(consistency_margin(printed_body(row, off_diagonals)) for off_diagonals in SIGNS)
        shortfalls["print"][row["source"], row["object"], row["method"]] = max(-best, 0.0)
    for source, name in APPENDIX_TABLES.items():
        for row in tables[name][tables[name]["origin"] == FACTOR_GRAPH].to_dict("records"):
            numbers = _numbers(row)
            body = InertialParameters(numbers[0], numbers[1:4], tensor(numbers[4:]))
            shortfalls["twins"][source, row["object"], row["method"]] = max(-consistency_margin(body), 0.0)
    found: dict[Key, Reproduced] = {}
    for origin, by_row in shortfalls.items():
        pairs = [(source, name) for source, name, method in by_row if method == _FREE]
        constrained = [by_row.get((*pair, _CONSTRAINED), np.inf) for pair in pairs]
        free = [by_row[*pair, _FREE] for pair in pairs]
        outside = [number for number, short in enumerate(free) if short > 0.0]
        basis, data = (PRINT, "") if origin == "print" else (COMPUTED, ", ".join(map(twins_of, SOURCES)))
        if not outside:
            continue
        given = tuple([row[number] for number in outside] for row in (constrained, free))
        of = "where they aren't a body's without it, nearer to one with the constraint"
        found["text", "constraint_cost_pushes_inward", f"section=VI;from={origin}"] = _compared(
            given, origin, of, basis, data
        )
        bodies = np.array(constrained) == 0.0
        note = f"{_told(origin)}; {bodies.sum()} of {len(bodies)} estimates with the constraint are a body's"
        found["text", "constraint_cost_ensures_nothing", f"section=VI;from={origin}"] = SOME_ARE_NO_BODY.of(
            bodies, basis, data, note
        )
    return found


def _friction(table: pd.DataFrame) -> dict[Key, Reproduced]:
    """Section V-B: only the objects that warp are off; of the mustard bottle the label alone."""
    cases = table[table["object"] != "all"]
    warped = cases["warped"].astype(str).str.lower() == "true"
    mustard = cases[cases["object"] == "mustard_bottle"].set_index("region")["case_error"]
    errors = cases["case_error"].to_numpy(dtype=float)
    if not np.isfinite(errors).all() or set(mustard.index) != {"plastic", "label"} or warped.all() or not warped.any():
        return {}
    found: dict[Key, Reproduced] = {}
    for quantity, one, others in (
        ("only_the_warped_are_off", errors[warped], errors[~warped]),
        ("label_is_worse_than_plastic", mustard[["label"]], mustard[["plastic"]]),
    ):
        note = (
            f"on a simulated fingertip whose warping was chosen from this statement; smallest of its median errors"
            f" {min(one):.3g}, largest of the others {max(others):.3g}"
        )
        found["fig06", quantity, "section=V-B;from=twins"] = FIRST_ALL_ABOVE.of(
            (one, others), FITTED, "inhand_twin:fingertip", note
        )
    return found


def _force_sensing(table: pd.DataFrame) -> dict[Key, Reproduced]:
    """Section V-A, of the network with multi-sample dropout as it is trained."""
    shares = table.loc[table["model"] == "dropout_network", "share_within_one_sd"]
    key = ("fig05", "mostly_within_one_sd", "section=V-A;from=twins")
    if shares.empty:
        missing = (
            "needs the standard deviations of the network with multi-sample dropout (figure 5), trained by PyTorch"
        )
        return {key: Reproduced(np.nan, basis="", missing=missing)}
    share = float(shares.median())
    note = f"on a simulated sensor; {share:.2f} of the components are within one standard deviation"
    return {key: MOSTLY.of(share, COMPUTED, "inhand_twin:electrode_sensor", note)}


def _force_scale(forces: pd.DataFrame) -> dict[Key, Reproduced]:
    """Figure 9: how much a sensed force changes, at the wrist and at one fingertip."""
    spread = {
        str(sensor): float(np.sqrt(rows.groupby("component")["reported_n"].var().sum()))
        for sensor, rows in forces.groupby("sensor")
    }
    mounted, held = spread.pop("wrist"), max(spread.values())
    note = f"on twins; standard deviation over time {mounted:.3g} N at the wrist, {held:.3g} N at a fingertip"
    key = ("fig09", "smaller_scale_at_a_fingertip", "section=V-C2;from=twins")
    data = f"{twins_of(WRIST)}, {twins_of(IN_HAND_KINEMATIC)}"
    return {key: FIRST_ALL_ABOVE.of(((mounted,), (held,)), COMPUTED, data, note)}


def _units(objects: Mapping[str, InHandObject]) -> dict[Key, Reproduced]:
    """Section IV-B: eq. 38 is scale invariant; of box_0 and the uniform body in its hull, in kg and m, in g and mm."""
    truth = object_of(objects, OBJECTS[WRIST][0])
    bodies = (truth.parameters, truth.uniform_body)
    small = (InertialParameters(1e3 * one.mass, 1e3 * one.center_of_mass, 1e9 * one.inertia) for one in bodies)
    given = (geodesic_distance(*bodies), geodesic_distance(*small))
    note = f"eq. 38 as derived here; {given[0]:.9g} in kg and m, {given[1]:.9g} in g and mm"
    key = ("text", "inertial_error_is_scale_invariant", "section=IV-B")
    return {key: SAME_IN_EVERY_UNIT.of(given, COMPUTED, note=note)}


def _untestable() -> dict[Key, Reproduced]:
    """Statements for which the run has no number."""
    lacking = {
        ("unfiltered_baseline_fails", "section=IV-B"): "unfiltered least squares on noisy forces (section IV-B)",
        ("raw_signals_are_better", "section=IV-B"): "factor-graph estimates from filtered signals (section IV-B)",
        (
            "dropout_costs_no_time",
            "section=III",
        ): "inference times of the force network with and without dropout layers",
        ("dataset_has_200k_samples", "section=I"): (
            "the paper's multi-contact dataset, sites.google.com/view/tactile-obj-dynamics, which has no DOI"
        ),
    }
    return {
        ("text", quantity, where): Reproduced(np.nan, basis="", missing=f"needs {lacks}")
        for (quantity, where), lacks in lacking.items()
    }
