"""What the planar study runs on: its scenes, targets, and the configuration of each scene."""

try:
    check_scenes(config["planar"])
    check_identification(config["planar"])
except ContactIdError as error:
    sys.exit(f"ERROR {error}")

PLANAR = config["planar"]
PLANAR_SCENES = list(PLANAR["scenes"])
PLANAR_PEAKS = list(PLANAR["peaks"]["scenes"])
PLANAR_FIGURES = [*PAPER_FIGURES, *scene_figures(PLANAR)]
PLANAR_SIMULATIONS = expand(
    "<results>/planar/simulations/{scene}.nc", scene=PLANAR_SCENES
)
PLANAR_SWEEPS = [
    *expand(
        "<results>/planar/sweeps/{scene}.{kind}.csv",
        scene=PLANAR_PEAKS,
        kind=["peaks", "impulses", "convergence"],
    ),
    "<results>/planar/sweeps/liftoff.csv",
    "<results>/planar/sweeps/nlp_step.csv",
]

STUDY_TARGETS += expand(
    "<results>/planar/figures/{figure}.{extension}",
    figure=PLANAR_FIGURES,
    extension=["csv", "pdf", "png", "svg"],
)
STUDY_TARGETS += expand("<results>/planar/animations/{figure}.gif", figure=ANIMATIONS)
STUDY_TARGETS += expand(
    "<results>/planar/tables/{table}.{extension}",
    table=PLANAR_TABLES,
    extension=["csv", "tex"],
)
STUDY_CHECKS += ["<results>/planar/checks.csv"]
STUDY_SUMMARIES += ["<results>/planar/summary.md"]


def scene_block(name):
    """The configuration of one scene and no more, so that an edit of another reruns nothing of it."""
    scene = PLANAR["scenes"][name]
    return {
        "gravity": PLANAR["gravity"],
        "bodies": {scene["body"]: PLANAR["bodies"][scene["body"]]},
        "scenes": {name: scene},
    }
