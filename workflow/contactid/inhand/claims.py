"""What the in-hand paper says of its methods: the evidence from a run's tables, and predicates of
this study alone.

The ledger says what is asked of what. From print, errors are those of the printed estimates, from
twins those of the paper's own way of solving; both are against the truths of tables A1 to A4.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.inertia import InertialParameters, geodesic_distance, pseudo_inertia, tensor
from contactid.inhand.artefacts.estimates import PRINTED, is_true
from contactid.inhand.artefacts.printed import BLOCKS, SIGNS, consistency_margin
from contactid.inhand.identify.methods import (
    CONSTRAINED,
    FACTOR_GRAPH,
    FREE,
    GROUND_TRUTH,
    LEAST_SQUARES,
    LIKELIHOOD,
    PARAMETER_COLUMNS,
    UNIFORM,
    parameter_values,
)
from contactid.inhand.readers.objects import InHandObject, object_of
from contactid.inhand.readers.sources import (
    APPENDIX_TABLES,
    BOXES,
    IN_HAND_KINEMATIC,
    OBJECTS,
    WRIST,
)
from contactid.output.evidence import calculated
from contactid.output.predicates import InEachReading
from contactid.output.statements import Evidence, missing
from contactid.output.verdicts import COMPUTED, FITTED, NOT_DONE, PRINT

Tables = Mapping[str, pd.DataFrame]
Objects = Mapping[str, InHandObject]
#: Of an error: source, method, object, measure.
Key = tuple[str, str, str, str]
_SIGNS_DECIDE = (
    "; cases that hang on the sign of the off-diagonals, which isn't stated, don't count"
)
RECORDINGS = "the paper's recordings (sites.google.com/view/tactile-obj-dynamics, without a DOI)"
#: Of an estimate: eq. 38, relative error of the mass, distance of the centres of mass (m), relative
#: error of the tensor about the origin.
MEASURES = INERTIAL_ERROR, MASS, CENTER, TENSOR = "eq. 38", "mass", "centre of mass", "tensor"
#: The largest factor between an estimate's numbers and the true ones; infinite for another sign.
DIAGONAL, ALL_TEN = "factor of the tensor's diagonal", "factor of all ten numbers"
_SOLVERS = {"print": (PRINTED,), "twins": (LEAST_SQUARES, FACTOR_GRAPH)}


def block_of(source: str) -> str:
    """A source's name in ``published/inhand.csv``."""
    return {name: block for block, name in BLOCKS.items()}.get(source, source)


def twins_of(*sources: str) -> str:
    """What a number made from sources' twins names as its data."""
    return ", ".join(f"inhand_twin:{source}" for source in sources)


class _OfErrors(InEachReading):
    """A reading has rows of errors; where all of a case are infinite (eq. 38 of what no body can
    be) it is none.
    """

    def answers(self, reading: Any) -> list[bool | None]:
        """Of each case."""
        return [
            None if np.isinf(case).all() else bool(self._asked(*case))
            for case in zip(*reading, strict=True)
        ]

    def _asked(self, first: float, *others: float) -> bool:
        raise NotImplementedError


@dataclass(frozen=True)
class Nearer(_OfErrors):
    """The first of two errors is smaller by more than ``margin``, in more than ``most`` of the
    cases.
    """

    margin: float = 0.05
    most: float = 0.5

    def _asked(self, first: float, *others: float) -> bool:
        return first < (1.0 - self.margin) * others[0]

    def others(self, reading: Any) -> dict[str, Any]:
        """The rows exchanged, and no difference between them."""
        first, other = reading
        return {"exchanged": (other, first), "no difference": (other, other)}

    def enough(self, cases: Sequence[bool]) -> bool:
        """More than ``most`` of them."""
        return sum(cases) > self.most * len(cases)


@dataclass(frozen=True)
class PriorChangesLess(Nearer):
    """Of errors without constraint, with it, and with a prior too: the constraint lowers, the prior
    changes less.
    """

    def _asked(self, first: float, *others: float) -> bool:
        constrained, both = others
        changed = 0.0 if both == constrained else abs(both - constrained)
        return super()._asked(constrained, first) and first - constrained > changed

    def others(self, reading: Any) -> dict[str, Any]:
        """The prior alone lowers the error; both raise it; nothing changes it."""
        free, constrained, both = reading
        alone, raised = (free, free, constrained), (both, constrained, free)
        return {"prior alone": alone, "reversed": raised, "no difference": (free, free, free)}


@dataclass(frozen=True)
class NoException(_OfErrors):
    """In every case the first error isn't above the largest of the others by more than ``margin``."""

    margin: float = 0.05

    def _asked(self, first: float, *others: float) -> bool:
        return first <= (1.0 + self.margin) * max(others)

    def others(self, reading: Any) -> dict[str, Any]:
        """The first error exchanged with the largest of the others, and twice as large as that."""
        rows = np.array(reading, dtype=float)
        cases, largest = np.arange(rows.shape[1]), 1 + rows[1:].argmax(axis=0)
        exchanged, twice = rows.copy(), rows.copy()
        exchanged[0], exchanged[largest, cases] = rows[largest, cases], rows[0]
        twice[0] = 2.0 * rows[largest, cases]
        return {"exchanged": exchanged, "twice": twice}


@dataclass(frozen=True)
class SameSize(InEachReading):
    """Every factor between an estimate and the truth is less than ``times``; a reading is one row
    of them.
    """

    times: float = 2.0

    def answers(self, reading: Any) -> list[bool | None]:
        """Of each factor."""
        return [bool(factor < self.times) for factor in reading[0]]

    def others(self, reading: Any) -> dict[str, Any]:
        """Nothing in place of every estimate, and three times the truth."""
        return {"nothing": [[np.inf] * len(reading[0])], "thrice": [[3.0] * len(reading[0])]}


def errors(
    tables: Tables,
    objects: Objects,
    origin: str,
    compared: Sequence[Mapping[str, Any]],
    order: str,
    measures: Sequence[str] = MEASURES,
    tuned: str = "",
    uniform: bool = False,
) -> Evidence:
    """Rows of errors of tables A1 to A4, in each reading of the signs that print doesn't state.

    Parameters
    ----------
    origin : ``print`` or ``twins``
    compared : ``rows``, each a source, a method and maybe an object, and ``objects`` (default: all
        of the source)
    order : what the rows are, in words
    measures : of :data:`MEASURES`, or :data:`DIAGONAL` and :data:`ALL_TEN`
    tuned : why the twins aren't independent of print; empty where they are
    uniform : whether the uniform body is tried in the estimates' place
    """
    cases = _cases(compared, measures)
    errors_by_signs = _in_each_reading(tables, objects, origin)
    readings = _rows(cases, errors_by_signs)
    note = f"medians {order}: {_medians(cases, readings[0])}"
    if origin == PRINT:
        note = f"printed rows against printed truths; {note}"
        if any(reading != readings[0] for reading in readings):
            note += _SIGNS_DECIDE
        return Evidence(readings, note, PRINT)
    data = twins_of(*(source for source, name in APPENDIX_TABLES.items() if name in tables))
    if np.isnan(readings[0]).any():
        return missing(NOT_DONE, f"estimates of all objects and methods ({note})", data=data)
    naive = {}
    if uniform:
        bodies = [[_uniform_instead(key) for key in case] for case in cases]
        naive["uniform body"] = _rows(bodies, errors_by_signs)
    note = f"on twins, constraint as a cost; {note}"
    if tuned:
        return Evidence(readings, f"{note}; {tuned}", FITTED, data, naive)
    return Evidence(readings, note, COMPUTED, data, naive)


def _cases(compared: Sequence[Mapping[str, Any]], measures: Sequence[str]) -> list[list[Key]]:
    """Of every measure, comparison and object the keys (source, method, object, measure) that are
    compared; a row that names its object keeps it.
    """
    cases = []
    for measure, comparison in product(measures, compared):
        rows = comparison["rows"]
        first_source = rows[0][0]
        for name in comparison.get("objects", OBJECTS[first_source]):
            cases.append([(*(*row, name)[:3], measure) for row in rows])
    return cases


def _uniform_instead(key: Key) -> Key:
    """The uniform body in an estimate's place; no hull says a mass, so that is the estimate's."""
    source, method, name, measure = key
    return source, method if measure == MASS else UNIFORM, name, measure


def _rows(
    cases: Sequence[Sequence[Key]], errors_by_signs: Sequence[Mapping[Key, float]]
) -> list[list[tuple[float, ...]]]:
    """In each reading the cases' errors, a row of each; nan for an estimate that the run hasn't."""
    compared = list(zip(*cases, strict=True))
    return [
        [tuple(errors.get(key, np.nan) for key in row) for row in compared]
        for errors in errors_by_signs
    ]


def _medians(cases: Sequence[Sequence[Key]], reading: Sequence[Sequence[float]]) -> str:
    """Each measure's medians over objects, one for every row that is compared."""
    errors = pd.DataFrame(zip(*reading, strict=True))
    by_measure = errors.groupby([case[0][3] for case in cases], sort=False).median()
    words = []
    for measure, *medians in by_measure.itertuples():
        words.append(f"{measure} {' / '.join(f'{median:.3g}' for median in medians)}")
    return ", ".join(words)


def _in_each_reading(tables: Tables, objects: Objects, origin: str) -> list[dict[Key, float]]:
    """Errors by source, method, object and measure, with every choice of the printed tables' signs."""
    signs = tuple(SIGNS.values()) if origin == PRINT else (1.0,)
    by_table = [
        [_errors(source, tables[name], objects, origin, sign) for sign in signs]
        for source, name in APPENDIX_TABLES.items()
        if name in tables
    ]
    return [dict(ChainMap(*chosen)) for chosen in product(*by_table)]


def _errors(
    source: str, table: pd.DataFrame, objects: Objects, origin: str, sign: float
) -> dict[Any, float]:
    """Errors of a table's estimates, and of the body of uniform density and the true mass in the
    hull that is given.

    Infinite for an estimate that didn't converge; eq. 38 also where no body can have it. ``sign``
    multiplies the off-diagonals.
    """
    found: dict[Any, float] = {}
    truths = table[table["method"] == GROUND_TRUTH].set_index("object").to_dict("index")
    asked = table["origin"].isin(_SOLVERS[origin]) & (table["method"] != GROUND_TRUTH)
    rows: list[dict[Any, Any]] = table[asked].to_dict("records")
    for name in truths:
        thing = object_of(objects, str(name))
        far = geodesic_distance(thing.uniform_body, thing.parameters)
        labels = {"method": UNIFORM, "object": name, "geodesic_error": far}
        rows.append({**labels, **parameter_values(thing.uniform_body)})
    for row in rows:
        one, truth = _numbers(row), _numbers(truths[row["object"]])
        one[7:] *= 1.0 if row["method"] == UNIFORM else sign
        apart, ratio = one - truth, one / truth
        with np.errstate(divide="ignore"):
            factor = np.where(ratio > 0.0, np.maximum(ratio, 1.0 / ratio), np.inf)
        measured = {
            INERTIAL_ERROR: row["geodesic_error"],
            MASS: abs(apart[0] / truth[0]),
            CENTER: np.linalg.norm(apart[1:4]),
            TENSOR: np.linalg.norm(tensor(apart[4:])) / np.linalg.norm(tensor(truth[4:])),
            DIAGONAL: factor[4:7].max(),
            ALL_TEN: factor.max(),
        }
        for measure, error in measured.items():
            found[source, row["method"], row["object"], measure] = (
                float(error) if np.isfinite(error) else np.inf
            )
    return found


def _numbers(row: Mapping[Any, Any]) -> np.ndarray:
    return np.array([row[name] for name in PARAMETER_COLUMNS], dtype=float)


def bodies(tables: Tables, origin: str, rows: str, none: bool = False) -> Evidence:
    """Whether each estimate can be a body's (P of eq. 21 is positive definite); ``none``: whether
    not.
    """
    table = _margins(tables, origin, rows)
    ours = table["solver"] == LIKELIHOOD
    possible = (table["margin"] > 0.0) != none
    if ours.all():
        return missing(NOT_DONE, f"estimates by the paper's methods ({rows})")
    count = f"{(table.loc[~ours, 'margin'] > 0.0).sum()} of {(~ours).sum()} estimates are a body's"
    if origin == PRINT:
        rounded = f"{(table['margin_under_rounding'] >= 0.0).sum()} within rounding"
        note = f"printed rows, with either sign: {count}, {rounded}"
        return Evidence(possible.to_list(), note, PRINT)
    naive = {"a body by construction": possible[ours].to_list()}
    data = twins_of(*table["source"].unique())
    return Evidence(possible[~ours].to_list(), f"on twins, {count}", COMPUTED, data, naive)


def shortfalls(tables: Tables, origin: str) -> Evidence:
    """How far an estimate is from a body's, with the constraint and without it, as a share of m
    |c|^2.

    Of those that aren't a body's without the constraint.
    """
    rows = _margins(tables, origin, f"method in ('{CONSTRAINED}', '{FREE}')")
    rows, keys = rows[rows["solver"] != LIKELIHOOD], ["source", "object", "seed"]
    if not {CONSTRAINED, FREE} <= set(rows["method"]):
        return missing(NOT_DONE, "estimates by the paper's way with the constraint and without it")
    short = -rows.pivot(index=keys, columns="method", values="margin").clip(upper=0.0)
    outside = short[short[FREE] > 0.0]
    note = f"{len(outside)} of {len(short)} estimates aren't a body's without the constraint"
    given = (outside[CONSTRAINED].to_list(), outside[FREE].to_list())
    if origin == PRINT:
        return Evidence(given, f"printed rows, with the better sign; {note}", PRINT)
    return Evidence(given, f"on twins, {note}", COMPUTED, twins_of(*rows["source"].unique()))


def _margins(tables: Tables, origin: str, wanted: str) -> pd.DataFrame:
    """Estimates with their :func:`.printed.consistency_margin`; of a printed row with the better
    sign.
    """
    (table,) = tables.values()
    rows = table.query(wanted, engine="python")
    if origin == PRINT:
        by_row = rows.groupby(["source", "object", "method"], sort=False)
        best = by_row[["margin", "margin_under_rounding"]].max().reset_index()
        return best.assign(solver=PRINTED, seed=0)
    numbers = [_numbers(row) for row in rows.to_dict("records")]
    margins = [
        consistency_margin(InertialParameters(one[0], one[1:4], tensor(one[4:]))) for one in numbers
    ]
    return rows.assign(margin=np.where(is_true(rows["converged"]), margins, -np.inf))


def on_twins(
    tables: Tables,
    data: Sequence[str],
    calculation: Mapping[str, Any],
    errors: Sequence[str] = (),
    tuned: str = "",
) -> Evidence:
    """A calculation with columns (:func:`contactid.output.evidence.calculated`) of a table from
    twins.

    Parameters
    ----------
    data : parts of the twins
    errors : columns that are infinite where nothing converged
    tuned : why the twins aren't independent of print
    """
    ((name, table),) = tables.items()
    for error in errors:
        table = table.assign(**{error: table[error].where(table["converged"] > 0).fillna(np.inf)})
    evidence = calculated({name: table}, **calculation)
    note = "; ".join(filter(None, (evidence.note and f"on twins, {evidence.note}", tuned)))
    basis = FITTED if tuned else COMPUTED
    return replace(evidence, note=note, basis=basis, data=twins_of(*data))


def force_scale(tables: Tables) -> Evidence:
    """How much a sensed force changes at the wrist, and at one fingertip (figure 9)."""
    by_sensor = (
        tables["fig09_force_scale"]
        .groupby(["sensor", "component"])["reported_n"]
        .var()
        .groupby("sensor")
        .sum()
    )
    mounted, held = np.sqrt(by_sensor["wrist"]), np.sqrt(by_sensor.drop("wrist").max())
    note = f"on twins, standard deviation over time {mounted:.3g} N at the wrist, {held:.3g} N at a fingertip"
    # a fingertip that carries a quarter of the load passes whatever the others do to it
    naive = {"a quarter of the load": ([mounted], [mounted / 4.0])}
    return Evidence(([mounted], [held]), note, COMPUTED, twins_of(WRIST, IN_HAND_KINEMATIC), naive)


def units(objects: Objects) -> Evidence:
    """Relative change of eq. 38 from kg and m to g and mm, of the boxes and the uniform bodies in
    their hulls.
    """
    boxes = [object_of(objects, name) for name in BOXES]

    def changes(distance: Callable[[InertialParameters, InertialParameters], float]) -> list[float]:
        ratios = []
        for box in boxes:
            body, uniform = box.parameters, box.uniform_body
            in_kg_and_m = distance(body, uniform)
            in_g_and_mm = distance(_in_g_and_mm(body), _in_g_and_mm(uniform))
            ratios.append(float(in_g_and_mm / in_kg_and_m))
        return [ratio - 1.0 for ratio in ratios]

    geodesic = changes(geodesic_distance)
    naive = {
        "difference of the ten numbers": changes(
            lambda one, other: float(np.linalg.norm(one.vector - other.vector))
        ),
        "difference of P": changes(
            lambda one, other: float(np.linalg.norm(pseudo_inertia(one.vector - other.vector)))
        ),
    }
    note = f"changes by {np.abs(geodesic).max():.1g} at most"
    return Evidence(geodesic, note, COMPUTED, naive=naive)


def _in_g_and_mm(body: InertialParameters) -> InertialParameters:
    return InertialParameters(1e3 * body.mass, 1e3 * body.center_of_mass, 1e9 * body.inertia)
