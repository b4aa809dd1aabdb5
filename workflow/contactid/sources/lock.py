"""Write ``config/datasets.lock.json``: ``python -m contactid.sources.lock``, or ``make lock``.

Every downloaded dataset of the registry is resolved, downloaded for its checksums, and compared
with what was locked before. What is locked stays locked: its own version is asked for again and
compared. A newer version is told of and taken only on request. What can't be had is told of, and
the rest is written all the same. Of each archive that is here it then says what a run would make of
it (:mod:`contactid.sources.decisions`).
"""

from __future__ import annotations

import argparse
import logging
import re
import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError, told_plainly
from contactid.output.escape import one_line
from contactid.sources.decisions import WARNING, decisions, silent_readers
from contactid.sources.fetch import fetch, repository
from contactid.sources.fourtu_client import BASE_URL, FourTuClient
from contactid.sources.lockfile import (
    LockedArchive,
    LockedFile,
    check_name,
    digest,
    read_lock,
    write_lock,
)
from contactid.sources.places import Patience, Sources, check_address
from contactid.sources.registry import (
    FOURTU,
    GITHUB,
    Dataset,
    FourTuDoi,
    archives_of,
    load_registry,
    parse_doi,
)
from contactid.sources.store import Store

_LOG = logging.getLogger(__name__)


@told_plainly()
def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its status is 1 where a dataset couldn't be locked."""
    parser = argparse.ArgumentParser(
        prog="python -m contactid.sources.lock", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--registry", type=Path, default=Path("config/datasets.tsv"))
    parser.add_argument("--lock", type=Path, default=Path("config/datasets.lock.json"))
    parser.add_argument("--store", type=Path, default=Path("data"), help="folder of all downloads")
    parser.add_argument("--url", default=BASE_URL, help="the 4TU server")
    parser.add_argument(
        "--mirror", action="append", default=[], help="tried before the network; may be repeated"
    )
    parser.add_argument("--only", nargs="*", default=[], metavar="ARCHIVE", help="these alone")
    parser.add_argument(
        "--update",
        nargs="*",
        default=[],
        metavar="ARCHIVE",
        help="take the newest version of these",
    )
    parser.add_argument(
        "--attempts", type=int, default=Patience().attempts, help="tries of a request"
    )
    options = parser.parse_args(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(message)s")
    registry = load_registry(options.registry, {})
    archives = archives_of(registry)
    lock = read_lock(options.lock)
    chosen = [*options.only, *options.update] or list(archives)
    for name in chosen:
        if name not in archives:
            raise ContactIdError(
                f"{options.registry} has no archive {name}", f"Known are {', '.join(archives)}"
            )
    patience = Patience(attempts=options.attempts)
    how = Locking(
        client=FourTuClient(check_address(options.url, "fourtu_url"), patience),
        store=Store(options.store),
        sources=Sources(options.mirror, False, options.url, patience, sys.stderr),
        update=options.update,
    )
    failed = 0
    for name in dict.fromkeys(chosen):
        try:
            entry = lock_archive(archives[name], lock.get(name), how)
        except ContactIdError as error:
            print(f"ERROR {name}: {error}", file=sys.stderr)
            failed += 1
            continue
        # after each: what is locked stays so, whatever the next one does
        if entry != lock.get(name):
            lock[name] = entry
            write_lock(options.lock, lock)
        print(f"{name}: {entry.source}, {len(entry.files)} files")
        datasets = [row for row in registry.values() if row.archive == name]
        report_archive(entry, datasets, how.store)
    return 1 if failed else 0


def report_archive(entry: LockedArchive, datasets: Iterable[Dataset], store: Store) -> None:
    """Say what a run would make of an archive whose files are here, before any run does.

    The terminal gets the lines about each dataset as a whole, ``report.txt`` beside the receipt
    those about its recordings, too. Without the files there is nothing to read.
    """
    folder = store.folder(entry)
    if not all((folder / file.name).is_file() for file in entry.wanted):
        return
    lines = [f"{entry.name}: {entry.source}, {len(entry.files)} files"]
    for dataset in datasets:
        about, of_recordings = _report_dataset(dataset, folder)
        print(*(f"  {line}" for line in about), sep="\n")
        lines += [*about, *of_recordings]
    report = folder.with_name("report.txt")
    write_text(report, "\n".join(lines) + "\n")
    print(f"  recording by recording: {report}")


def _report_dataset(dataset: Dataset, folder: Path) -> tuple[list[str], list[str]]:
    """Lines about a dataset as a whole, its title first, and about its recordings."""
    fields = {**vars(dataset), "synthetic": dataset.synthetic}
    fields.pop("path", None)
    with silent_readers():
        result = decisions(path=folder, **fields)
    surface = f" on {dataset.surface}" if dataset.surface else ""
    about = [f"{dataset.name} ({dataset.object}{surface}):"]
    for text in result.head:
        # no path of this machine: the report may be sent to somebody
        line = one_line(text.replace(f"{folder}/", ""))
        indent = "" if line.startswith(WARNING) else "  "
        about.append(indent + line.replace(WARNING, f"{WARNING} {dataset.name}:", 1))
    return about, [one_line(f"    {line}") for line in result.recordings]


@dataclass(frozen=True)
class Locking:
    """How to lock.

    Attributes
    ----------
    client : the 4TU server
    store : downloads go there, for their checksums
    sources : mirrors, patience, and the terminal for progress
    update : archives whose newest version is taken in place of the locked one
    """

    client: FourTuClient
    store: Store
    sources: Sources
    update: Collection[str] = ()


def lock_archive(dataset: Dataset, old: LockedArchive | None, how: Locking) -> LockedArchive:
    """The lock file's entry for a dataset's archive.

    Parameters
    ----------
    old : the entry so far
    how : see :class:`Locking`

    Raises
    ------
    ContactIdError
        Where it can't be resolved or had, or where it has changed since it was locked: both
        versions are shown.
    """
    if dataset.archive in how.update:
        old = None
    if dataset.kind == FOURTU:
        return _lock_fourtu(dataset, old, how)
    if old is not None:
        if (old.source, old.folder) != (dataset.source, dataset.folder):
            raise ContactIdError(
                f"{dataset.archive}: locked from {old.source}, now {dataset.source}",
                f"Accept that with make lock UPDATE={dataset.archive}",
            )
        return old
    if dataset.kind == GITHUB:
        return _lock_repository(dataset, how)
    return _lock_file(dataset, how)


def _lock_fourtu(dataset: Dataset, old: LockedArchive | None, how: Locking) -> LockedArchive:
    newest = _resolved(dataset, how.client)
    doi = parse_doi(old.source) if old else newest
    entry = _entry(dataset.archive, how.client.article(doi))
    if old is not None:
        if newest.suffix != doi.suffix:
            raise ContactIdError(
                f"{dataset.archive}: locked as {doi}, but the registry now means {newest}",
                f"Accept that with make lock UPDATE={dataset.archive}",
            )
        if newest.version != doi.version:
            _LOG.info(
                "%s: %s is out; %s stays locked (UPDATE=%s takes it)",
                entry.name,
                newest,
                doi,
                entry.name,
            )
        entry = _compared(old, entry)
    return _with_checksums(entry, how)


def _resolved(dataset: Dataset, client: FourTuClient) -> FourTuDoi:
    doi = parse_doi(dataset.source)
    if doi.is_collection:
        words = dataset.title.split()
        members = client.members(doi)
        doi = member_with(words, members, client, what=f"{dataset.name} in {doi}")
        # the collection names a version that may be no longer the newest
        doi = replace(doi, version=None)
    if dataset.version:
        return doi.at(int(dataset.version))
    return client.resolve(doi)


def member_with(
    words: Collection[str],
    members: Collection[tuple[FourTuDoi, str]],
    client: FourTuClient,
    *,
    what: str,
) -> FourTuDoi:
    """The one member of a collection whose title, or else title and file names, have all the words.

    Raises :class:`ContactIdError` where none or several have; all titles are listed.
    """
    matches = [doi for doi, title in members if _has(title, words)]
    # second, as it asks the server about each member
    if not matches:
        _LOG.info("%s: no title has %s, looking at file names", what, " ".join(words))
        for doi, title in members:
            if _has(" ".join([title, *_file_names(doi, client)]), words):
                matches.append(doi)
    if len(matches) == 1:
        return matches[0]
    titles = "; ".join(f"{doi} {title!r}" for doi, title in members)
    raise ContactIdError(
        f"{what}: {len(matches) or 'no'} members have {' and '.join(words)} in their titles or files, of {titles}",
        "Put the right DOI into config/datasets.tsv",
    )


def _has(text: str, words: Collection[str]) -> bool:
    """Whether all words stand in a text by themselves; an underscore separates, too."""
    return all(
        re.search(rf"(?<![a-z0-9]){re.escape(word)}(?![a-z0-9])", text, re.IGNORECASE)
        for word in words
    )


def _file_names(doi: FourTuDoi, client: FourTuClient) -> list[str]:
    try:
        return [file.name for file in client.article(doi).files]
    # a member under embargo, say, isn't the one that is looked for
    except ContactIdError as error:
        _LOG.info("%s", error)
        return []


def _entry(name: str, listed: LockedArchive) -> LockedArchive:
    """What a server lists, as it is locked: addresses below the server's, a place for each file."""
    names = [file.name for file in listed.files]
    base = listed.base.rstrip("/") + "/"
    files = []
    for file in listed.files:
        check_name(file.name, name)
        # a server may have two files of one name
        own = f"{file.uuid}_{file.name}" if names.count(file.name) > 1 else file.name
        files.append(replace(file, name=own, url=file.url.removeprefix(base)))
    return replace(listed, name=name, locked_on=_today(), files=tuple(files))


def _compared(old: LockedArchive, new: LockedArchive) -> LockedArchive:
    """The old entry with the server's present addresses; an error with both where it changed."""
    before = {file.name: file for file in old.files}
    after = {file.name: file for file in new.files}
    problems = [f"{name} is gone" for name in before if name not in after]
    problems += [f"{name} is new" for name in after if name not in before]
    for name in before.keys() & after.keys():
        problems += _changed(before[name], after[name])
    if problems:
        listed = "; ".join(sorted(problems))
        raise ContactIdError(
            f"{old.name}: {old.source} has changed since it was locked on {old.locked_on}: {listed}",
            f"Accept that with make lock UPDATE={old.name}",
        )
    files = [replace(before[file.name], url=file.url, uuid=file.uuid) for file in new.files]
    updated = replace(old, files=tuple(files), base=new.base, licence=new.licence)
    return old if updated == old else updated


def _changed(old: LockedFile, new: LockedFile) -> list[str]:
    """How the server's file departs from the locked one of its name."""
    problems = []
    if old.size != new.size:
        problems.append(f"{old.name} has {new.size} bytes, locked {old.size}")
    # a server may state no checksum
    if old.md5 and new.md5 and old.md5 != new.md5:
        problems.append(f"{old.name} has the checksum {new.md5} (md5), locked {old.md5}")
    return problems


def _with_checksums(entry: LockedArchive, how: Locking) -> LockedArchive:
    """The entry with the sha256 of every file; what isn't in the store is downloaded."""
    if not entry.wanted:
        return entry
    fetch(entry, how.store, how.sources)
    folder = how.store.folder(entry)
    files = []
    for file in entry.files:
        is_complete = file.link_only or file.sha256
        files.append(file if is_complete else _measured(file, folder / file.name))
    return replace(entry, files=tuple(files))


def _lock_repository(dataset: Dataset, how: Locking) -> LockedArchive:
    """Every file in a repository's folder at a commit, kept in the store."""
    entry = _without_files(dataset)
    with repository(entry, how.store, how.sources) as unpacked:
        paths = {}
        for path in sorted(unpacked.rglob("*")):
            if path.is_file():
                paths[path.relative_to(unpacked).as_posix()] = path
        files = [_measured(LockedFile(name), path) for name, path in paths.items()]
        entry = replace(entry, files=tuple(files))
        for file in entry.files:
            how.store.put(entry, file, paths[file.name])
    how.store.note_origin(entry, list(paths), entry.source)
    return entry


def _lock_file(dataset: Dataset, how: Locking) -> LockedArchive:
    """One file at an address, not at a mirror's."""
    file = LockedFile(dataset.source.rstrip("/").rpartition("/")[2], url=dataset.source)
    entry = replace(_without_files(dataset), files=(file,))
    # nothing says yet whether what is in the store is right
    (how.store.folder(entry) / file.name).unlink(missing_ok=True)
    from_the_address = replace(how.sources, mirrors=[])
    return _with_checksums(entry, replace(how, sources=from_the_address))


def _without_files(dataset: Dataset) -> LockedArchive:
    return LockedArchive(
        name=dataset.archive,
        kind=dataset.kind,
        source=dataset.source,
        version=dataset.version,
        licence=dataset.licence,
        folder=dataset.folder,
        locked_on=_today(),
    )


def _measured(file: LockedFile, path: Path) -> LockedFile:
    return replace(file, size=path.stat().st_size, sha256=digest(path))


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


if __name__ == "__main__":
    sys.exit(main())
