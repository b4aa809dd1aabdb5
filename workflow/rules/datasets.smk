"""From the registry to the canonical form: fetch what is public, hold it against the lock, read it.

Fetching is apart from computing: it fills ``data/``, which all runs share, and is the only thing that needs a network.
"""


include: "datasets_inputs.smk"


wildcard_constraints:
    archive="|".join(ARCHIVES),


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
    threads: 1
    resources:
        mem_mb=1000,
        runtime=600,
        downloads=1,
    params:
        lock=str(LOCK_FILE),
        store=lambda wildcards, output: str(Path(output.receipt).parents[1]),
        pinned=lambda wildcards: pinned(wildcards.archive),
        code=code("fetch_dataset"),
    script:
        "../scripts/fetch_dataset.py"


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
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        archive=lambda wildcards: DATASETS[wildcards.dataset].archive,
        lock=str(LOCK_FILE),
        store=lambda wildcards, input: str(Path(input.receipt).parents[1]),
        pinned=lambda wildcards: pinned(DATASETS[wildcards.dataset].archive),
        code=code("verify_data"),
    script:
        "../scripts/verify_data.py"


rule read_motion:
    """Read a dataset into the canonical form (xarray, SI units, named frames)."""
    input:
        raw=raw_data,
    output:
        motion="<results>/data/{dataset}/motion.nc",
    log:
        "<logs>/read_motion/{dataset}.log",
    benchmark:
        "<benchmarks>/read_motion/{dataset}.tsv"
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=5,
    params:
        entry=lambda wildcards: vars(DATASETS[wildcards.dataset]),
        code=code("read_motion"),
    script:
        "../scripts/read_motion.py"
