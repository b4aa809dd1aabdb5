"""Results that take too long for every run: computed once, stored with what they were made by, held against each run's.

A stored result is a folder of ``resources/stored/`` with ``table.csv``, a row per sample, and ``provenance.json``. A
study says in its rules what it is (``STORED``): ``function`` that computes it, ``settings`` that it depends on, ``key``
columns that name a sample, ``value`` that is compared, ``tolerance``; and ``code``, that function's fingerprint now.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from contactid.core.errors import ContactIdError
from contactid.output.fits import read_json
from contactid.output.tables import read_csv, write_csv

TABLE, RECORD = "table.csv", "provenance.json"
HOLDS, DIFFERS, OLDER, NOT_COMPARED = "holds", "differs", "stored by older code", "not compared"
#: Verdicts that ``make check`` fails by; ``not compared`` is a run with other settings than the stored result's.
FAILS = (DIFFERS, OLDER)


def read_stored(stored: Sequence[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """A stored result's table and provenance, of the paths of both, in this order.

    Raises :class:`ContactIdError` where the table isn't the one that the provenance is of.
    """
    table, record = stored
    made = read_json(record)
    if hashlib.sha256(Path(table).read_bytes()).hexdigest() != made.get("table_sha256"):
        raise ContactIdError(
            f"{table} isn't what {RECORD} beside it was written for",
            "Restore both from the repository, or store the result again (make store)",
        )
    return read_csv(table), made


def hold(stored: Sequence[str], samples: Sequence[str], result: Mapping[str, Any], held: str) -> None:
    """Hold a run's samples against the stored ones, and write a row of :func:`compare_samples`.

    ``stored`` are the result's files, ``samples`` the run's tables, ``result`` is as the module says.
    """
    ours = pd.concat([read_csv(file) for file in samples], ignore_index=True) if samples else pd.DataFrame()
    table, made = read_stored(stored)
    row = compare_samples(table, made, ours, result)
    write_csv(pd.DataFrame([{"name": Path(stored[0]).parent.name, **row}]), held)


def compare_samples(
    stored: pd.DataFrame, made: Mapping[str, Any], ours: pd.DataFrame, result: Mapping[str, Any]
) -> dict[str, Any]:
    """How far a run's samples are from the stored ones of the same key, which ``made`` is the provenance of.

    Returns
    -------
    dict
        ``samples`` that are stored, ``compared``, ``largest_deviation`` and ``tolerance`` in the unit of ``value``,
        ``same_code``, ``made_on`` (processor), ``made_at``, and the verdict: the code's age goes first. A number on one
        side alone deviates by infinity.
    """
    key, value = list(result["key"]), str(result["value"])
    deviation = np.array([])
    if len(ours) and made["settings"] == json.loads(json.dumps(result["settings"])):
        both = stored.merge(ours, on=key, suffixes=("", "_ours"))
        deviation = (both[value] - both[f"{value}_ours"]).abs().to_numpy(dtype=float)
        absent = both[[value, f"{value}_ours"]].isna().to_numpy()
        deviation = np.where(absent.all(axis=1), 0.0, np.where(absent.any(axis=1), np.inf, deviation))
    same_code, largest = made["code"] == result["code"], deviation.max() if len(deviation) else np.nan
    compared = DIFFERS if largest > result["tolerance"] else HOLDS if len(deviation) else NOT_COMPARED
    return {
        "samples": len(stored),
        "compared": len(deviation),
        "value": value,
        "largest_deviation": largest,
        "tolerance": result["tolerance"],
        "same_code": "yes" if same_code else "no",
        "made_on": made["processor"]["name"],
        "made_at": made["git_commit"][:12],
        "verdict": compared if same_code else OLDER,
    }


def tell_stored(held: Iterable[str | Path]) -> list[tuple[str, str]]:
    """Of each file that :func:`hold` wrote in a run, a sentence, and what is wrong; nothing if nothing is."""
    told = []
    for row in (row for file in held for row in read_csv(file).to_dict("records")):
        name, verdict = row["name"], row["verdict"]
        sentence = (
            f"Stored result {name}: {verdict}; {row['compared']} of {row['samples']} samples compared, largest "
            f"deviation of {row['value']} {row['largest_deviation']:.3g}, tolerance {row['tolerance']:g}; made on "
            f"{row['made_on']} at commit {row['made_at']}"
        )
        wrong = verdict in FAILS
        again = f"; if that is right, make store NAME={name} and commit it" if wrong else ""
        told.append((sentence + again, f"stored result {name}: {verdict}" if wrong else ""))
    return told
