"""Measured planar throws and impacts that a run is given."""

PLANAR_REAL = PLANAR["real"]
STUDY_DATASETS += [
    PLANAR_REAL[kind] for kind in ("squares", "ellipse") if PLANAR_REAL[kind]
]

try:
    for kind, reader in {
        "squares": "planar_throws",
        "ellipse": "planar_impacts",
    }.items():
        if PLANAR_REAL[kind]:
            check_reader(DATASETS, PLANAR_REAL[kind], reader, f"planar.real.{kind}")
except ContactIdError as error:
    sys.exit(f"ERROR {error}")

# without a dataset nothing asks for these
REAL_IMPACTS, REAL_THROWS = (
    f"<results>/data/{PLANAR_REAL[kind] or 'none'}/planar.nc"
    for kind in ("ellipse", "squares")
)

if PLANAR_REAL["ellipse"]:
    STUDY_TARGETS += expand(
        "<results>/planar/tables/{table}.{extension}",
        table=REAL_ELLIPSE_TABLES,
        extension=["csv", "tex"],
    )
    STUDY_TARGETS += expand(
        "<results>/planar/figures/{figure}.{extension}",
        figure=REAL_ELLIPSE_FIGURES,
        extension=["csv", "pdf", "png", "svg"],
    )

if PLANAR_REAL["squares"]:
    STUDY_TARGETS += expand(
        "<results>/planar/tables/{table}.{extension}",
        table=[*SQUARE_TABLES, *(SQUARE_REASONS if PLANAR_REAL["experiments"] else [])],
        extension=["csv", "tex"],
    )
    STUDY_TARGETS += expand(
        "<results>/planar/figures/{figure}.{extension}",
        figure=SQUARE_FIGURES,
        extension=["csv", "pdf", "png", "svg"],
    )
