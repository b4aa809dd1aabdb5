"""From the registry to the canonical form: fetch what is public, read what is there."""


localrules:
    fetch_dataset,


rule fetch_dataset:
    """Copy a public dataset from a mirror, or download it, and verify its checksums."""
    output:
        folder=directory("<results>/data/{dataset}/raw"),
    log:
        "<logs>/fetch_dataset/{dataset}.log",
    benchmark:
        "<benchmarks>/fetch_dataset/{dataset}.tsv"
    retries: 0
    conda:
        "../../envs/environment.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=60,
    params:
        entry=lambda wildcards: vars(DATASETS[wildcards.dataset]),
        checksums=str(CONFIG / "checksums"),
        code=code("fetch_dataset"),
    script:
        "../scripts/fetch_dataset.py"


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
        runtime=10,
    params:
        entry=lambda wildcards: vars(DATASETS[wildcards.dataset]),
        code=code("read_motion"),
    script:
        "../scripts/read_motion.py"
