"""What the planar study identifies: the cells of table 1, the shown throws, and every reformulation."""

IDENTIFICATION = PLANAR["identification"]
IDENTIFIED_NOISE = list(IDENTIFICATION["noise"])
IDENTIFICATION_SHARDS = -(-IDENTIFICATION["seeds"] // IDENTIFICATION["seeds_per_job"])
IDENTIFICATION_CELLS = [
    f"<results>/planar/identification/{noise}.mu{friction}.{shard}.csv"
    for noise, reading in IDENTIFICATION["noise"].items()
    for friction in reading["friction_mu"]
    for shard in range(IDENTIFICATION_SHARDS)
]
COMPARED_REFORMULATIONS = expand(
    "<results>/planar/identification/reformulation.{reformulation}.csv",
    reformulation=REFORMULATIONS,
)

STUDY_TARGETS += expand(
    "<results>/planar/tables/{table}.{extension}",
    table=IDENTIFICATION_TABLES,
    extension=["csv", "tex"],
)
STUDY_TARGETS += expand(
    "<results>/planar/figures/{figure}.{extension}",
    figure=IDENTIFICATION_FIGURES,
    extension=["csv", "pdf", "png", "svg"],
)
STUDY_TARGETS += ["<results>/planar/playback.json"]


def identification_block(*keys):
    """What one throw's identification depends on, so that more seeds or cells rerun none that are there."""
    kept = [
        "body", "ground", "position", "velocity", "duration", "restitution_e_n", "time_step", "longest_step", "seed",
    ]  # fmt: skip
    return {
        "gravity": PLANAR["gravity"],
        "bodies": {IDENTIFICATION["body"]: PLANAR["bodies"][IDENTIFICATION["body"]]},
        "identification": {key: IDENTIFICATION[key] for key in [*kept, *keys]},
    }


def noise_reading(name):
    """One reading of the noise, without the frictions that it is used on."""
    reading = IDENTIFICATION["noise"][name]
    return {name: {key: reading[key] for key in ("position", "orientation")}}


def seeds_of(shard):
    """Seeds of a shard, from 1."""
    first = 1 + int(shard) * IDENTIFICATION["seeds_per_job"]
    return list(
        range(
            first,
            min(first + IDENTIFICATION["seeds_per_job"], IDENTIFICATION["seeds"] + 1),
        )
    )
