"""From the registry to the canonical form: fetch what is public, read what is there."""


def raw_data(wildcards):
    """Where a dataset's files are: in the repository, at the user's path, or fetched by this run."""
    dataset = DATASETS[wildcards.dataset]
    if dataset.kind == "github":
        return f"results/{config['run']}/data/{dataset.name}/raw"
    return dataset.source


localrules:
    fetch_dataset,


rule fetch_dataset:
    """Copy a public dataset from a mirror, or download it, and verify its checksums."""
    output:
        folder=directory("<results>/data/{dataset}/raw"),
    params:
        entry=lambda wildcards: vars(DATASETS[wildcards.dataset]),
        checksums=str(CONFIG / "checksums"),
        code=code("fetch_dataset"),
    log:
        "<logs>/fetch_dataset/{dataset}.log",
    benchmark:
        "<benchmarks>/fetch_dataset/{dataset}.tsv"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    retries: 0
    conda:
        "../../envs/environment.yaml"
    script:
        "../scripts/fetch_dataset.py"


rule read_motion:
    """Read a dataset into the canonical form (xarray, SI units, named frames)."""
    input:
        raw=raw_data,
    output:
        motion="<results>/data/{dataset}/motion.nc",
    params:
        entry=lambda wildcards: vars(DATASETS[wildcards.dataset]),
        code=code("read_motion"),
    log:
        "<logs>/read_motion/{dataset}.log",
    benchmark:
        "<benchmarks>/read_motion/{dataset}.tsv"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    conda:
        "../../envs/environment.yaml"
    script:
        "../scripts/read_motion.py"
