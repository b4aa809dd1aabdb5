"""What the arm study runs on, and what it adds to a run."""

from contactid.arm import artefacts as arm_artefacts, names as arm_names

ARM = config["arm"]

try:
    check_reader(DATASETS, ARM["data"], "arm_mat", "arm.data")
except ContactIdError as error:
    sys.exit(f"ERROR {error}")

ARTEFACTS["arm"] = arm_artefacts.declare(ARM)
ARM_LINKS = f"workflow/resources/robots/{ARM['robot']['name']}.csv"
ARM_SYNTHETIC = DATASETS[ARM["data"]].synthetic

STUDY_TARGETS += expand(
    "<results>/arm/tables/{table}.{extension}",
    table=arm_names.TABLES,
    extension=["csv", "tex"],
)
STUDY_TARGETS += expand(
    "<results>/arm/figures/{figure}.{extension}",
    figure=arm_names.FIGURES,
    extension=["csv", "pdf", "png", "svg"],
)
STUDY_DATASETS += [ARM["data"]]
STUDY_CHECKS += ["<results>/arm/checks.csv"]
STUDY_SUMMARIES += ["<results>/arm/summary.md"]
