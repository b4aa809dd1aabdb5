"""What the planar study runs on, and what it adds to a run."""

from importlib.util import find_spec

from contactid.planar import artefacts as planar_artefacts

PLANAR = config["planar"]
IDENTIFICATION, PLANAR_REAL = PLANAR["identification"], PLANAR["real"]
REAL_SQUARES, REAL_ELLIPSE = bool(PLANAR_REAL["squares"]), bool(PLANAR_REAL["ellipse"])
REAL_BODIES = REAL_SQUARES and REAL_ELLIPSE and bool(PLANAR_REAL["simulated"])

with told_plainly():
    # jobs look at what concerns them; one that is still to be installed for them can't be asked
    if workflow.is_main_process and find_spec("numpy"):
        from contactid.planar.simulate.scenes import check_scenes
        from contactid.planar.simulate.throws import check_identification

        check_scenes(PLANAR)
        check_identification(PLANAR)
    if REAL_SQUARES:
        check_reader(
            DATASETS, PLANAR_REAL["squares"], "planar_throws", "planar.real.squares"
        )
    if REAL_ELLIPSE:
        check_reader(
            DATASETS, PLANAR_REAL["ellipse"], "planar_impacts", "planar.real.ellipse"
        )
    if REAL_BODIES:
        check_reader(
            DATASETS,
            PLANAR_REAL["simulated"],
            "planar_throws",
            "planar.real.simulated",
        )

SYNTHETIC_SQUARES = REAL_SQUARES and DATASETS[PLANAR_REAL["squares"]].synthetic
ARTEFACTS["planar"] = planar_artefacts.declare(PLANAR, SYNTHETIC_SQUARES)
STUDY_TARGETS += ["<results>/planar/playback.json"]
STUDY_DATASETS += [
    PLANAR_REAL[kind]
    for kind in ("squares", "ellipse", "simulated")
    if PLANAR_REAL[kind]
]
STUDY_CHECKS += ["<results>/planar/checks.csv"]
STUDY_SUMMARIES += ["<results>/planar/summary.md"]

OWN_SCENES = [
    name for name in PLANAR["scenes"] if name not in planar_artefacts.PAPER_SCENES
]
PLANAR_PEAKS = list(PLANAR["peaks"]["scenes"])
IDENTIFIED_NOISE = list(IDENTIFICATION["noise"])
IDENTIFICATION_SHARDS = -(-IDENTIFICATION["seeds"] // IDENTIFICATION["seeds_per_job"])
# from this friction on the paper's ellipse only rolls: one motion, whose throws a job identifies once
ROLLING = 0.57


def identified_throws(noise):
    """Tables of the throws under a reading of the noise, one for each friction, and one for all with which it rolls."""
    frictions = IDENTIFICATION["noise"][noise]["friction_mu"]
    groups = [[friction] for friction in frictions if friction < ROLLING]
    rolling = [friction for friction in frictions if friction >= ROLLING]
    return [
        f"<results>/planar/identification/{noise}.mu{'_'.join(map(str, group))}.{shard}.csv"
        for group in [*groups, *([rolling] if rolling else [])]
        for shard in range(IDENTIFICATION_SHARDS)
    ]


IDENTIFICATION_CELLS = [
    file for noise in IDENTIFICATION["noise"] for file in identified_throws(noise)
]
# without a dataset nothing asks for these
REAL_IMPACTS, REAL_THROWS, SIMULATED_THROWS = (
    f"<results>/data/{PLANAR_REAL[kind] or 'none'}/planar.nc"
    for kind in ("ellipse", "squares", "simulated")
)
# what tables and figures are made from, of measured throws and impacts
REAL_TABLES, REAL_FITS = [], {}
if REAL_SQUARES:
    REAL_TABLES += ["squares"]
    REAL_FITS["square_fits"] = "<results>/planar/identification/squares.nc"
if REAL_BODIES:
    REAL_TABLES += ["bodies"]
    REAL_FITS["bodies"] = "<results>/planar/sweeps/bodies.csv"
if REAL_ELLIPSE:
    REAL_TABLES += ["ellipse", "ellipse_reasons"]
    REAL_FITS["ellipse_impacts"] = "<results>/planar/sweeps/ellipse_impacts.csv"


def scenes_block(*names):
    """The configuration of some scenes and no more, so that an edit of another reruns nothing of them."""
    scenes = {name: PLANAR["scenes"][name] for name in names}
    bodies = {
        scene["body"]: PLANAR["bodies"][scene["body"]] for scene in scenes.values()
    }
    return {"gravity": PLANAR["gravity"], "bodies": bodies, "scenes": scenes}


def measured_block():
    """What the measured motions depend on: the paper's scenes, and section 6.1's throw."""
    noise = IDENTIFIED_NOISE[0]
    scenes, throw = scenes_block(*planar_artefacts.PAPER_SCENES), identification_block(
        noise
    )
    return {**scenes, **throw, "bodies": scenes["bodies"] | throw["bodies"]}


def simulated(*names):
    """The simulations of some scenes."""
    return [f"<results>/planar/simulations/{name}.nc" for name in names]


def swept(kind, *names):
    """A table of the sweep over the time step, for some scenes."""
    return [f"<results>/planar/sweeps/{name}.{kind}.csv" for name in names]


def identification_block(noise, *keys):
    """What one throw's identification depends on, so that more seeds or cells rerun none that are there."""
    kept = [
        "body", "ground", "position", "velocity", "duration", "restitution_e_n", "time_step", "longest_step", "seed",
    ]  # fmt: skip
    reading = IDENTIFICATION["noise"][noise]
    return {
        "gravity": PLANAR["gravity"],
        "bodies": {IDENTIFICATION["body"]: PLANAR["bodies"][IDENTIFICATION["body"]]},
        "identification": {
            **{key: IDENTIFICATION[key] for key in [*kept, *keys]},
            "noise": {
                noise: {key: reading[key] for key in ("position", "orientation")}
            },
        },
    }


def seeds_of(shard):
    """Seeds of a shard, from 1."""
    first = 1 + int(shard) * IDENTIFICATION["seeds_per_job"]
    return list(
        range(
            first,
            min(first + IDENTIFICATION["seeds_per_job"], IDENTIFICATION["seeds"] + 1),
        )
    )


# Table 1 with many noise samples; a run that identifies none of its cells compares those of figures 17 and 18
STORED["planar_table1"] = {
    "function": "contactid.planar.identify.cells:identify_cells",
    "settings": identification_block(IDENTIFIED_NOISE[0]),
    "key": ["noise_model", "mu", "fps", "seed"],
    "value": "error_pct",
    "tolerance": 0.05,  # a tenth of what the printed errors are rounded to
    "samples": identified_throws(IDENTIFIED_NOISE[0])
    or ["<results>/planar/identification/shown.csv"],
}
STORED["planar_paths"] = {
    **STORED["planar_table1"],
    "function": "contactid.planar.identify.cells:write_shown",
    "key": ["noise_model", "mu", "fps", "seed", "time_ms"],
    "value": "distance_mm",
    "samples": ["<results>/planar/identification/shown_paths.csv"],
}
STORED["planar_reformulations"] = {
    **STORED["planar_table1"],
    "function": "contactid.planar.identify.contest:write_reformulations",
    "key": ["truth", "mu", "fps", "seed", "start", "reformulation"],
    "value": "answer_error_pct",  # of successes: where a solve that failed ends is a matter of rounding
    "samples": expand(
        "<results>/planar/identification/reformulations.{throws}.csv",
        throws=IDENTIFICATION["reformulations"]["friction_mu"]
        + IDENTIFICATION["reformulations"]["truths"],
    ),
}
STORED["planar_hard_truths"] = {
    **STORED["planar_table1"],
    "function": "contactid.planar.identify.cells:write_hard_truth",
    "key": ["truth", "seed"],
    "samples": expand(
        "<results>/planar/identification/hard_truths.{truth}.csv",
        truth=IDENTIFICATION["hard_truths"]["truths"],
    ),
}
