"""Is there a convention under which the printed estimates are bodies'? The appendix says none.

Every convention says how a printed row's second moments about the centre of mass follow from its
numbers; a body's are positive definite. A row counts as possible if either sign of its
off-diagonals makes it so. A convention that is meant must also explain the ground truths in the
same tables. These are boxes along the axes: of their off-diagonals about the centre of mass next to
nothing is left, and their second moments there fit into the objects' shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import permutations, product

import numpy as np
import pandas as pd

from contactid.inhand.artefacts.printed import SIGNS, WITH_CONSTRAINT, printed_table
from contactid.inhand.identify.methods import CONSTRAINED, GROUND_TRUTH, METHODS, PARAMETER_COLUMNS
from contactid.inhand.readers.objects import InHandObject, load_objects, object_of
from contactid.inhand.readers.sources import SOURCES
from contactid.output.tables import read_csv

#: Second moments (n, 3, 3) about the centre of mass, of masses (n,), centres (n, 3) and the six
#: columns as a matrix.
Convention = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
_ROWS, _COLUMNS = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)  # of the six printed entries
_LEFT = (
    0.1  # of the largest m c_i c_j: off-diagonals that rounding of the truths leaves (7 % at most)
)
ORIGIN, CENTER = "tensor about the origin", "tensor about the centre of mass"


def convention_table(published: str, objects: str) -> pd.DataFrame:
    """``ext_printed_conventions``: a row per convention, how many printed rows it makes possible.

    Columns convention, ``estimates`` (of 85), ``with_constraint`` (of 40), a column per source (of
    25, 20, 20, 20 estimates), and ``truths_explained`` (of 20).
    """
    printed, loaded = printed_table(read_csv(published)), load_objects(objects)
    rows = _as_arrays(printed, loaded)
    tables = [{"convention": name} | _counts(printed, *found) for name, found in _all_judged(rows)]
    return pd.DataFrame(tables)


@dataclass(frozen=True, eq=False)
class PrintedRows:
    """Printed rows as arrays: masses (n,), centres (n, 3), columns of the tensor (n, 6), all in SI
    units with signs as printed; largest second moments per mass (n,) m2 that a body in the object's
    shape can have about its centre, summed over the axes; and which rows are estimates (n,).
    """

    mass: np.ndarray
    center: np.ndarray
    columns: np.ndarray
    extent: np.ndarray
    estimate: np.ndarray


def _as_arrays(printed: pd.DataFrame, objects: Mapping[str, InHandObject]) -> PrintedRows:
    numbers = printed[list(PARAMETER_COLUMNS)].to_numpy(dtype=float)
    # no mass on an interval has a larger second moment about its centre than two halves at the ends
    half = np.array(
        [0.5 * np.ptp(object_of(objects, name).hull_vertices, axis=0) for name in printed["object"]]
    )
    estimate = (printed["method"] != GROUND_TRUTH).to_numpy()
    return PrintedRows(
        numbers[:, 0], numbers[:, 1:4], numbers[:, 4:], np.sum(half**2, axis=1), estimate
    )


def _counts(printed: pd.DataFrame, possible: np.ndarray, explained: np.ndarray) -> dict[str, int]:
    estimates = (printed["method"] != GROUND_TRUTH).to_numpy()
    constrained = printed["method"].isin([CONSTRAINED, METHODS[-1]]).to_numpy()
    of_source = {source: (printed["source"] == source).to_numpy() & estimates for source in SOURCES}
    groups = {"estimates": estimates, WITH_CONSTRAINT: constrained} | of_source
    counts = {name: int(np.sum(possible & group)) for name, group in groups.items()}
    return counts | {"truths_explained": int(np.sum(explained & ~estimates))}


def _all_judged(rows: PrintedRows) -> Iterator[tuple[str, np.ndarray]]:
    """Name of every convention, and which rows it makes possible and explains, (2, n)."""
    for name, convention in conventions().items():
        either = [
            judged(rows, convention, as_matrices(rows.columns, (sign,) * 3))
            for sign in SIGNS.values()
        ]
        yield name, np.logical_or.reduce(either)
    for name in (ORIGIN, CENTER):
        yield (
            f"{name}, columns in the best of all orders and signs",
            _best_order(rows, conventions()[name]),
        )


def conventions() -> dict[str, Convention]:
    """Every convention that keeps the order of the columns."""
    tried: dict[str, Convention] = {
        ORIGIN: lambda m, c, t: second_moments(t) - points(m, c),
        # about any other point, in any axes, in any unit these must be positive definite as well
        CENTER: lambda m, c, t: second_moments(t),
        "about the origin, axes turned against the centre's by any rotation": _turned,
        "second moments in place of the tensor, about the origin": lambda m, c, t: t - points(m, c),
        "second moments in place of the tensor, about the centre of mass": lambda m, c, t: t,
        "tensor per kilogram": lambda m, c, t: m[:, None, None] * second_moments(t) - points(m, c),
        "tensor times the mass": lambda m, c, t: (
            second_moments(t) / m[:, None, None] - points(m, c)
        ),
        "first moments in place of the centre of mass": lambda m, c, t: (
            second_moments(t) - points(1.0 / m, c)
        ),
    }
    for share in (-1.0, 0.5, 2.0):
        tried[f"parallel-axis part times {share:g}"] = _scaled(1.0, share)
    for factor in (1e-3, 1e-2, 0.1, 2.0, 10.0, 100.0, 1e3):
        tried[f"tensor times {factor:g}"] = _scaled(factor, 1.0)
    for unit, meters in (("dm", 0.1), ("cm", 0.01), ("mm", 1e-3)):
        tried[f"centre of mass in {unit}"] = _scaled(1.0, meters**2)
    return tried


def _scaled(tensor: float, share: float) -> Convention:
    return lambda m, c, t: tensor * second_moments(t) - share * points(m, c)


def _turned(mass: np.ndarray, center: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Least is lost where the centre lies along the axis of the largest second moment."""
    # ascending
    moments = np.linalg.eigvalsh(second_moments(columns))
    moments[:, -1] -= mass * np.sum(center**2, axis=1)
    return moments[:, :, None] * np.eye(3)


def as_matrices(columns: np.ndarray, signs: Sequence[float]) -> np.ndarray:
    """Symmetric matrices (n, 3, 3) of six columns (n, 6): xx, yy, zz, xy, xz, yz, the last three
    with signs.
    """
    entries = columns * np.array([1.0, 1.0, 1.0, *signs])
    matrices = np.empty((len(entries), 3, 3))
    matrices[:, _ROWS, _COLUMNS] = matrices[:, _COLUMNS, _ROWS] = entries
    return matrices


def second_moments(tensors: np.ndarray) -> np.ndarray:
    """Sigma = tr(I) / 2 Id - I of tensors (n, 3, 3), as in :mod:`contactid.core.inertia`."""
    traces = np.trace(tensors, axis1=1, axis2=2)
    return 0.5 * traces[:, None, None] * np.eye(3) - tensors


def points(mass: np.ndarray, center: np.ndarray) -> np.ndarray:
    """Second moments m c c^T (n, 3, 3) of the masses at their centres, about the origin."""
    return mass[:, None, None] * center[:, :, None] * center[:, None, :]


def judged(rows: PrintedRows, convention: Convention, columns: np.ndarray) -> np.ndarray:
    """Which rows are possible, by positive masses and moments, and which also explained if they are
    truths: (2, n).
    """
    moments = convention(rows.mass, rows.center, columns)
    possible = (rows.mass > 0.0) & positive_definite(moments)
    off_diagonal = ~np.eye(3, dtype=bool)
    left = np.abs(moments[:, off_diagonal]).max(axis=1)
    carried = np.abs(points(rows.mass, rows.center)[:, off_diagonal]).max(axis=1)
    fits = np.trace(moments, axis1=1, axis2=2) <= rows.mass * rows.extent
    return np.stack([possible, possible & fits & (left <= _LEFT * carried)])


def positive_definite(matrices: np.ndarray) -> np.ndarray:
    """Sylvester's criterion of symmetric matrices (n, 3, 3): all leading minors are positive."""
    first, second = (
        matrices[:, 0, 0],
        matrices[:, 0, 0] * matrices[:, 1, 1] - matrices[:, 0, 1] ** 2,
    )
    return (first > 0.0) & (second > 0.0) & (np.linalg.det(matrices) > 0.0)


def _best_order(rows: PrintedRows, convention: Convention) -> np.ndarray:
    """Of all orders of the six columns and signs of the last three, what makes the most estimates
    possible: (2, n).

    Among several such, what explains the most truths.
    """
    choices = list(product((1.0, -1.0), repeat=3))
    arrays = (getattr(rows, column.name) for column in fields(rows))
    repeated = PrintedRows(*(np.concatenate([array] * len(choices)) for array in arrays))
    best, most = np.zeros((2, len(rows.mass)), dtype=bool), (-1, -1)
    for order in permutations(range(6)):
        columns = rows.columns[:, order]
        found = judged(
            repeated, convention, np.concatenate([as_matrices(columns, signs) for signs in choices])
        )
        for one in np.split(found, len(choices), axis=1):
            counts = int(one[0, rows.estimate].sum()), int(one[1, ~rows.estimate].sum())
            if counts > most:
                best, most = one, counts
    return best
