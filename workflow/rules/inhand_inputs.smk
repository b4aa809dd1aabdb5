"""What the in-hand study runs on, and what it adds to a run."""

from contactid.inhand import names as inhand_names
from contactid.inhand.recording_names import recording_names, shard_recordings

INHAND = config["inhand"]

STUDY_TARGETS += expand(
    "<results>/inhand/tables/{table}.{extension}",
    table=inhand_names.TABLES,
    extension=["csv", "tex"],
)
STUDY_TARGETS += expand(
    "<results>/inhand/figures/{figure}.{extension}",
    figure=inhand_names.FIGURES,
    extension=["csv", "pdf", "png", "svg"],
)
STUDY_CHECKS += ["<results>/inhand/checks.csv"]
STUDY_SUMMARIES += ["<results>/inhand/summary.md"]


def estimated_recordings(wildcards, prefix):
    """Recordings of a shard, or with the prefix "truth_" their truths."""
    names = shard_recordings(wildcards.inhand_source, int(wildcards.inhand_seed))
    return [f"<results>/data/inhand_twin/{prefix}{name}.nc" for name in names]
