"""What a run judged: its checks and its papers' sentences, in the words of ``studies.yaml``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from contactid.output.tables import read_csv
from contactid.review.report.digest import all_names, asked_by, check_rows, claim_rows
from contactid.review.report.model import Claim


class Judged(NamedTuple):
    """The verdicts of a run.

    Attributes
    ----------
    table : ``checks.csv``
    checks, claims : its rows, and those of ``claims.csv``
        (:mod:`contactid.review.report.digest`)
    wording : ``studies.yaml``, by study
    printed : the numbers that each study's paper prints
    """

    table: pd.DataFrame
    checks: tuple[Any, ...]
    claims: tuple[Claim, ...]
    wording: Mapping[str, Any]
    printed: Mapping[str, pd.DataFrame]

    def checks_of(self, study: str) -> list[Any]:
        """A study's checks, in order."""
        return [check for check in self.checks if check.study == study]

    def claims_of(self, study: str) -> list[Claim]:
        """A study's sentences, in its paper's order."""
        return [claim for claim in self.claims if claim.study == study]


def read_judged(
    checks: str,
    claims: str,
    wording: str,
    published: Sequence[str],
    ledgers: Sequence[str],
    reasons: str,
) -> Judged:
    """Read them from the run's files, and from what is written down of the papers.

    Parameters
    ----------
    checks, claims : ``checks.csv`` and ``claims.csv``
    wording : ``studies.yaml``
    published, ledgers : the printed numbers of each study, and its sentences and statements
    reasons : why numbers differ
    """
    table = read_csv(checks)
    about_studies = read_own_yaml(wording)
    words = {study: about.get("words", {}) for study, about in about_studies.items()}
    names = all_names(table, words)
    rows = check_rows(table, asked_by(ledgers), read_own_yaml(reasons), names)
    sentences = pd.read_csv(claims, dtype=str, keep_default_na=False)
    return Judged(
        table=table,
        checks=rows,
        claims=claim_rows(sentences, rows, names),
        wording=about_studies,
        printed={Path(file).stem: read_csv(file) for file in published},
    )


def read_own_yaml(file: str) -> Any:
    """What a YAML file of the repository holds."""
    return yaml.safe_load(Path(file).read_text(encoding="utf-8"))
