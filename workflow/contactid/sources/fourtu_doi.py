"""DOIs of 4TU.ResearchData, taken apart without asking anyone.

``10.4121/<id>.v<n>`` is one version of a dataset, ``10.4121/<id>`` the dataset whatever its version, ``10.4121/c.<id>``
a collection. ``<id>`` is a number (deposits of the figshare era) or the uuid of the container (since then). Older DOIs
(``10.4121/uuid:...``) say nothing about the id that the server wants; they have to be looked up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from contactid.core.errors import ContactIdError

PREFIX = "10.4121"
_RESOLVERS = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SUFFIX = re.compile(rf"^(?P<collection>c\.)?(?P<id>[0-9]+|{_UUID})(?:\.v(?P<version>[1-9][0-9]*))?$")


@dataclass(frozen=True)
class FourTuDoi:
    """A DOI of the repository.

    Attributes
    ----------
    suffix : what follows ``10.4121/``, without the version
    identifier : what the server calls the dataset or collection; empty where the DOI doesn't say it
    version : None where the DOI means whichever version
    is_collection : whether it names a collection of datasets
    """

    suffix: str
    identifier: str
    version: int | None = None
    is_collection: bool = False

    def __str__(self) -> str:
        """The DOI as it is cited."""
        return f"{PREFIX}/{self.suffix}" + (f".v{self.version}" if self.version else "")

    def at(self, version: int) -> FourTuDoi:
        """The DOI of one version of the same dataset."""
        return FourTuDoi(self.suffix, self.identifier, version, self.is_collection)


def parse_doi(text: str) -> FourTuDoi:
    """Take a DOI apart; a resolver's address or ``doi:`` before it is dropped, letter case doesn't matter.

    Raises
    ------
    ContactIdError
        For what isn't a DOI of this repository.
    """
    bare = _RESOLVERS.sub("", text.strip()).lower()
    prefix, _, suffix = bare.partition("/")
    if prefix != PREFIX or not suffix or re.search(r"\s", suffix):
        raise ContactIdError(f"{text!r} is no DOI of 4TU.ResearchData", f"Those begin with {PREFIX}/")
    match = _SUFFIX.match(suffix)
    if match is None:
        return FourTuDoi(suffix, "")
    version = int(match["version"]) if match["version"] else None
    collection = match["collection"] is not None
    return FourTuDoi(("c." if collection else "") + match["id"], match["id"], version, collection)
