"""A card for every dataset of the run: how much there is, how noisy, under which licence, and the raw signals."""

# where each reader's canonical form is
CANONICAL = {
    "iam": "motion.nc",
    "contactnets": "motion.nc",
    "planar_throws": "planar.nc",
    "planar_impacts": "planar.nc",
    "arm_mat": "arm.nc",
}
CARDS = sorted(
    name for name in set(STUDY_DATASETS) if DATASETS[name].reader in CANONICAL
)


rule data_cards:
    """Say of each dataset what it is and how much of it there is, and draw its raw signals."""
    input:
        data=[
            f"<results>/data/{name}/{CANONICAL[DATASETS[name].reader]}"
            for name in CARDS
        ],
        raw=[raw_of(DATASETS[name]) for name in CARDS],
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
    threads: 1
    resources:
        mem_mb=1250,
        runtime=10,
    params:
        entries=[vars(DATASETS[name]) for name in CARDS],
        code=code("data_cards"),
    script:
        "../scripts/data_cards.py"
