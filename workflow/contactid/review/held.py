"""Hold a run's samples against those of a stored result (:mod:`contactid.output.stored`).

A study says in its rules what a stored result is (``STORED``): the ``function`` that computes it,
the ``settings`` that it depends on, ``key`` columns that name a sample, the ``value`` that is
compared, its ``tolerance``; the rules add ``code``, that function's fingerprint now.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.stored import read_stored
from contactid.output.tables import read_csv, write_csv
from contactid.review.arithmetic import describe_arithmetic

HOLDS, DIFFERS, OLDER, NOT_COMPARED = "holds", "differs", "stored by older code", "not compared"
#: Verdicts that ``make check`` fails by; ``not compared`` is a run with other settings than the
#: stored result's.
FAILS = (DIFFERS, OLDER)


def hold(
    stored: Sequence[str],
    samples: Sequence[str],
    results: Mapping[str, Mapping[str, Any]],
    held: str,
) -> None:
    """Hold a run's samples against the stored ones: a row of :func:`compare_samples` per result.

    ``results`` are as the module says, by name. Each takes two files of ``stored`` and as many of
    ``samples``, the run's tables, as it says under this name, in order.
    """
    arithmetic = describe_arithmetic()
    stored_files, sample_files = iter(stored), iter(samples)
    rows = []
    for name, result in results.items():
        table, record = read_stored(list(islice(stored_files, 2)))
        tables = [read_csv(file) for file in islice(sample_files, result["samples"])]
        ours = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame()
        rows.append({"name": name, **compare_samples(table, record, ours, result, arithmetic)})
    # a run may have no stored result
    columns = None if rows else ["name"]
    write_csv(pd.DataFrame(rows, columns=columns), held)


def compare_samples(
    stored: pd.DataFrame,
    made: Mapping[str, Any],
    ours: pd.DataFrame,
    result: Mapping[str, Any],
    arithmetic: Mapping[str, Any],
) -> dict[str, Any]:
    """How far a run's samples are from the stored ones of the same key.

    ``made`` is the stored samples' provenance.

    Returns
    -------
    dict
        ``samples`` that are stored, ``compared``, ``moved`` (by more than the tolerance),
        ``largest_deviation`` and ``tolerance`` in the unit of ``value``; ``same_code``; ``made_on``
        (processor, and which numba compiled for), ``made_at``, ``same_arithmetic`` as here; and the
        verdict. The code's age goes first. Where the libraries choose the functions that they chose
        for the stored result, no sample may have moved. Where they choose others, a solve may end
        at another local optimum, and half of the samples may. A number on one side alone has moved.
    """
    deviations = np.array([])
    # stored settings were JSON, in which a tuple is a list and every key a text
    if len(ours) and made["settings"] == json.loads(json.dumps(result["settings"])):
        deviations = _deviations(stored, ours, list(result["key"]), str(result["value"]))
    same_code = made["code"] == result["code"]
    same_arithmetic = made["arithmetic"] == arithmetic
    n_compared = len(deviations)
    n_moved = int((deviations > result["tolerance"]).sum())
    # another local optimum by another rounding is no error; most samples must agree all the same
    n_may_move = 0 if same_arithmetic else n_compared // 2
    if not same_code:
        verdict = OLDER
    elif not n_compared:
        verdict = NOT_COMPARED
    else:
        verdict = DIFFERS if n_moved > n_may_move else HOLDS
    return {
        "samples": len(stored),
        "compared": n_compared,
        "moved": n_moved,
        "value": str(result["value"]),
        "largest_deviation": deviations.max() if n_compared else np.nan,
        "tolerance": result["tolerance"],
        "same_code": "yes" if same_code else "no",
        "made_on": f"{made['processor']} ({made['arithmetic']['numba']})",
        "made_at": made["git_commit"][:12],
        "same_arithmetic": "yes" if same_arithmetic else "no",
        "verdict": verdict,
    }


def _deviations(stored: pd.DataFrame, ours: pd.DataFrame, key: list[str], value: str) -> np.ndarray:
    """How far our values are from the stored ones, of the samples that both have."""
    both = stored.merge(ours, on=key, suffixes=("", "_ours"))
    value_ours = f"{value}_ours"
    deviations = np.array((both[value] - both[value_ours]).abs(), dtype=float)
    absent = both[[value, value_ours]].isna().to_numpy()
    # a solve that failed on one side alone is as far away as can be
    deviations[absent.any(axis=1)] = np.inf
    deviations[absent.all(axis=1)] = 0.0
    return deviations


def tell_stored(held: str | Path, study: str = "") -> list[tuple[str, str]]:
    """Of each row that :func:`hold` wrote, of a study or all, a sentence, and what is wrong."""
    lines = []
    for row in read_csv(held).to_dict("records"):
        if not row["name"].startswith(study):
            continue
        name, verdict = row["name"], row["verdict"]
        arithmetic = "as here" if row["same_arithmetic"] == "yes" else "other arithmetic than here"
        sentence = (
            f"Stored result {name}: {verdict}; "
            f"{row['compared']} of {row['samples']} samples compared, "
            f"{row['moved']} moved by more than {row['tolerance']:g} in {row['value']}, "
            f"the furthest by {row['largest_deviation']:.3g}; "
            f"made on {row['made_on']}, {arithmetic}, at commit {row['made_at']}"
        )
        problem = ""
        if verdict in FAILS:
            sentence += f"; if that is right, make store NAME={name} and commit it"
            problem = f"stored result {name}: {verdict}"
        lines.append((sentence, problem))
    return lines
