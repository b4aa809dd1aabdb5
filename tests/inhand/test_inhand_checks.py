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
from contactid.inhand.artefacts.estimates import appendix_table, is_true, median_estimate, printed_verdict
from contactid.inhand.artefacts.printed import consistency_table, ground_truths, printed_table
from contactid.inhand.checks import REASONS, check, reproduced_numbers
from contactid.inhand.claims import method_claims
from contactid.inhand.identify.methods import (
    FACTOR_GRAPH,
    GROUND_TRUTH,
    LEAST_SQUARES,
    LIKELIHOOD,
    METHODS,
    PARAMETER_COLUMNS,
)
from contactid.inhand.readers.sources import APPENDIX_TABLES, ERROR_FIGURES, SIMULATION, SOURCES, WRIST
from contactid.inhand.summary import summarise
from contactid.output import style
from contactid.output.artefacts import computations, computed
from contactid.output.comparison import STATEMENT, compare
from contactid.output.computing import compute
from contactid.output.fits import write_json
from contactid.output.tables import read_csv, write_csv
from contactid.run.fingerprint import Fingerprints
from contactid.sources.lockfile import digest
from inhand_estimates_for_tests import made_up_estimates
from twins_for_tests import OBJECTS, OBJECTS_FILE, PUBLISHED_FILE, STUDY

DECLARED = declare(STUDY)
COMPUTED = (
    "contactid.inhand.artefacts.printed:printed_consistency",
    "contactid.inhand.artefacts.estimates:appendix",
    "contactid.inhand.artefacts.errors:error_figures",
)
JUDGED = [*APPENDIX_TABLES.values(), "ext_force_sensing", "ext_friction", "ext_differences"]
PUBLISHED = read_csv(PUBLISHED_FILE)
PRINTED = printed_table(PUBLISHED)
ESTIMATES = made_up_estimates(ground_truths(PRINTED))
FORCE = pd.DataFrame(
    {
        "model": ["bayesian_features", "bayesian_features", "linear"],
        "magnitude_error_n": [0.1, 0.12, 0.3],
        "angle_error_deg": [3.0, 3.2, 9.0],
        "share_within_one_sd": [0.68, 0.69, 0.6],
        "magnitude_improvement": [3.0, 2.5, np.nan],
        "angle_improvement": [3.0, 2.8, np.nan],
    }
)
FRICTION = pd.DataFrame(
    {
        "object": ["mug", "mustard_bottle", "mustard_bottle", "all", "all"],
        "region": ["", "plastic", "label", "without the warped", "warped"],
        "warped": [False, False, True, False, True],
        "n_trials": [10, 10, 10, 80, 20],
        "n_slipped": [10, 10, 10, 80, 19],
        "case_error": [0.01, 0.02, 0.1, 0.012, 0.1],
    }
)
DIFFERENCES = pd.DataFrame(
    {
        "object": ["noise_level_0"] * 2,
        "scheme": ["paper"] * 2,
        "estimator": ["baseline", "least squares without filter"],
        "mass_error_pct": [50.0, 1.0],
    }
)
FORCES = pd.DataFrame(
    {"sensor": ["wrist"] * 3 + ["thumb"] * 3, "component": ["x"] * 6, "reported_n": [0.0, 3.0, 6.0, 4.0, 4.1, 4.2]}
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study's folder after the rules inhand_printed, inhand_tables and inhand_checks."""
    folder = tmp_path_factory.mktemp("inhand")
    tables = folder / "tables"
    tables.mkdir()
    (folder / "figures").mkdir()
    made_up = {"estimates": ESTIMATES, "force_sensing": FORCE, "friction": FRICTION, "differences": DIFFERENCES}
    for name, table in made_up.items():
        write_csv(table, tables / f"ext_{name}.csv")
    write_csv(FORCES, folder / "figures/fig09_force_scale.csv")
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
    judged = [str(tables / f"{name}.csv") for name in JUDGED]
    forces = str(folder / "figures/fig09_force_scale.csv")
    check(PUBLISHED_FILE, OBJECTS_FILE, judged, JUDGED, forces, str(folder / "checks.csv"))
    return folder


def test_an_appendix_table_has_printed_and_reproduced_rows_in_one_convention(folder: Path) -> None:
    table = read_csv(folder / "tables/tabA2_wrist.csv")
    truth = table[(table["object"] == "box_0") & (table["method"] == GROUND_TRUTH)].iloc[0]
    assert truth["i_xy"] == pytest.approx(40.0e-5) and truth["geodesic_error"] == 0.0
    one: Any = table[(table["object"] == "box_0") & (table["method"] == "constraint_no_geodesic")].set_index("origin")
    assert list(one.index) == [FROM_PAPER, FACTOR_GRAPH, LIKELIHOOD]
    assert one.loc[FROM_PAPER, "i_xy"] == pytest.approx(49.09e-5)
    assert one.loc[FROM_PAPER, "verdict"].startswith("unphysical by ")
    far = table[(table["object"] == "box_2") & (table["origin"] == FROM_PAPER)].set_index("method")["verdict"]
    assert far["baseline_fg"].endswith("; centre of mass outside the shape")
    assert one.loc[LIKELIHOOD, "verdict"] == "6 of 6 runs consistent"
    assert np.isfinite(one.loc[LIKELIHOOD, "geodesic_error"])
    assert one.loc[FACTOR_GRAPH, "physically_consistent"] == 3 and np.isinf(one.loc[FACTOR_GRAPH, "geodesic_error"])
    tex = (folder / "tabulars/tabA2_wrist.tex").read_text()
    assert "& 40 &" in tex, "in the units of the printed table"


def test_medians_are_over_converged_runs_and_the_others_are_counted() -> None:
    runs = ESTIMATES[
        (ESTIMATES["source"] == WRIST) & (ESTIMATES["object"] == "box_1") & (ESTIMATES["solver"] == LIKELIHOOD)
    ].head(5)
    failed = runs.assign(converged=[True, True, True, False, False], mass_kg=[1.0, 2.0, 3.0, 99.0, np.nan])
    median = median_estimate(failed)
    assert (median["runs"], median["converged"], median["mass_kg"]) == (5, 3, 2.0)
    assert median["verdict"] == "3 of 5 runs consistent, 2 not converged"
    unknown = median_estimate(runs.assign(geodesic_error=[0.1, 0.2, np.nan, np.nan, np.nan]))
    assert np.isinf(unknown["geodesic_error"])
    nothing = median_estimate(failed.assign(converged=False))
    assert nothing["runs"] == 5 and np.isnan(nothing["mass_kg"]) and np.isnan(nothing["geodesic_error"])


def test_every_printed_number_gets_a_verdict_and_none_of_ours_lacks_a_printed_one(folder: Path) -> None:
    tables = {path.stem: read_csv(path) for path in (folder / "tables").glob("*.csv")}
    numbers = reproduced_numbers(tables, OBJECTS, PUBLISHED, FORCES)
    printed = set(zip(PUBLISHED["artefact"], PUBLISHED["quantity"], PUBLISHED["condition"], strict=True))
    assert set(numbers) == printed
    checks = read_csv(folder / "checks.csv")
    assert len(checks) == len(PUBLISHED) == 1246 and (checks["note"] != "").all()
    numbers_only = checks[checks["quantity"].isin(PARAMETER_COLUMNS)]
    truths = numbers_only["condition"].str.endswith(GROUND_TRUTH)
    assert (numbers_only.loc[truths, ["verdict", "basis"]] == "input").all(axis=None) and truths.sum() == 200
    estimates = numbers_only[~truths]
    assert (estimates["verdict"] == "not_comparable").all() and len(estimates) == 850
    assert estimates["note"].str.contains("on twins.*printed row: unphysical by ").all()
    assert estimates["data"].str.startswith("inhand_twin:").all()
    improvement = checks.set_index("quantity").loc["force_model_improvement"]
    assert improvement["reproduced"] == pytest.approx(2.75) and improvement["verdict"] == "not_comparable"


def test_the_uniform_body_is_tried_on_every_printed_estimate_but_the_mass(folder: Path) -> None:
    checks = read_csv(folder / "checks.csv")
    estimates = checks[checks["quantity"].isin(PARAMETER_COLUMNS) & ~checks["condition"].str.endswith(GROUND_TRUTH)]
    tried = estimates["wrong_answers"].str.contains("uniform body=")
    assert (tried == (estimates["quantity"] != "mass_kg")).all()
    signed = estimates["wrong_answers"].str.contains("sign=")
    assert set(estimates.loc[signed, "quantity"]) == {"com_x_m", "com_y_m", "com_z_m", "i_xy", "i_xz", "i_yz"}
    box = estimates[estimates["condition"] == "source=wrist_ft;object=box_0;method=baseline_fg"].set_index("quantity")
    # the hull is 0.19 x 0.075 x 0.07 m from the origin; off-diagonals are products of inertia
    assert box.loc["com_y_m", "wrong_answers"].endswith("uniform body=-0.0375")
    assert float(box.loc["i_xy", "wrong_answers"].split("=")[-1]) == pytest.approx(-0.115 * 0.095 * 0.0375, rel=1e-5)


def test_what_is_missing_is_named_for_one_table_alone(folder: Path) -> None:
    checks = read_csv(folder / "checks.csv")
    lacking = checks[checks["verdict"] == "not_comparable"]
    texts = lacking["note"].str.split(";").str[0]
    assert (lacking.groupby(texts)["artefact"].nunique() == 1).all() and texts.str.startswith("needs ").all()


def test_a_statement_counts_only_with_its_counterexample_refused(folder: Path) -> None:
    checks = read_csv(folder / "checks.csv")
    stated = checks[checks["unit"] == STATEMENT]
    assert set(stated["published"]) == {1.0} and set(stated["tolerance"]) == {0.0}
    judged = stated[stated["reproduced"].notna()]
    assert judged["wrong_answers"].str.startswith("counterexample=0").all()
    reproduced = stated[stated["verdict"] == "reproduced"]
    assert len(reproduced) and set(reproduced["basis"]) == {"computed"}
    assert (reproduced["wrong_answers"].str.count("=") == reproduced["rejects"].str.count(";") + 1).all()


def test_checks_keep_the_sign_of_the_printed_table(folder: Path) -> None:
    checks = read_csv(folder / "checks.csv").set_index(["artefact", "quantity", "condition"])["reproduced"]
    table: Any = read_csv(folder / "tables/tabA2_wrist.csv").set_index(["object", "method", "origin"])
    key = "source=wrist_ft;object=box_3;method=baseline_fg"
    assert checks["tabA2", "i_xz", key] == -table.loc[("box_3", "baseline_fg", FACTOR_GRAPH), "i_xz"]
    assert checks["tabA2", "i_xx", key] == table.loc[("box_3", "baseline_fg", FACTOR_GRAPH), "i_xx"]
    held: Any = read_csv(folder / "tables/tabA3_inhand_vision.csv").set_index(["object", "method", "origin"])
    key = "source=in_hand_a;object=box_3;method=baseline_fg"
    assert checks["tabA3", "i_xz", key] == held.loc[("box_3", "baseline_fg", FACTOR_GRAPH), "i_xz"]


def test_without_a_twin_only_what_print_says_is_judged() -> None:
    rows = consistency_table(PRINTED, OBJECTS)
    empty = ESTIMATES.iloc[:0]
    tables = {name: appendix_table(source, PRINTED, rows, empty) for source, name in APPENDIX_TABLES.items()}
    tables |= {"ext_force_sensing": FORCE.iloc[:0], "ext_friction": FRICTION.iloc[:0]}
    tables["ext_differences"] = DIFFERENCES.iloc[:0]
    checks = compare("inhand", PUBLISHED, reproduced_numbers(tables, OBJECTS, PUBLISHED, FORCES), REASONS)
    missing = checks[checks["reproduced"].isna()]
    assert (missing["verdict"] == "not_comparable").all() and missing["note"].str.startswith("needs ").all()
    texts = missing["note"].str.split(";").str[0]
    assert (missing.groupby(texts)["artefact"].nunique() == 1).all()
    judged = checks[checks["reproduced"].notna() & (checks["basis"] != "input")]
    assert set(judged["quantity"][judged["basis"] == "computed"]) == {
        "smaller_scale_at_a_fingertip", "inertial_error_is_scale_invariant",
    }  # fmt: skip
    assert not judged["condition"].str.contains("from=twins;").any()


def _stated(printed: pd.DataFrame) -> dict[Any, Any]:
    """What print alone says of every statement: 1, 0, or nan."""
    rows = consistency_table(printed, OBJECTS)
    tables = {
        name: appendix_table(source, printed, rows, ESTIMATES.iloc[:0]) for source, name in APPENDIX_TABLES.items()
    }
    tables |= {"ext_force_sensing": FORCE.iloc[:0], "ext_friction": FRICTION.iloc[:0]}
    tables["ext_differences"] = DIFFERENCES.iloc[:0]
    claims = method_claims(tables, OBJECTS, printed, FORCES)
    return {key: one for key, one in claims.items() if "from=print" in key[2]}


@pytest.mark.parametrize("blocks", [["in_hand_a"], ["in_hand_a", "in_hand_b"], ["wrist_ft"]])
def test_no_verdict_on_print_hangs_on_the_sign_of_its_off_diagonals(blocks: list[str]) -> None:
    """Print doesn't state it: with the estimates of some tables turned, every statement has the same answer."""
    turned = PRINTED.copy()
    some = turned["block"].isin(blocks) & (turned["method"] != GROUND_TRUTH)
    turned.loc[some, ["i_xy", "i_xz", "i_yz"]] *= -1.0
    shown, other = _stated(PRINTED), _stated(turned)
    assert set(shown) == set(other)
    for key, one in shown.items():
        assert one.value == pytest.approx(other[key].value, nan_ok=True), key
    hanging = {key for key, one in shown.items() if one.missing.startswith("needs the sign")}
    assert hanging and all("measure=inertia" in key[2] for key in hanging)


def test_a_printed_row_that_a_body_can_have_says_with_which_sign() -> None:
    rows = consistency_table(PRINTED, OBJECTS)
    truth = rows[(rows["source"] == WRIST) & (rows["object"] == "box_0") & (rows["method"] == GROUND_TRUTH)]
    assert printed_verdict(truth) == (0.0, "possible, off-diagonals as products of inertia")
    error, verdict = printed_verdict(truth.assign(positive_definite=False, within_hull=False, margin=[-0.3, -0.07]))
    assert np.isinf(error) and verdict == "unphysical by 0.07 m c^2; centre of mass outside the shape"


def test_figures_leave_infinite_errors_out_of_the_box_and_count_them() -> None:
    runs = ESTIMATES[(ESTIMATES["source"] == SIMULATION) & (ESTIMATES["method"] == METHODS[0])].head(6)
    errors = [0.1, 0.2, 0.3, 0.4, 5.0, np.inf]
    one = runs.assign(object="noise_level_0", geodesic_error=errors, converged=True)
    # two can't be bodies: the one of infinite error, and one with its centre of mass outside the hull
    one = one.assign(physically_consistent=[False, True, True, True, True, False])
    failed = one.head(1).assign(converged=False, geodesic_error=np.nan)
    data = error_figure_data(SIMULATION, consistency_table(PRINTED, OBJECTS), pd.concat([one, failed]))
    with style.styled():
        figure = draw_errors(data)
        figure.canvas.draw()
    assert sorted(text.get_text() for text in figure.axes[0].texts) == ["1/7", "2/7"]
    whiskers = [line.get_ydata() for line in figure.axes[1].lines if len(line.get_ydata())]
    ends = np.concatenate(whiskers)
    assert {0.1, 0.3, 0.4, 5.0} <= set(np.round(ends[np.isfinite(ends)], 6))
    printed = data[data["kind"] == "printed"]
    assert len(printed) == 25 and np.isinf(printed["value"]).all(), "eq. 38 is infinite for every printed estimate"
    assert set(data.loc[data["solver"] == LEAST_SQUARES, "method"]) == {METHODS[0]}


@pytest.mark.parametrize("source", SOURCES)
def test_error_figures_show_every_count_and_say_what_they_are_made_from(folder: Path, source: str) -> None:
    data = read_csv(folder / f"figures/{ERROR_FIGURES[source]}.csv")
    assert "synthetic" in data["source"].iloc[0]
    with style.styled():
        figure = draw_errors(data)
        figure.canvas.draw()
    written = [text.get_text() for axes in figure.axes[::2] for text in axes.texts]
    for _, runs in data[data["kind"] == "run"].groupby(["object", "method", "solver"]):
        done = is_true(runs["converged"])
        written.remove(f"{(done & ~is_true(runs['physically_consistent'])).sum()}/{len(runs)}")
        written.remove(f"{(~done).sum()}/{len(runs)}")
    assert not written
    objects = data.loc[data["kind"] == "naive", "object"].nunique()
    assert sum(line.get_linestyle() == "--" for axes in figure.axes for line in axes.lines) == 2 * objects
    crosses = sum(line.get_marker() == "x" for axes in figure.axes for line in axes.lines)
    assert crosses == (data["kind"] == "printed").sum()


def test_nothing_but_unphysical_estimates_still_makes_a_figure() -> None:
    bad = ESTIMATES[ESTIMATES["source"] == WRIST].assign(geodesic_error=np.inf, physically_consistent=False)
    data = error_figure_data(WRIST, consistency_table(PRINTED, OBJECTS), bad)
    with style.styled():
        figure = draw_errors(data)
        figure.canvas.draw()
    assert "6/6" in {text.get_text() for text in figure.axes[0].texts}


def test_the_summary_says_what_was_found(folder: Path) -> None:
    files = list((folder / "tables").glob("*.csv"))
    summarise([str(path) for path in files], [path.stem for path in files], str(folder / "summary.md"))
    text = (folder / "summary.md").read_text()
    assert text.startswith("## inhand\n")
    assert "0 of the 40 with the constraint, 0 of all 85" in text
    assert "| printed " in text and "median error of a case 0.012" in text and "bayesian features" in text
    assert "nan" not in text
    masses = next(line for line in text.splitlines() if line.startswith("| in_hand_vision") and "printed" in line)
    assert [cell.strip() for cell in masses.split("|")[3:-1]] == ["-61", "-76", "-78", "-73", "-68"]


def test_a_figure_that_does_not_say_what_it_is_made_from_has_data_that_do() -> None:
    silent = {one.name for one in DECLARED if one.draw and not one.data}
    assert silent == {
        *ERROR_FIGURES.values(),
        "fig03_factor_graph",
        "fig05_force_sensing",
        "fig06_friction",
        "ext_speed",
    }
    assert all(one.caption for one in DECLARED)


def test_an_edit_of_an_estimator_or_a_simulator_redraws_nothing() -> None:
    reached = Fingerprints().reached(*(one.draw for one in DECLARED if one.draw))
    modules = {name.partition(":")[0].removeprefix("contactid.") for name in reached}
    drawing = {module for module in modules if module.startswith("inhand.artefacts.")}
    assert "inhand.artefacts.objects" in drawing
    light = {"inhand.identify.methods", "inhand.readers.sources", "output.style", "core.atomic", "core.errors"}
    assert modules - drawing <= light


def test_an_edit_of_the_networks_program_trains_anew() -> None:
    reached = Fingerprints().reached("contactid.inhand.tactile.training:write_predictions")
    assert "contactid.inhand.tactile.network:train" in reached


def test_no_parameter_is_forgotten(folder: Path) -> None:
    for name in APPENDIX_TABLES.values():
        assert set(PARAMETER_COLUMNS) <= set(read_csv(folder / f"tables/{name}.csv").columns)
