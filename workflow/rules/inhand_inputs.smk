"""What the in-hand study runs on, and what it adds to a run."""

from contactid.inhand import artefacts as inhand_artefacts
from contactid.inhand.readers.sources import (
    APPENDIX_TABLES,
    SOURCES as INHAND_SOURCES,
    recording_names,
)

INHAND = config["inhand"]
INHAND_OBJECTS = "workflow/resources/inhand/objects.yaml"
INHAND_SURFACES = "workflow/resources/inhand/friction_objects.csv"
INHAND_PUBLISHED = "workflow/resources/published/inhand.csv"
INHAND_SEEDS = INHAND["estimates"]["seeds"]
# the tables that a run is judged and summed up by
INHAND_FOUND = [*APPENDIX_TABLES.values(), "ext_force_sensing", "ext_friction"]
INHAND_JUDGED = [*INHAND_FOUND, "ext_differences"]
INHAND_SUMMARISED = [*INHAND_FOUND, "ext_printed_verdicts", "ext_estimates"]

ARTEFACTS["inhand"] = inhand_artefacts.declare(INHAND)
STUDY_CHECKS += ["<results>/inhand/checks.csv"]
STUDY_SUMMARIES += ["<results>/inhand/summary.md"]


def inhand_twins(seeds, sources=INHAND_SOURCES, prefix=""):
    """Recordings of some sources, or with the prefix "truth_" their truths."""
    names = recording_names(seeds, sources)
    return [f"<results>/data/inhand_twin/{prefix}{name}.nc" for name in names]
