"""From the registry to the canonical form: fetch what is public, hold it against the lock, read it, and say what it is.

Fetching is apart from computing: it fills ``data/``, which all runs share, and is the only thing that needs a network.
This comes after the studies, which say what they read.
"""


include: "data_inputs.smk"


wildcard_constraints:
    archive="|".join(ARCHIVES),
    form="|".join({reader.form for reader in READERS.values()}),


onstart:
    with told_plainly():
        require_scheduler(workflow.executor_plugin.name)
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
    if IS_MAIN and workflow.resource_settings.nodes is None:
        # On one machine no limit of jobs per second is needed. With one, Snakemake looks whether another job may start
        # once a second for each job that has ended, all of these times anew, and itself takes a fifth of a core.
        workflow.scheduler.job_rate_limiter = None


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
    localrule: True
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
    localrule: True
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


rule read_embedded:
    """Read the datasets that lie in the repository into their canonical forms."""
    input:
        raw=[raw_of(name) for name in READ_TOGETHER],
    output:
        data=canonical(*READ_TOGETHER),
    log:
        "<logs>/read_embedded.log",
    benchmark:
        "<benchmarks>/read_embedded.tsv"
    priority: 2  # the longest chain of jobs begins soon
    conda:
        "../../envs/environment.yaml"
    resources:
        mem_mb=1250,
        runtime=5,
    params:
        **call(
            "contactid.sources.motion:read_data",
            *dict.fromkeys(reader_of(name).read for name in READ_TOGETHER),
        ),
        each=["raw", "data", "reader", "entry"],
        reader=[reader_of(name).read for name in READ_TOGETHER],
        entry=[vars(DATASETS[name]) for name in READ_TOGETHER],
    script:
        "../call.py"


rule read_data:
    """Read a dataset of another place into the canonical form of its kind (xarray, SI units, named frames)."""
    input:
        raw=lambda wildcards: raw_of(wildcards.dataset),
    output:
        data="<results>/data/{dataset}/{form}.nc",
    log:
        "<logs>/read_data/{dataset}.{form}.log",
    benchmark:
        "<benchmarks>/read_data/{dataset}.{form}.tsv"
    wildcard_constraints:
        dataset="|".join(name for name in DATASETS if name not in READ_TOGETHER),
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
        data=canonical(*CARDS),
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
        **call(
            "contactid.sources.card:make_cards",
            *(reader_of(name).signals for name in CARDS),
        ),
        signals=[reader_of(name).signals for name in CARDS],
        entries=[vars(DATASETS[name]) for name in CARDS],
        locked=[locked_at(name) for name in CARDS],
    script:
        "../call.py"
