"""Write ``config/datasets.lock.json``: ``python -m contactid.sources.lock_command``, or ``make lock``.

Every downloaded dataset of the registry is resolved, downloaded for its checksums, and compared with what was locked
before. Nothing is replaced unasked; what can't be had is told of, and the rest is written all the same.
"""

from __future__ import annotations

import argparse
import logging
import sys
from collections.abc import Sequence
from pathlib import Path

from contactid.core.errors import ContactIdError
from contactid.sources.fetch import Sources
from contactid.sources.fourtu_client import BASE_URL, FourTuClient
from contactid.sources.lockfile import read_lock, write_lock
from contactid.sources.locking import Locking, archives_of, lock_archive
from contactid.sources.registry import load_registry
from contactid.sources.store import Store
from contactid.sources.web import Patience, check_address


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; its status is 1 where a dataset couldn't be locked."""
    options = _parse(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(message)s")
    try:
        return _run(options)
    except ContactIdError as error:
        print(f"ERROR {error}", file=sys.stderr)
        return 1


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m contactid.sources.lock_command", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--registry", type=Path, default=Path("config/datasets.tsv"))
    parser.add_argument("--lock", type=Path, default=Path("config/datasets.lock.json"))
    parser.add_argument("--store", type=Path, default=Path("data"), help="folder of all downloads")
    parser.add_argument("--url", default=BASE_URL, help="the 4TU server")
    parser.add_argument("--mirror", action="append", default=[], help="tried before the network; may be repeated")
    parser.add_argument("--only", nargs="*", default=[], metavar="ARCHIVE", help="these alone")
    parser.add_argument("--update", nargs="*", default=[], metavar="ARCHIVE", help="take the newest version of these")
    parser.add_argument("--metadata-only", action="store_true", help="download nothing; sha256 stays unknown")
    parser.add_argument("--attempts", type=int, default=Patience().attempts, help="tries of a request")
    return parser.parse_args(arguments)


def _run(options: argparse.Namespace) -> int:
    registry = load_registry(options.registry, {})
    archives = archives_of(registry)
    lock = read_lock(options.lock)
    chosen = [*options.only, *options.update] or list(archives)
    for name in chosen:
        if name not in archives:
            raise ContactIdError(f"{options.registry} has no archive {name}", f"Known are {', '.join(archives)}")
    patience = Patience(attempts=options.attempts)
    how = Locking(
        client=FourTuClient(check_address(options.url, "fourtu_url"), patience),
        store=Store(options.store),
        sources=Sources(options.mirror, False, options.url, patience),
        update=options.update,
        download=not options.metadata_only,
        terminal=sys.stderr,
    )
    failed = 0
    for name in dict.fromkeys(chosen):
        try:
            entry = lock_archive(archives[name], lock.get(name), how)
        except ContactIdError as error:
            print(f"ERROR {name}: {error}", file=sys.stderr)
            failed += 1
            continue
        if entry != lock.get(name):
            lock[name] = entry
            write_lock(options.lock, lock)
        print(f"{name}: {entry.source}, {len(entry.files)} files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
