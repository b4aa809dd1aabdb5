"""Ask a 4TU.ResearchData server (djehuty) what a dataset holds.

Of several ways the server offers, only these hold for every version of it met so far: the list of
versions, the details of one version with its files, and a collection's members page by page. The
list of a dataset's files alone, for instance, is version 1's on an older server.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from json import loads
from typing import Any

import requests

from contactid.core.errors import ContactIdError
from contactid.sources.lockfile import LockedArchive, LockedFile
from contactid.sources.places import PATIENT, Patience
from contactid.sources.registry import FOURTU, FourTuDoi, parse_doi
from contactid.sources.web import ask, new_session, reason_of, unreachable

BASE_URL = "https://data.4tu.nl"
# members of a collection that are asked for at once
_PAGE = 100
# a server that never says which page is the last one must not be asked for ever
_MOST_PAGES = 100
# bytes: what is no such server may answer without end
_LARGEST_ANSWER = 2**24


@dataclass(frozen=True)
class FourTuClient:
    """A server.

    Attributes
    ----------
    base : its address, without a slash at the end
    """

    base: str = BASE_URL
    patience: Patience = PATIENT
    session: requests.Session = field(default_factory=new_session, compare=False)

    def resolve(self, doi: FourTuDoi) -> FourTuDoi:
        """The DOI with its id, and with the newest version where it names none."""
        if not doi.identifier:
            doi = self._looked_up(doi)
        if doi.version is not None:
            return doi
        return doi.at(self.versions(doi)[-1])

    def versions(self, doi: FourTuDoi) -> list[int]:
        """Published versions of a dataset or collection, the newest last."""
        answer = self._get(f"{_kind(doi)}/{doi.identifier}/versions", doi, fails=True)
        # 26.8 fails at that where the whole dataset is under embargo
        if answer is None:
            details = self._get(f"{_kind(doi)}/{doi.identifier}", doi)
            if isinstance(details, Mapping) and not doi.is_collection:
                _check_open(doi, details)
            raise ContactIdError(
                f"{doi}: the server cannot say which versions there are (status 500)", "Try later"
            )
        numbers = [entry.get("version") for entry in _records(answer, doi)]
        published = sorted(number for number in numbers if isinstance(number, int) and number > 0)
        if not published:
            raise ContactIdError(
                f"{doi} has no published version", "It may have been withdrawn: look at its page"
            )
        return published

    def article(self, doi: FourTuDoi) -> LockedArchive:
        """A dataset's version (the newest where the DOI names none), files with whole addresses.

        Raises :class:`ContactIdError` for a dataset that doesn't exist, is under embargo,
        restricted, or without files.
        """
        doi = self.resolve(doi)
        details = self._get(f"articles/{doi.identifier}/versions/{doi.version}", doi)
        if not isinstance(details, Mapping):
            raise _not_understood(doi, self.base)
        _check_open(doi, details)
        if details.get("version") not in (None, doi.version):
            raise ContactIdError(
                f"{doi}: the server answers with version {details['version']}", "Report it to 4TU"
            )
        try:
            return _article(doi, details, self.base)
        except (AttributeError, TypeError, ValueError):
            raise _not_understood(doi, self.base) from None

    def members(self, collection: FourTuDoi) -> list[tuple[FourTuDoi, str]]:
        """DOI and title of every dataset in a collection's newest version."""
        titles: dict[str, str] = {}
        for page in range(1, _MOST_PAGES + 1):
            path = f"collections/{collection.identifier}/articles?page={page}&page_size={_PAGE}"
            records = _records(self._get(path, collection), collection)
            for record in records:
                if record.get("doi"):
                    titles[str(record["doi"])] = str(record.get("title") or "")
            # a page that isn't full is the last one
            if len(records) < _PAGE:
                break
        # an empty list doesn't prove absence, but nothing can be done with it
        if not titles:
            raise ContactIdError(
                f"{collection}: the server lists no datasets in it", "Look at the collection's page"
            )
        return [(parse_doi(doi), title) for doi, title in titles.items()]

    def _looked_up(self, doi: FourTuDoi) -> FourTuDoi:
        """An old DOI, which doesn't say the id, found by a search for exactly it."""
        answer = self._get("articles/search", doi, json={"doi": str(doi)})
        for record in _records(answer, doi):
            if str(record.get("doi", "")).lower() == str(doi).lower() and record.get("uuid"):
                return FourTuDoi(doi.suffix, str(record["uuid"]), doi.version, False)
        raise ContactIdError(
            f"{doi}: the server knows no such DOI", "Correct it in config/datasets.tsv"
        )

    def _get(self, path: str, doi: FourTuDoi, *, json: Any = None, fails: bool = False) -> Any:
        """The answer to a question; None where the server fails and there is another way to ask."""
        url = f"{self.base.rstrip('/')}/v2/{path}"
        headers = {"Accept": "application/json"}
        with ask(
            self.session, url, what=str(doi), patience=self.patience, headers=headers, json=json
        ) as response:
            status = response.status_code
            if status == 500 and fails:
                return None
            if status == 404:
                raise ContactIdError(
                    f"{doi}: no such dataset or version at {self.base} (status 404)",
                    "It may have been withdrawn; or correct it in config/datasets.tsv",
                )
            if status in (401, 403):
                raise ContactIdError(
                    f"{doi}: access is not allowed (status {status})", "Ask its authors"
                )
            if status != 200:
                raise ContactIdError(f"{doi}: {url} answers with status {status}", "Try later")
            try:
                # piece by piece, as the length that a server states need not be true
                body = bytearray()
                for part in response.iter_content(2**16):
                    body += part
                    if len(body) > _LARGEST_ANSWER:
                        raise _not_understood(doi, self.base)
                return loads(body)
            except requests.exceptions.RequestException as error:
                raise unreachable(str(doi), url, reason_of(error)) from None
            except (ValueError, RecursionError):
                raise _not_understood(doi, self.base) from None


def _kind(doi: FourTuDoi) -> str:
    return "collections" if doi.is_collection else "articles"


def _not_understood(doi: FourTuDoi, base: str) -> ContactIdError:
    return ContactIdError(
        f"{doi}: the answer of {base} is not what a 4TU.ResearchData server says",
        "Check fourtu_url, and whether the network wants you to log in",
    )


def _records(answer: Any, doi: FourTuDoi) -> list[Mapping[str, Any]]:
    if not isinstance(answer, list) or not all(isinstance(record, Mapping) for record in answer):
        raise ContactIdError(
            f"{doi}: the server answers with something else than a list", "Check fourtu_url"
        )
    return answer


def _check_open(doi: FourTuDoi, details: Mapping[str, Any]) -> None:
    """Raise where the files, or everything but this note, are withheld."""
    withheld = "files" not in details
    if not (withheld or details.get("is_embargoed")):
        return
    reason = f" ({details['embargo_reason']})" if details.get("embargo_reason") else ""
    if date := details.get("embargo_date"):
        what = "the dataset is" if withheld else "the files are"
        raise ContactIdError(
            f"{doi}: {what} under embargo until {date}{reason}", "Wait, or ask its authors"
        )
    restricted = "restricted_access" in str(details.get("embargo_options"))
    kind = "restricted" if restricted else "withheld"
    raise ContactIdError(
        f"{doi}: access to the files is {kind}{reason}", "Ask its authors for access"
    )


def _article(doi: FourTuDoi, details: Mapping[str, Any], base: str) -> LockedArchive:
    files = tuple(_file(record, doi) for record in details.get("files") or [])
    if not files:
        raise ContactIdError(f"{doi} has no files", "It only describes something: look at its page")
    licence = details.get("license") or {}
    return LockedArchive(
        name=str(doi),
        kind=FOURTU,
        source=str(doi),
        version=str(doi.version),
        base=base,
        container=str(details.get("uuid") or doi.identifier),
        title=str(details.get("title") or ""),
        licence=str(licence.get("name") or licence.get("url") or "none stated"),
        files=files,
    )


def _file(record: Mapping[str, Any], doi: FourTuDoi) -> LockedFile:
    name, url = record.get("name"), record.get("download_url")
    if not name or not url:
        raise ContactIdError(
            f"{doi}: the server lists a file without a name or an address", "Look at its page"
        )
    if record.get("is_incomplete"):
        raise ContactIdError(
            f"{doi}: {name} was never completely uploaded", "Tell the repository or its authors"
        )
    # where a server doesn't state it, the address ends with it
    uuid = record.get("uuid") or re.split(r"[/?#]", str(url).rstrip("/"))[-1]
    if record.get("is_link_only"):
        return LockedFile(str(name), uuid=str(uuid), url=str(url), link_only=True)
    return LockedFile(
        name=str(name),
        size=int(record.get("size") or 0),
        md5=str(record.get("computed_md5") or record.get("supplied_md5") or "").lower(),
        uuid=str(uuid),
        url=str(url),
    )
