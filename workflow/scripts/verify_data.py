"""Rule verify_data: hold stored files against the lock file and link them into the run."""

from pathlib import Path

from contactid.run.job import job
from contactid.sources.lockfile import read_lock
from contactid.sources.store import Store, link, verify


def main(*, archive: str, lock: str, store: str, folder: str) -> None:
    """Translate the rule's files and parameters into calls of the package."""
    entry = read_lock(lock)[archive]
    verify(entry, Store(Path(store)))
    link(entry, Store(Path(store)), folder)


if __name__ == "__main__":
    smk = snakemake  # type: ignore[name-defined]  # noqa: F821 - Snakemake puts it there
    with job(smk.rule, smk.wildcards, smk.log[0]):
        main(
            archive=smk.params.archive,
            lock=smk.params.lock,
            store=smk.params.store,
            folder=smk.output.folder,
        )
