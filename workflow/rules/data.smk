"""From the registry to the canonical form: fetch what is public, hold it against the lock, read it, and say what it is.

Fetching is apart from computing: it fills ``data/``, which all runs share, and is the only thing that needs a network.
This comes after the studies, which say what they read.
"""

from contactid.sources.fetch import Sources, missing, parse_mirrors
from contactid.sources.lockfile import locked, read_lock, with_licences
from contactid.sources.registry import READERS, archives_of
from contactid.sources.store import Store
from contactid.sources.web import check_address

STORE = Path("data")
LOCK_FILE = CONFIG / "datasets.lock.json"
# what the run needs and can't have, by archive; filled while its jobs are found
NOT_THERE = {}
# archives that `data` leaves out, because nobody has locked them yet
NOT_LOCKED = set()

try:
    LOCK = read_lock(LOCK_FILE)
    parse_mirrors(config["data_mirror"])
    check_address(config["fourtu_url"], "fourtu_url")
except ContactIdError as error:
    sys.exit(f"ERROR {error}")

DATASETS = with_licences(DATASETS, LOCK)
ARCHIVES = archives_of(DATASETS)
DOWNLOADED = {name: entry for name, entry in DATASETS.items() if entry.downloaded}
SOURCES = Sources(config["data_mirror"], config["offline"], config["fourtu_url"])
CARDS = sorted(set(STUDY_DATASETS))


def pinned(archive):
    """Changes where an archive's entry in the lock file does."""
    return LOCK[archive].digest if archive in LOCK else ""


def receipt(dataset):
    """The receipt of the archive that a dataset is read from."""
    try:
        entry = locked(LOCK, dataset)
        problem = missing(entry, Store(STORE), SOURCES) if config["offline"] else ""
    except ContactIdError as error:
        problem = str(error)
    if problem:
        NOT_THERE[dataset.archive] = problem
    return f"{STORE}/{dataset.archive}/receipt.json"


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
    return dataset.source


def reader_of(name):
    """Who reads a dataset."""
    return READERS[DATASETS[name].reader]


wildcard_constraints:
    archive="|".join(ARCHIVES),
    form="|".join({reader.form for reader in READERS.values()}),


localrules:
    data,
    fetch_dataset,
    verify_data,


onstart:
    if NOT_LOCKED:
        print(
            f"WARNING not in the lock file yet, so left out (make lock): {', '.join(sorted(NOT_LOCKED))}",
            file=sys.stderr,
        )
    if NOT_THERE:
        print(
            *(f"ERROR {text}" for text in NOT_THERE.values()),
            sep="\n",
            file=sys.stderr,
        )
        sys.exit(1)


rule data:
    """Have the public data of the chosen studies in data/, and what is damaged there fetched again."""
    input:
        receipts_of_studies,


rule fetch_dataset:
    """Copy what is missing from a mirror, or download it, and hold every file against the lock file."""
    output:
        receipt="data/{archive}/receipt.json",
    log:
        "<logs>/fetch_dataset/{archive}.log",
    benchmark:
        "<benchmarks>/fetch_dataset/{archive}.tsv"
    priority: 100
    retries: 0
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=600,
        downloads=1,
    params:
        **call("contactid.sources.fetch:fetch_dataset"),
        lock=str(LOCK_FILE),
        store=lambda wildcards, output: str(Path(output.receipt).parents[1]),
        pinned=lambda wildcards: pinned(wildcards.archive),
    script:
        "../call.py"


rule verify_data:
    """Hold the files of a dataset against the lock file, and link them into the run."""
    input:
        receipt=lambda wildcards: receipt(DATASETS[wildcards.dataset]),
    output:
        folder=directory("<results>/data/{dataset}/raw"),
    log:
        "<logs>/verify_data/{dataset}.log",
    benchmark:
        "<benchmarks>/verify_data/{dataset}.tsv"
    wildcard_constraints:
        dataset="|".join(DOWNLOADED),
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        **call("contactid.sources.store:verify_data"),
        archive=lambda wildcards: DATASETS[wildcards.dataset].archive,
        lock=str(LOCK_FILE),
        store=lambda wildcards, input: str(Path(input.receipt).parents[1]),
        pinned=lambda wildcards: pinned(DATASETS[wildcards.dataset].archive),
    script:
        "../call.py"


rule read_data:
    """Read a dataset into the canonical form of its kind (xarray, SI units, named frames)."""
    input:
        raw=lambda wildcards: raw_of(wildcards.dataset),
    output:
        data="<results>/data/{dataset}/{form}.nc",
    log:
        "<logs>/read_data/{dataset}.{form}.log",
    benchmark:
        "<benchmarks>/read_data/{dataset}.{form}.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        call="contactid.sources.motion:read_data",
        code=lambda wildcards: CODE.of(
            "contactid.sources.motion:read_data", reader_of(wildcards.dataset).read
        ),
        reader=lambda wildcards: reader_of(wildcards.dataset).read,
        entry=lambda wildcards: vars(DATASETS[wildcards.dataset]),
    script:
        "../call.py"


rule data_cards:
    """Say of each dataset what it is and how much of it there is, and draw its raw signals."""
    input:
        data=[f"<results>/data/{name}/{reader_of(name).form}.nc" for name in CARDS],
        raw=[raw_of(name) for name in CARDS],
    output:
        cards=expand("<results>/data/{dataset}/card.json", dataset=CARDS),
        figures=expand(
            "<results>/data/{dataset}/card.{extension}",
            dataset=CARDS,
            extension=["png", "svg"],
        ),
    log:
        "<logs>/data_cards.log",
    benchmark:
        "<benchmarks>/data_cards.tsv"
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        call="contactid.sources.card:make_cards",
        code=CODE.of(
            "contactid.sources.card:make_cards",
            *(reader_of(name).signals for name in CARDS),
        ),
        signals=[reader_of(name).signals for name in CARDS],
        entries=[vars(DATASETS[name]) for name in CARDS],
    script:
        "../call.py"
