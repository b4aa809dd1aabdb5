"""Evidence for what the tossing paper states, from the run's tables and from its own numbers.

Most statements are a calculation with the columns of one table, which their ledger states
(:func:`numbers_of`). Functions of evidence are given by name the ``tables`` of their statement, its
settings, and what :mod:`contactid.tossing.checks` hands over: ``printed`` values by artefact,
quantity and condition, the ``recordings``, and the paper's own ``schemes``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from contactid.output.comparison import Key, datasets_of
from contactid.output.evidence import calculated
from contactid.output.statements import Evidence
from contactid.output.verdicts import NEEDS_ARCHIVE, NOT_DONE, PRINT, Lack
from contactid.sources.origin import Origin
from contactid.tossing.configuration import BOXES, SIMULATOR

Printed = Mapping[Key, float]
Tables = Mapping[str, pd.DataFrame]
Schemes = Mapping[str, str]

SIMULATORS = ("matlab", "algoryx")
ERRORS = [
    "position_error_mean_cm", "position_error_std_cm", "rotation_error_mean_deg", "rotation_error_std_deg",
]  # fmt: skip
PARAMETERS = ["friction_mu", "restitution_e_n"]
_KINDS = {"velocity": "tab03", "trajectory": "tab03", "no_restitution": "tab04"}
_TOSSES = 50  # of each box, which Table III's deviations are of
_DATASETS = ("velocity_identified_on", "dataset")  # columns that name what a row was made from


@dataclass(frozen=True)
class Recordings:
    """The paper's own recordings, and what the run has in their place."""

    origins: Mapping[str, Origin]  # of the run's datasets, by name
    archives: Mapping[str, str]  # DOI of every archive of the study, by the dataset's name
    # by predicted dataset the one that its trajectory-based parameters were identified on
    behind: Mapping[str, str]

    def lack(self, what: str, roles: Sequence[str], boxes: Sequence[str], data: str) -> Lack | None:
        """What keeps ``data`` from showing something of the paper's boxes; of several, all are
        needed.

        ``roles`` are those of the paper's datasets: ``trajectories``, ``validation``, ``drops``.
        """
        names = [f"iam_{box.lower()}_{role}" for box in boxes for role in roles]
        # a box without an archive of drops is identified on the impacts of its trajectories
        needed = {
            name if name in self.archives else name.replace("drops", "trajectories"): ""
            for name in names
        }
        ours = datasets_of(data)
        complete = len(boxes) == 1 or set(needed) <= set(ours)
        if ours and complete and all(self.origins[name].of_the_paper for name in ours):
            return None
        if all(name in self.origins and self.origins[name].of_the_paper for name in needed):
            return Lack(NOT_DONE, f"{what}, which isn't to be had of {', '.join(needed)}")
        archives = ", ".join(f"{name} {self.archives[name]}" for name in needed)
        return Lack(NEEDS_ARCHIVE, f"{what} from {archives}")

    def data_of(self, names: Iterable[str]) -> str:
        """Names of datasets as a row has them, with those that predicted ones rest on."""
        every = [part for name in names for part in (self.behind.get(name, name), name)]
        return ", ".join(dict.fromkeys(every))

    def note(self, data: str, *words: str) -> str:
        """A note that ends with where the data come from."""
        sources = ", ".join(dict.fromkeys(self.origins[name].told for name in datasets_of(data)))
        return "; ".join(filter(None, (*words, sources and f"data: {sources}")))

    def evidence(
        self, names: Iterable[str], given: Any, note: str, naive: Mapping[str, Any], what: str = "",
        roles: Sequence[str] = (), boxes: Sequence[str] = BOXES,
    ) -> Evidence:  # fmt: skip
        """Evidence from some datasets; with ``roles`` it must be the paper's recordings
        (:meth:`lack`).
        """
        data = self.data_of(names)
        lack = self.lack(what, roles, boxes, data) if roles else None
        return Evidence(given, self.note(data, note), data=data, naive=naive, lack=lack)


def condition_of(box: str, kind: str, simulator: str) -> str:
    """The condition of a printed number of Tables II to IV."""
    parameters = "velocity" if kind == "velocity" else "trajectory"
    return f"object={box};parameters={parameters};simulator={simulator}"


def of_print(printed: Printed) -> pd.DataFrame:
    """Tables II to IV side by side, a row per box and simulator; columns begin with ``velocity_``
    and so on.
    """
    rows = []
    for box, simulator in product(BOXES, SIMULATORS):
        row: dict[str, Any] = {"object": box, "simulator": simulator}
        for kind, artefact in _KINDS.items():
            of = condition_of(box, kind, simulator)
            row |= {f"{kind}_{name}": printed["tab02", name, of] for name in PARAMETERS}
            row |= {f"{kind}_{name}": printed[artefact, name, of] for name in ERRORS}
            row |= {f"{kind}_n_tosses": _TOSSES, f"{kind}_n_same_face": _TOSSES}
        rows.append(row)
    return pd.DataFrame(rows)


def of_run(tables: Tables, schemes: Schemes) -> pd.DataFrame:
    """The same of the run's tables by the paper's own schemes, a row per dataset that all of them
    predict.
    """
    identified = tables["tab02_identified_parameters"].drop_duplicates(["identified_on", "scheme"])
    parts = []
    for kind, artefact in _KINDS.items():
        for name, table in tables.items():
            if name.startswith(artefact) and kind in schemes:
                rows = of_scheme(table, schemes[kind]).drop_duplicates("dataset")
                rows = rows.merge(identified[["identified_on", "scheme", *PARAMETERS]], how="left")
                parts.append(rows.set_index("dataset").add_prefix(f"{kind}_"))
    return pd.concat(parts, axis=1, join="inner").reset_index()


def of_scheme(table: pd.DataFrame, scheme: str) -> pd.DataFrame:
    """Our own rows of a scheme, of all tosses."""
    rows = table[table["scheme"] == scheme]
    for column, ours in (("simulator", SIMULATOR), ("subset", "all")):
        rows = rows[rows[column] == ours] if column in rows else rows
    return rows


def numbers_of(
    tables: Tables,
    printed: Printed,
    recordings: Recordings,
    schemes: Schemes,
    calculation: Mapping[str, Any],
    source: str = "",
    recorded: Mapping[str, Any] | None = None,
) -> Evidence:
    """A calculation with columns (:func:`contactid.output.evidence.calculated`), a row per dataset.

    Parameters
    ----------
    calculation : its settings, whose rows have schemes as ``@trajectory``
    source : ``print`` or ``run`` for Tables II to IV side by side; empty for the statement's tables
    recorded : what of the paper's recordings is needed (:meth:`Recordings.evidence`), if any is
    """
    if source == "print":
        return calculated({source: of_print(printed)}, basis=PRINT, **calculation)
    tables = {source: of_run(tables, schemes)} if source else tables
    names = {"velocity": "", **schemes}
    ours = calculated(tables, index="dataset", names=names, named_by=_DATASETS, **calculation)
    data, needed = datasets_of(ours.data), recorded or {}
    evidence = recordings.evidence(data, ours.given, ours.note, ours.naive, **needed)
    return replace(evidence, lack=evidence.lack or ours.lack)


def archives_at_hand(recordings: Recordings) -> Evidence:
    """Which of the archives that the paper names the run read."""
    origins = recordings.origins
    given = [name in origins and origins[name].of_the_paper for name in recordings.archives]
    names = [name for name in recordings.archives if name in origins]
    roles = ("trajectories", "validation", "drops")
    return recordings.evidence(
        names, given, "archives that were read", {}, "what the archives hold", roles
    )


def cost_shapes(tables: Tables, recordings: Recordings) -> Evidence:
    """1 less the correlation of two boxes' trajectory-based costs over the grid (figure 12)."""
    (table,) = tables.values()
    costs = table.pivot(index=PARAMETERS, columns="dataset", values="mean_loss")
    exchanged = costs.swaplevel().sort_index()  # friction in the place of restitution
    pairs = list(combinations(costs, 2))
    unlike = [1.0 - np.corrcoef(costs[one], costs[other])[0, 1] for one, other in pairs]
    naive = {
        "exchanged": [1.0 - np.corrcoef(costs[one], exchanged[other])[0, 1] for one, other in pairs]
    }
    note = "1 less the correlation of costs: " + ", ".join(f"{number:.2g}" for number in unlike)
    return recordings.evidence(
        [*costs], unlike or None, note, naive, "costs of every box (sec IV-B)", ["trajectories"]
    )
