"""Where a dataset comes from, and whether a number made from it may be held against the paper's
measured one.

One rule for all studies: it has a DOI that the paper names, its files are those of a lock that was
resolved at the archive's own server, and no file says that it is synthetic. What the authors drew
their figures from, in their own repository at a commit, counts as well; a lock takes that from its
address alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from contactid.output.verdicts import ARCHIVE, RECORDING, TWIN, TWIN_OF_PRINT
from contactid.sources import fourtu_client
from contactid.sources.lockfile import LockedArchive
from contactid.sources.registry import FOURTU, GITHUB, OWN, Dataset, parse_doi

#: DOIs of the recordings behind the papers' numbers: tossing [21] and its parts, arm [20].
PAPERS = {
    "tossing": (
        "10.4121/c.6278310", "10.4121/17122553", "10.4121/21024007", "10.4121/21387510", "10.4121/21387606",
        "10.4121/21399657",
    ),
    "arm": ("10.4121/14192429",),
}  # fmt: skip
#: Repositories of the papers' authors, with the data that their figures were drawn from.
AUTHORS = {"tossing": ("https://github.com/MaartenJongeneel/Paper-Tossing/",)}
#: What is said of recordings that nobody measured.
SYNTHETIC = "synthetic"


class Origin(NamedTuple):
    """Where a dataset comes from, in words, and whether its numbers are compared with the paper's.

    ``made_from`` are patterns of the printed numbers that it was made with (:class:`Dataset`): what
    comes out of it can't be said to be found without them.
    """

    of_the_paper: bool
    told: str
    made_from: Sequence[str] = ()

    @property
    def kind(self) -> str:
        """One of :data:`contactid.output.verdicts.ORIGINS`."""
        if self.of_the_paper:
            return ARCHIVE
        if self.told != SYNTHETIC:
            return RECORDING
        return TWIN_OF_PRINT if self.made_from else TWIN

    def rests_on(self, artefact: str, quantity: str, condition: str) -> bool:
        """Whether it was made with this printed number."""
        number = f"{artefact}/{quantity}/{condition}"
        return any(fnmatchcase(number, pattern) for pattern in self.made_from)


def origin(dataset: Dataset, entry: LockedArchive | None, synthetic: bool) -> Origin:
    """The origin of a dataset; ``synthetic``: its files say so. What is read was held against
    ``entry`` before.
    """
    if synthetic or dataset.synthetic:
        return Origin(False, SYNTHETIC, dataset.made_from)
    if dataset.kind == OWN:
        return Origin(False, "recordings of your own")
    unlocked = Origin(False, f"{dataset.source}, which isn't in the lock file")
    if dataset.kind == GITHUB and dataset.source.startswith(AUTHORS.get(dataset.study, ())):
        is_locked = entry is not None and entry.source == dataset.source
        return Origin(True, dataset.source) if is_locked else unlocked
    papers = PAPERS.get(dataset.study, ())
    if dataset.kind != FOURTU or str(parse_doi(dataset.source)) not in papers:
        return Origin(False, "recordings of others than the paper's authors")
    if entry is None:
        return unlocked
    # a server of one's own may answer to any DOI
    server = urlsplit(entry.base).hostname
    official = urlsplit(fourtu_client.BASE_URL).hostname
    resolved = f"{entry.source}, resolved at {server} on {entry.locked_on}"
    if server != official:
        return Origin(False, f"{resolved}, which isn't {official}")
    return Origin(True, resolved)


def read_origins(cards: Iterable[str | Path]) -> dict[str, Origin]:
    """The origins that data cards tell, by dataset."""
    origins = {}
    for path in cards:
        card = json.loads(Path(path).read_text(encoding="utf-8"))
        origins[card["name"]] = Origin(*(card[field] for field in Origin._fields))
    return origins
