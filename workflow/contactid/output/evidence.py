"""Evidence that is a calculation with columns of tables, which a ledger states as expressions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.statements import Evidence, missing
from contactid.output.verdicts import COMPUTED, NOT_DONE

# numbers that a note lists; of more it has the median and the range
_LISTED = 16


def calculated(
    tables: Mapping[str, pd.DataFrame],
    words: str,
    numbers: Sequence[str],
    against: Sequence[str] = (),
    pairs: bool = False,
    rows: str = "",
    columns: Sequence[str] = (),
    value: str = "",
    index: str = "",
    new: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    naive: Mapping[str, Sequence[str]] | None = None,
    naive_rows: Mapping[str, str] | None = None,
    names: dict[str, Any] | None = None,
    basis: str = COMPUTED,
    dataset: str = "",
    named_by: Sequence[str] = (),
    absent: str = "",
) -> Evidence:
    """The values of expressions of columns (:meth:`pandas.DataFrame.eval`).

    Parameters
    ----------
    tables : taken below each other
    words : what the numbers are
    numbers, against : expressions of the numbers, and of a second row of them; a subscript, as in
        ``error[method == 'a']``, takes one comparison
    pairs : give the values of two expressions as pairs
    rows : those that count (:meth:`pandas.DataFrame.query`)
    columns, value, index : columns that part the numbers, then named ``<part>_<part>_<column>``,
        or ``<part>`` of one column ``value``; there is a row per ``index``, or one in all
    new : expressions of further columns, by name
    by : columns that part the table into cases
    naive, naive_rows : naive answers by name: what they have in place of ``numbers``, of ``rows``
    names : what expressions of rows have as ``@name``
    basis, dataset : as of :class:`contactid.output.statements.Evidence`, its basis and data
    named_by : columns that name the datasets, in place of ``dataset``
    absent : what is missing where a run lacks such rows or columns
    """
    whole = pd.concat(tables.values(), ignore_index=True)

    # numexpr, which pandas would take where it is installed, knows fewer functions
    def selected(query: str) -> pd.DataFrame:
        table = whole
        if query:
            table = table.query(query, local_dict=names, engine="python")
        if columns:
            table = _pivoted(table, columns, value, index)
        for name, expression in (new or {}).items():
            column: Any = table.eval(expression, engine="python")
            table = table.assign(**{name: column})
        return table

    def answer(expressions: Sequence[str], query: str) -> Any:
        """Our numbers, with the second row of them where there is one; None where one is empty."""
        table = selected(query)
        cases = [table]
        if by:
            cases = [case for _, case in table.groupby(list(by), sort=False)]
        ours = _values(cases, expressions, pairs)
        if not against:
            return ours if len(ours) else None
        second = _values(cases, against, pairs)
        return (ours, second) if len(ours) and len(second) else None

    naive_answers: dict[str, Any] = {}
    try:
        result = answer(numbers, rows)
        for name, expressions in (naive or {}).items():
            naive_answers[name] = answer(expressions, rows)
        for name, query in (naive_rows or {}).items():
            naive_answers[name] = answer(numbers, query)
    # a configuration may leave out what has a column
    except pd.errors.UndefinedVariableError:
        result = None
    if result is None:
        return missing(NOT_DONE, absent or f"{words}, of which this run has none")
    sides = result
    if not against:
        sides = np.transpose(result) if pairs else [result]
    note = f"{words}: {' against '.join(map(_in_words, sides))}"
    if not dataset:
        dataset = ", ".join(_datasets(selected(rows), named_by))
    # a naive answer that a run has no rows of is none that could be refused
    naive_answers = {name: given for name, given in naive_answers.items() if given is not None}
    return Evidence(result, note, basis, dataset, naive_answers)


def _datasets(table: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """The datasets that a table's columns name, each once; a column may be absent."""
    # a dictionary without values: a set that keeps its order
    names: dict[str, None] = {}
    for column in columns:
        if column in table:
            names |= dict.fromkeys(table[column])
    return list(names)


def _pivoted(table: pd.DataFrame, columns: Sequence[str], value: str, index: str) -> pd.DataFrame:
    """Numbers side by side, by the values of some columns."""
    number_columns = [value]
    if not value:
        numeric = table.select_dtypes("number").columns
        number_columns = list(numeric.difference([*columns, index]))
    # without an index all rows are one, of a column with an empty name
    if not index:
        table = table.assign(**{index: 0})
    wide = table[[index, *columns, *number_columns]].pivot_table(index=index, columns=list(columns))
    # each (number's column, part, part ...)
    headings: list[Any] = list(wide.columns)
    names = []
    for number_column, *parts in headings:
        # pandas puts the number's column first; in an expression it reads better last
        name = parts if value else [*parts, number_column]
        names.append("_".join(map(str, name)))
    wide.columns = pd.Index(names)
    return wide.reset_index()


def _values(cases: Sequence[pd.DataFrame], expressions: Sequence[str], pairs: bool) -> np.ndarray:
    """Values of expressions, of one case's rows after the other's; none where one has none."""
    values = []
    for case in filter(len, cases):
        for expression in expressions:
            value = case.eval(expression, engine="python")
            values.append(np.ravel(np.asarray(value)))
    if not values or not all(map(len, values)):
        return np.empty(0)
    return np.transpose(values) if pairs else np.concatenate(values)


def _in_words(numbers: np.ndarray) -> str:
    # truth values
    if numbers.dtype == bool:
        return f"{numbers.sum()} of {len(numbers)}"
    if len(numbers) > _LISTED:
        median = f"median {np.median(numbers):.3g} of {len(numbers)}"
        return f"{median}, {numbers.min():.3g} to {numbers.max():.3g}"
    return ", ".join(f"{number:.3g}" for number in numbers)
