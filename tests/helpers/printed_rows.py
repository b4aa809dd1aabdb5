"""Printed numbers as ``published/<study>.csv`` has them."""

import pandas as pd

COLUMNS = (
    *("artefact", "quantity", "condition", "value", "unit", "tolerance", "tolerance_from", "where"),
)


def printed_rows(*rows):
    """A table of rows, each with all columns in their order."""
    return pd.DataFrame(rows, columns=list(COLUMNS))


def printed_masses(quantities):
    """A row for each quantity: 1 kg, with a tolerance of 0.1 kg."""
    return printed_rows(
        *(("t", name, "", 1.0, "kg", 0.1, "rounding", "p. 1") for name in quantities)
    )
