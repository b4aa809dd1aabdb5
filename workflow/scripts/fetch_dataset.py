"""Rule fetch_dataset: bring a public archive into the store."""

import os
from pathlib import Path
from typing import TextIO

from contactid.run.job import job
from contactid.sources.fetch import Sources, fetch, write_receipt
from contactid.sources.lockfile import read_lock
from contactid.sources.store import Store


def main(
    *,
    archive: str,
    lock: str,
    store: str,
    receipt: str,
    mirrors: list[str],
    offline: bool,
    fourtu_url: str,
    terminal: TextIO | None = None,
) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    entry = read_lock(lock)[archive]
    fetch(entry, Store(Path(store)), Sources(mirrors, offline, fourtu_url), terminal=terminal)
    write_receipt(entry, Store(Path(store)), receipt)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    # the job's own stderr becomes its log; the terminal is kept for the progress bar
    with os.fdopen(os.dup(2), "w") as terminal, job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            archive=smk.wildcards.archive,
            lock=smk.params.lock,
            store=smk.params.store,
            receipt=smk.output.receipt,
            mirrors=smk.config["data_mirror"],
            offline=smk.config["offline"],
            fourtu_url=smk.config["fourtu_url"],
            terminal=terminal,
        )
