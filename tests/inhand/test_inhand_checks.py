"""Appendix tables, error figures, checks and summary, from made-up estimates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from contactid.inhand.artefacts import declare
from contactid.inhand.artefacts.errors import draw_errors, error_figure_data
from contactid.inhand.artefacts.estimates import PRINTED as FROM_PAPER
from contactid.inhand.artefacts.estimates import is_true, median_estimate, printed_verdict
from contactid.inhand.artefacts.printed import consistency_table, ground_truths, printed_table
from contactid.inhand.checks import check, reproduced_numbers
from contactid.inhand.identify.methods import (
    FACTOR_GRAPH,
    GROUND_TRUTH,
    LEAST_SQUARES,
    LIKELIHOOD,
    METHODS,
    PARAMETER_COLUMNS,
)
from contactid.inhand.readers.card import card_of
from contactid.inhand.readers.sources import (
    APPENDIX_TABLES,
    ERROR_FIGURES,
    SIMULATION,
    SOURCES,
    WRIST,
)
from contactid.inhand.readers.twins import simulate_recording
from contactid.inhand.summary import summarise
from contactid.output import style
from contactid.output.artefacts import computations, computed
from contactid.output.comparison import INPUTS, STATEMENT
from contactid.output.computing import compute
from contactid.output.fits import write_json
from contactid.output.tables import read_csv, write_csv
from contactid.output.verdicts import LACKS
from contactid.run.fingerprint import Fingerprints
from contactid.sources.lockfile import digest
from inhand_estimates_for_tests import made_up_estimates
from inhand_tables_for_tests import MADE_UP
from twins_for_tests import OBJECTS, OBJECTS_FILE, PUBLISHED_FILE, ROOT, STUDY, twins

DECLARED = declare(STUDY)
COMPUTED = (
    "contactid.inhand.artefacts.printed:printed_consistency",
    "contactid.inhand.artefacts.estimates:appendix",
    "contactid.inhand.artefacts.errors:error_figures",
)
LEDGER = str(ROOT / "workflow/resources/published/inhand_claims.yaml")
PUBLISHED = read_csv(PUBLISHED_FILE)
PRINTED = printed_table(PUBLISHED)
ESTIMATES = made_up_estimates(ground_truths(PRINTED))
RESULTS = [*APPENDIX_TABLES.values(), "ext_estimates", "ext_printed_consistency"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study's folder after the rules inhand_printed, inhand_tables and inhand_checks."""
    folder = tmp_path_factory.mktemp("inhand")
    tables = folder / "tables"
    tables.mkdir()
    (folder / "figures").mkdir()
    write_csv(ESTIMATES, tables / "ext_estimates.csv")
    for name, table in MADE_UP.items():
        write_csv(table, tables / f"{name}.csv")
    given = {
        "published": PUBLISHED_FILE,
        "objects": OBJECTS_FILE,
        "verdicts": str(tables / "ext_printed_consistency.csv"),
        "shards": [str(tables / "ext_estimates.csv")],
        "stored_estimates": [str(tables / "ext_estimates.csv"), str(folder / "provenance.json")],
    }
    write_json(folder / "provenance.json", {"table_sha256": digest(tables / "ext_estimates.csv")})
    for rule in ("inhand_printed", "inhand_tables"):
        rows = [one for one in DECLARED if one.rule == rule and one.compute in COMPUTED]
        compute(computations(rows), given | {"artefacts": computed(rows, str(folder))})
    write_json(
        folder / "card.json",
        card_of("inhand_twin", [simulate_recording("wrist_ft", "box_0", 0, twins())[0]]),
    )
    names = [*RESULTS, *MADE_UP]
    files = [str(tables / f"{name}.csv") for name in names]
    check(
        PUBLISHED_FILE,
        OBJECTS_FILE,
        LEDGER,
        [str(folder / "card.json")],
        files,
        names,
        str(folder / "checks.csv"),
    )
    return folder


def test_an_appendix_table_has_printed_and_reproduced_rows_in_one_convention(folder: Path) -> None:
    table = read_csv(folder / "tables/tabA2_wrist.csv")
    truth = table[(table["object"] == "box_0") & (table["method"] == GROUND_TRUTH)].iloc[0]
    assert truth["i_xy"] == pytest.approx(40.0e-5) and truth["geodesic_error"] == 0.0
    one: Any = table[
        (table["object"] == "box_0") & (table["method"] == "constraint_no_geodesic")
    ].set_index("origin")
    assert list(one.index) == [FROM_PAPER, FACTOR_GRAPH, LIKELIHOOD]
    assert one.loc[FROM_PAPER, "i_xy"] == pytest.approx(49.09e-5)
    assert one.loc[FROM_PAPER, "verdict"].startswith("unphysical by ")
    far = table[(table["object"] == "box_2") & (table["origin"] == FROM_PAPER)].set_index("method")[
        "verdict"
    ]
    assert far["baseline_fg"].endswith("; centre of mass outside the shape")
    assert one.loc[LIKELIHOOD, "verdict"] == "6 of 6 runs consistent"
    assert np.isfinite(one.loc[LIKELIHOOD, "geodesic_error"])
    assert one.loc[FACTOR_GRAPH, "physically_consistent"] == 3 and np.isinf(
        one.loc[FACTOR_GRAPH, "geodesic_error"]
    )


def test_medians_are_over_converged_runs_and_the_others_are_counted() -> None:
    runs = ESTIMATES[
        (ESTIMATES["source"] == WRIST)
        & (ESTIMATES["object"] == "box_1")
        & (ESTIMATES["solver"] == LIKELIHOOD)
    ].head(5)
    failed = runs.assign(
        converged=[True, True, True, False, False], mass_kg=[1.0, 2.0, 3.0, 99.0, np.nan]
    )
    median = median_estimate(failed)
    assert (median["runs"], median["converged"], median["mass_kg"]) == (5, 3, 2.0)
    assert median["verdict"] == "3 of 5 runs consistent, 2 not converged"
    unknown = median_estimate(runs.assign(geodesic_error=[0.1, 0.2, np.nan, np.nan, np.nan]))
    assert np.isinf(unknown["geodesic_error"])
    nothing = median_estimate(failed.assign(converged=False))
    assert (
        nothing["runs"] == 5
        and np.isnan(nothing["mass_kg"])
        and np.isnan(nothing["geodesic_error"])
    )


def test_every_printed_number_has_its_row_or_is_counted_among_what_the_run_starts_from(
    folder: Path,
) -> None:
    tables = {path.stem: read_csv(path) for path in (folder / "tables").glob("*.csv")}
    numbers = reproduced_numbers(tables, OBJECTS)
    assert set(numbers) == set(
        zip(PUBLISHED["artefact"], PUBLISHED["quantity"], PUBLISHED["condition"], strict=True)
    )
    checks = read_csv(folder / "checks.csv")
    # nine of them are statements asked again where the constraint acts
    assert len(PUBLISHED) == 1051 and len(checks) <= 915
    assert (checks["note"] != "").all() and not checks.duplicated(
        ["artefact", "quantity", "condition"]
    ).any()

    truths = checks[checks["quantity"] == INPUTS]
    assert list(truths["artefact"]) == ["tabA1", "tabA2", "tabA3", "tabA4"]
    assert (truths["cases"] == "50 of 50").all() and (truths["verdict"] == "input").all()
    estimates = checks[checks["quantity"].isin(PARAMETER_COLUMNS)]
    assert len(estimates) == 850 and (estimates["verdict"] == "never_published").all()
    assert estimates["note"].str.contains("on twins.*printed row: unphysical by ").all()
    assert (
        estimates["data"].str.startswith("inhand_twin:").all()
        and (estimates["origin"] == "twin_of_print").all()
    )
    improvement = checks.set_index("quantity").loc["force_model_improvement"]
    assert (
        improvement["reproduced"] == pytest.approx(2.75)
        and improvement["verdict"] == "never_published"
    )


def test_a_number_that_the_twins_were_made_with_is_an_input_and_one_that_they_were_tuned_by_fitted(
    folder: Path,
) -> None:
    checks = read_csv(folder / "checks.csv")
    masses = checks[checks["quantity"] == "mass_kg"]
    in_hand, constrained = (
        masses["artefact"].isin(["tabA3", "tabA4"]),
        masses["condition"].str.contains(";method=const"),
    )
    assert set(masses.loc[in_hand & constrained, "basis"]) == {"input"}
    assert set(masses.loc[in_hand & ~constrained, "basis"]) == {"fitted"}
    assert set(masses.loc[~in_hand, "basis"]) == {"computed"}
    others = checks[checks["quantity"].isin(PARAMETER_COLUMNS[1:])]
    assert set(others["basis"]) == {"computed"}


def test_the_uniform_body_is_tried_on_every_printed_estimate_but_the_mass(folder: Path) -> None:
    checks = read_csv(folder / "checks.csv")
    estimates = checks[checks["quantity"].isin(PARAMETER_COLUMNS)]
    tried = estimates["wrong_answers"].str.contains("uniform body=")
    assert (tried == (estimates["quantity"] != "mass_kg")).all()
    signed = estimates["wrong_answers"].str.contains("sign=")
    assert set(estimates.loc[signed, "quantity"]) == {
        "com_x_m",
        "com_y_m",
        "com_z_m",
        "i_xy",
        "i_xz",
        "i_yz",
    }
    box = estimates[
        estimates["condition"] == "source=wrist_ft;object=box_0;method=baseline_fg"
    ].set_index("quantity")
    # the hull is 0.19 x 0.075 x 0.07 m from the origin; off-diagonals are products of inertia
    assert box.loc["com_y_m", "wrong_answers"].endswith("uniform body=-0.0375")
    assert float(box.loc["i_xy", "wrong_answers"].split("=")[-1]) == pytest.approx(
        -0.115 * 0.095 * 0.0375, rel=1e-5
    )


def test_what_is_missing_is_named_for_one_artefact_alone(folder: Path) -> None:
    checks = read_csv(folder / "checks.csv")
    lacking = checks[checks["verdict"].isin(LACKS)]
    texts = lacking["note"].str.split(";").str[0]
    assert (lacking.groupby(texts)["artefact"].nunique() == 1).all()
    assert set(lacking["verdict"]) <= {"never_published", "not_done", "undefined"}


def test_what_is_reproduced_refused_two_wrong_answers_and_hangs_on_no_threshold(
    folder: Path,
) -> None:
    checks = read_csv(folder / "checks.csv").fillna({"moved": "", "rejects": ""})
    reproduced = checks[checks["verdict"] == "reproduced"]
    assert (
        len(reproduced)
        and set(reproduced["basis"]) == {"computed"}
        and set(reproduced["unit"]) == {STATEMENT}
    )
    for row in reproduced.to_dict("records"):
        tried = [entry.rpartition("=")[0] for entry in row["wrong_answers"].split(";")]
        assert row["rejects"].split(";") == tried and len(tried) >= 2, row["quantity"]
        assert "=0" not in row["moved"], row["quantity"]


def test_checks_keep_the_sign_of_the_printed_table(folder: Path) -> None:
    checks = read_csv(folder / "checks.csv").set_index(["artefact", "quantity", "condition"])[
        "reproduced"
    ]
    table: Any = read_csv(folder / "tables/tabA2_wrist.csv").set_index(
        ["object", "method", "origin"]
    )
    key = "source=wrist_ft;object=box_3;method=baseline_fg"
    assert (
        checks["tabA2", "i_xz", key] == -table.loc[("box_3", "baseline_fg", FACTOR_GRAPH), "i_xz"]
    )
    assert checks["tabA2", "i_xx", key] == table.loc[("box_3", "baseline_fg", FACTOR_GRAPH), "i_xx"]
    held: Any = read_csv(folder / "tables/tabA3_inhand_vision.csv").set_index(
        ["object", "method", "origin"]
    )
    key = "source=in_hand_a;object=box_3;method=baseline_fg"
    assert checks["tabA3", "i_xz", key] == held.loc[("box_3", "baseline_fg", FACTOR_GRAPH), "i_xz"]


def test_a_printed_row_that_a_body_can_have_says_with_which_sign() -> None:
    rows = consistency_table(PRINTED, OBJECTS)
    truth = rows[
        (rows["source"] == WRIST) & (rows["object"] == "box_0") & (rows["method"] == GROUND_TRUTH)
    ]
    assert printed_verdict(truth) == (0.0, "possible, off-diagonals as products of inertia")
    error, verdict = printed_verdict(
        truth.assign(positive_definite=False, within_hull=False, margin=[-0.3, -0.07])
    )
    assert (
        np.isinf(error) and verdict == "unphysical by 0.07 m c^2; centre of mass outside the shape"
    )


def marks(axes, marker: str) -> list[tuple[float, bool]]:
    """Heights of an axes' marks, and whether they are filled."""
    lines = [line for line in axes.lines if line.get_marker() == marker]
    filled = [line.get_markerfacecolor() != "none" for line in lines]
    return [(float(line.get_ydata()[0]), fill) for line, fill in zip(lines, filled, strict=True)]


def test_figures_have_a_dot_per_run_and_a_row_for_those_that_are_no_body() -> None:
    runs = ESTIMATES[
        (ESTIMATES["source"] == SIMULATION) & (ESTIMATES["method"] == METHODS[0])
    ].head(6)
    errors = [0.1, 0.2, 0.3, 0.4, 5.0, np.inf]
    one = runs.assign(object="noise_level_0", geodesic_error=errors, converged=True)
    # two can't be bodies: the one of infinite error, and one with its centre of mass outside the
    # hull
    one = one.assign(physically_consistent=[False, True, True, True, True, False])
    failed = one.head(1).assign(converged=False, geodesic_error=np.nan)
    data = error_figure_data(
        SIMULATION, consistency_table(PRINTED, OBJECTS), pd.concat([one, failed])
    )
    with style.styled():
        figure = draw_errors(data)
        figure.canvas.draw()
    above, axes = figure.axes
    expected = [(0.1, False), (0.2, True), (0.3, True), (0.4, True), (5.0, True)]
    assert sorted(marks(axes, "o")) == expected
    assert sorted(marks(above, "o")) == [(0.0, True), (1.0, True)]
    assert [text.get_text() for text in above.get_yticklabels()] == ["no body", "not settled"]
    printed = data[data["kind"] == "printed"]
    assert len(printed) == 25 and np.isinf(printed["value"]).all(), (
        "eq. 38 is infinite for every printed estimate"
    )
    assert set(data.loc[data["solver"] == LEAST_SQUARES, "method"]) == {METHODS[0]}


@pytest.mark.parametrize("source", SOURCES)
def test_error_figures_show_every_run_and_name_its_method(folder: Path, source: str) -> None:
    data = read_csv(folder / f"figures/{ERROR_FIGURES[source]}.csv")
    assert "synthetic" in data["source"].iloc[0]
    with style.styled():
        figure = draw_errors(data)
        figure.canvas.draw()
    above, axes = figure.axes
    runs = data[data["kind"] == "run"]
    settled = is_true(runs["converged"])
    assert len(marks(axes, "o")) == (settled & np.isfinite(runs["value"])).sum()
    heights = [height for height, _ in marks(above, "o")]
    assert heights.count(1.0) == (~settled).sum()
    assert heights.count(0.0) == (settled & ~np.isfinite(runs["value"])).sum()
    objects = data.loc[data["kind"] == "naive", "object"].nunique()
    assert sum(line.get_linestyle() == "--" for line in axes.lines) == objects
    crosses = [*marks(axes, "x"), *marks(above, "x")]
    assert len(crosses) == (data["kind"] == "printed").sum()
    named = [text.get_text() for text in axes.get_xticklabels()]
    both = runs[["method", "solver"]].drop_duplicates()
    assert len(named) == len(both) * data["object"].nunique() and "ours" in named


def test_nothing_but_unphysical_estimates_still_makes_a_figure() -> None:
    bad = ESTIMATES[ESTIMATES["source"] == WRIST].assign(
        geodesic_error=np.inf, physically_consistent=False
    )
    data = error_figure_data(WRIST, consistency_table(PRINTED, OBJECTS), bad)
    with style.styled():
        figure = draw_errors(data)
        figure.canvas.draw()
    assert not marks(figure.axes[1], "o") and marks(figure.axes[0], "o")


def test_the_summary_says_what_was_found(folder: Path) -> None:
    files = list((folder / "tables").glob("*.csv"))
    summarise(
        [str(path) for path in files], [path.stem for path in files], str(folder / "summary.md")
    )
    text = (folder / "summary.md").read_text()
    assert text.startswith("## inhand\n")
    assert "0 of the 40 with the constraint, 0 of all 85" in text
    assert (
        "| printed " in text
        and "median error of a case 0.012" in text
        and "bayesian features" in text
    )
    assert "nan" not in text
    masses = next(
        line
        for line in text.splitlines()
        if line.startswith("| in_hand_vision") and "printed" in line
    )
    assert [cell.strip() for cell in masses.split("|")[3:-1]] == ["-61", "-76", "-78", "-73", "-68"]


def test_a_figure_that_does_not_say_what_it_is_made_from_has_data_that_do() -> None:
    silent = {one.name for one in DECLARED if one.draw and not one.data}
    assert silent == {
        *ERROR_FIGURES.values(),
        "fig05_force_sensing",
        "fig06_friction",
    }
    assert all(one.caption for one in DECLARED)


def test_an_edit_of_an_estimator_or_a_simulator_redraws_nothing() -> None:
    reached = Fingerprints().reached(*(one.draw for one in DECLARED if one.draw))
    modules = {name.partition(":")[0].removeprefix("contactid.") for name in reached}
    drawing = {module for module in modules if module.startswith("inhand.artefacts.")}
    assert "inhand.artefacts.objects" in drawing
    light = {
        "inhand.identify.methods",
        "inhand.readers.sources",
        "output.pen",
        "output.style",
        "core.atomic",
        "core.errors",
    }
    assert modules - drawing <= light


def test_no_parameter_is_forgotten(folder: Path) -> None:
    for name in APPENDIX_TABLES.values():
        assert set(PARAMETER_COLUMNS) <= set(read_csv(folder / f"tables/{name}.csv").columns)
