"""Where datasets are, who reads them, and what of them the run needs and can't have."""

from contactid.sources.places import Sources, missing, parse_mirrors
from contactid.sources.lockfile import locked, read_lock, with_licences
from contactid.sources.registry import EMBEDDED, READERS, archives_of
from contactid.sources.store import Store
from contactid.sources.places import check_address

STORE = placed("data")
LOCK_FILE = packaged("config/datasets.lock.json")
# what the run needs and can't have, by archive; filled while its jobs are found
NOT_THERE = {}
# archives that `data` leaves out, because nobody has locked them yet
NOT_LOCKED = set()

with told_plainly():
    LOCK = read_lock(LOCK_FILE)
    parse_mirrors(config["data_mirror"])
    check_address(config["fourtu_url"], "fourtu_url")

DATASETS = with_licences(DATASETS, LOCK)
ARCHIVES = archives_of(DATASETS)
DOWNLOADED = {name: entry for name, entry in DATASETS.items() if entry.downloaded}
SOURCES = Sources(config["data_mirror"], config["offline"], config["fourtu_url"])
CARDS = sorted(set(STUDY_DATASETS))


def pinned(archive):
    """Changes where an archive's entry in the lock file does."""
    return LOCK[archive].digest if archive in LOCK else ""


def locked_at(name):
    """What the lock file says of where a dataset comes from; nothing for what isn't downloaded."""
    entry = LOCK.get(DATASETS[name].archive) if DATASETS[name].downloaded else None
    keys = ("name", "kind", "source", "base", "locked_on")
    return {key: getattr(entry, key) for key in keys} if entry else None


def receipt(dataset):
    """The receipt of the archive that a dataset is read from."""
    try:
        entry = locked(LOCK, dataset)
        problem = (
            missing(entry, Store(Path(STORE)), SOURCES) if config["offline"] else ""
        )
    except ContactIdError as error:
        problem = str(error)
    if problem:
        NOT_THERE[dataset.archive] = problem
    return f"data/{dataset.archive}/receipt.json"


def receipts_of_studies(wildcards):
    """Receipts of every archive for the chosen studies that is in the lock file."""
    chosen = [
        entry for entry in DOWNLOADED.values() if entry.study in config["studies"]
    ]
    NOT_LOCKED.update(entry.archive for entry in chosen if entry.archive not in LOCK)
    return sorted({receipt(entry) for entry in chosen if entry.archive in LOCK})


def raw_of(name):
    """Where a dataset's files are: in the repository, at the user's path, or fetched or simulated by this run."""
    dataset = DATASETS[name]
    if dataset.downloaded or dataset.kind == "generated":
        return f"<results>/data/{name}/raw"
    return local(dataset.source)


def reader_of(name):
    """Who reads a dataset."""
    return READERS[DATASETS[name].reader]


def canonical(*names):
    """Datasets in their canonical forms."""
    return [f"<results>/data/{name}/{reader_of(name).form}.nc" for name in names]


# the repository's tosses are read in one job, of the study that they are for; a recording from elsewhere may be long
READ_TOGETHER = [
    name
    for name in CARDS
    if DATASETS[name].kind == EMBEDDED and reader_of(name).form == "motion"
]
