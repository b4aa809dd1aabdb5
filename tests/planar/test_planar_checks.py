"""The planar study's numbers beside the printed ones: what refuses which wrong answer, and what each row lacks."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from contactid.output.comparison import (
    BETTER,
    DIFFERS,
    NOT_COMPARABLE,
    REPRODUCED,
    STATEMENT,
    UNINFORMATIVE,
    compare,
    counted,
    wrong_answers,
)
from contactid.planar import checks, statements
from contactid.planar.checks import Measured, path_errors
from contactid.planar.simulate.bodies import PlanarMotion
from contactid.planar.simulate.scenes import scene_of
from contactid.planar.sweeps.measures import STATED, UNIFORM, longest_run, needed_friction, with_uniform_bodies
from contactid.planar.sweeps.measures import write_measures as measured
from contactid.planar.sweeps.peaks import exact_first_impact
from contactid.planar.table1 import UNIFORM_ERROR_PCT, sample_tolerance, table_numbers

ROOT = Path(__file__).parents[2]
PUBLISHED = pd.read_csv(ROOT / "workflow/resources/published/planar.csv")
BLOCK = yaml.safe_load((ROOT / "config/default.yaml").read_text(encoding="utf-8"))["planar"]
BLOCK["identification"]["time_step"] = 1e-4  # of ten times fewer steps
ROLLING = {mu: min(mu, 0.6) for mu in np.round(np.linspace(0.1, 0.9, 9), 1)}
SAMPLES = st.lists(st.floats(-200.0, 200.0), min_size=5, max_size=40).map(np.array)

TRUE_AND_FALSE = [
    (statements.converges, (1.05, 0.02), statements.WITHOUT_LIMIT),
    (statements.has_no_limit, (0.01, 0.07), statements.WITH_LIMIT),
    (statements.in_one_instant, (1, 1, 1), statements.SPLIT_ONCE),
    (statements.in_two_instants, (2, 2, 2), statements.SPLIT_ONCE),
    (statements.nearer_together, ((86.4, 86.9, 86.1), (63.6, 83.4, 70.7)), statements.SCATTERED),
    (statements.rises, (1.0, 2.0, 3.0), statements.FALLING_ONCE),
    (statements.falls, (3.0, 2.0, 1.0), statements.RISING_ONCE),
    (statements.never_rises, (9, 4, 4), statements.FALLING_ONCE),
    (statements.without_pause, (0.0, 0.001), statements.ONE_PAUSE),
    (statements.with_pause, (0.4, 0.8), statements.ONE_PAUSE),
    (statements.trend_falls, [(fps, 1.0 / fps) for fps in (30.0, 60.0, 120.0, 240.0)], statements.WITHOUT_TREND),
    (statements.follows_truth, ((0.2, 0.21), (0.5, 0.48)), statements.ALWAYS_THE_SAME),
    (statements.stays_at_least, (0.57, (0.568, 0.571)), statements.FOLLOWING_ON),
    (statements.within_literature, 0.3, statements.SLIPPERY),
]


@pytest.mark.parametrize(("holds", "true", "counterexample"), TRUE_AND_FALSE)
def test_a_statement_can_come_out_true_and_false(holds, true, counterexample) -> None:
    assert holds(true) is True and holds(counterexample) is False


def test_every_statement_is_among_them() -> None:
    functions = {one for one in vars(statements).values() if getattr(one, "__module__", "") == statements.__name__}
    assert functions == {holds for holds, _, _ in TRUE_AND_FALSE}


@pytest.mark.parametrize(
    ("holds", "nothing"),
    [
        (statements.in_one_instant, ()),
        (statements.in_two_instants, ()),
        (statements.rises, ()),
        (statements.falls, (1.0,)),
        (statements.follows_truth, ()),
        (statements.stays_at_least, (0.57, ())),
        (statements.has_no_limit, (np.nan, np.nan)),
    ],
)
def test_no_statement_holds_of_nothing(holds, nothing) -> None:
    assert not holds(nothing)


@given(SAMPLES, st.floats(-50.0, 50.0))
def test_the_tolerance_of_a_sample_has_rounding_in_it_and_is_at_most_the_normal_one(values, shift) -> None:
    n, tolerance = len(values), sample_tolerance(values).value
    low, high = np.quantile(values, [0.25, 0.75])
    normal = 2.0 * (high - low) / 1.349 * np.sqrt(1.0 + min(1.0, np.pi / (2.0 * n)))
    assert 0.5 <= tolerance <= 0.5 + normal + 1e-12
    assert sample_tolerance(values + shift).value == pytest.approx(tolerance, abs=1e-9)
    assert sample_tolerance(np.full(n, shift)).value == 0.5


def test_a_further_sample_lies_within_the_tolerance_in_about_19_of_20_cases() -> None:
    rng, inside = np.random.default_rng(5), []
    for _ in range(2000):
        values = rng.normal(size=21)
        half = sample_tolerance(values[:20]).value - 0.5
        inside.append(abs(values[20] - np.median(values[:20])) <= half)
    assert 0.85 < np.mean(inside) < 0.97  # the smaller of two half-widths covers a little less than either


def test_measures_of_a_motion() -> None:
    assert [longest_run(np.array(run, dtype=bool)) for run in ([], [0, 0], [1], [1, 0, 1, 1, 0], [1, 1])] == [
        0,
        0,
        1,
        2,
        2,
    ]
    n = 3
    impulse_n, impulse_t = np.array([[0.0], [2.0], [4.0]]), np.array([[0.0], [-1.0], [1.0]])
    motion = PlanarMotion(np.arange(n), np.zeros((n, 3)), np.zeros((n, 3)), impulse_n, impulse_t, np.zeros((n, 1)))
    assert needed_friction(motion) == 0.5
    paths = [("simulated", 0.0, 0.0, 0.0), ("simulated", 2.0, 2.0, 0.0), ("identified", 1.0, 1.0, 3.0)]
    table = pd.DataFrame(paths, columns=["kind", "time_ms", "x_mm", "y_mm"]).assign(fps=60.0)
    assert path_errors(table) == {60.0: pytest.approx(3.0)}


def test_a_uniform_ellipse_has_the_known_ratio_and_changes_no_central_impact() -> None:
    uniform = with_uniform_bodies(BLOCK)
    body = uniform["bodies"]["plywood_ellipse"]
    assert 1e6 * body["inertia"] / body["mass"] == pytest.approx(781.25)
    assert pytest.approx(100.0 * (781.25 / 756.25 - 1.0)) == UNIFORM_ERROR_PCT
    drops, throws = (
        [exact_first_impact(scene_of(one, name))[1] for one in (BLOCK, uniform)] for name in ("drop", "throw")
    )
    assert drops[0] == drops[1] and abs(throws[0] - throws[1]) > 0.05


# ---------------------------------------------------------------- table 1
def samples(mu: float, fps: float, errors: np.ndarray, limit: float = 0.0) -> pd.DataFrame:
    """A cell's noise samples with these errors (%), of which a share ran to a limit."""
    n = len(errors)
    return pd.DataFrame(
        {
            "mu": mu, "fps": fps, "seed": range(1, n + 1), "converged": True, "error_pct": errors,
            "ratio_is_limit": np.arange(n) < limit * n, "friction_mu": min(mu, 0.57),
        }
    )  # fmt: skip


def held(found: pd.DataFrame) -> pd.DataFrame:
    """Table 1's rows with these samples, by quantity and condition."""
    rows = PUBLISHED[PUBLISHED["artefact"] == "tab01"]
    return compare("planar", rows, table_numbers(PUBLISHED, found, ROLLING), {"tab01": "left out"}).set_index(
        ["quantity", "condition"]
    )


def cell(mu: float, fps: int) -> tuple[str, str]:
    return "inertia_ratio_error_pct", f"friction_mu={mu:g};fps={fps}"


def test_a_printed_sample_is_judged_by_our_distribution() -> None:
    around = np.linspace(-1.0, 1.0, 20)
    found = pd.concat(
        [
            samples(0.2, 60, -16.0 + around),  # as printed
            samples(0.3, 60, 12.0 + 20.0 * around),  # as printed, but so would be 0
            samples(0.4, 60, 0.2 * around),  # printed -19
            samples(0.5, 60, 40.0 + around),  # printed 3
            samples(0.1, 30, np.full(20, -99.0), limit=0.6),
        ]
    )
    table = held(found)
    verdicts = [
        table.loc[cell(mu, fps), "verdict"] for mu, fps in ((0.2, 60), (0.3, 60), (0.4, 60), (0.5, 60), (0.1, 30))
    ]
    assert verdicts == [REPRODUCED, UNINFORMATIVE, BETTER, DIFFERS, NOT_COMPARABLE]
    assert "uniform body=3.30579" in table.loc[cell(0.2, 60), "wrong_answers"]
    assert table.loc[cell(0.2, 60), "note"].endswith("by our 20") and "60%" in table.loc[cell(0.1, 30), "note"]


def test_samples_that_did_not_converge_do_not_count() -> None:
    found = samples(0.2, 60, np.array([-16.0, -16.0, -16.0, 900.0]))
    found.loc[3, "converged"] = False
    assert held(found).loc[cell(0.2, 60), "reproduced"] == -16.0


def test_rolling_cells_are_one_experiment_per_frame_rate() -> None:
    found = pd.concat([samples(mu, fps, np.linspace(0, 5, 20)) for mu in (0.1, 0.5, 0.6) for fps in (30, 240)])
    rows = held(found).reset_index()
    rows = rows[rows["quantity"] == "inertia_ratio_error_pct"]
    repeated = rows.loc[rows["repeats"] != "", "condition"]
    assert sorted(repeated) == [f"friction_mu={mu};fps={fps}" for mu in (0.7, 0.8, 0.9) for fps in (240, 30)]
    assert len(counted(rows)) == len(rows) - 6
    assert set(rows.loc[rows["repeats"] != "", "repeats"]) == {"friction_mu=0.6;fps=30", "friction_mu=0.6;fps=240"}


def test_means_by_frame_rate_take_another_noise_sample_in_each_cell() -> None:
    found = pd.concat(
        [samples(mu, 240, np.arange(20.0) * (-1) ** place) for place, mu in enumerate((0.2, 0.3, 0.4, 0.5, 0.6))]
    )
    row = held(found).loc[("inertia_ratio_error_abs_mean_pct", "friction_mu=0.2..0.9;fps=240")]
    # seeds 0 to 7, 1 to 8, ... of 0 to 19: means 3.5, 4.5, ... until they wrap round
    shifted = [np.mean((np.arange(8) + first) % 20) for first in range(20)]
    assert row["reproduced"] == pytest.approx(np.median(shifted))
    assert "over 8 cells" in row["note"] and "uniform body" in row["wrong_answers"]


def test_printed_means_are_those_of_the_printed_cells() -> None:
    rows = PUBLISHED[PUBLISHED["quantity"] == "inertia_ratio_error_pct"]
    found = rows["condition"].str.extract("friction_mu=(?P<mu>[^;]+);fps=(?P<fps>.+)").astype(float)
    means = rows["value"].abs()[found["mu"] > 0.15].groupby(found["fps"]).mean()
    printed = PUBLISHED[PUBLISHED["quantity"] == "inertia_ratio_error_abs_mean_pct"].set_index("condition")["value"]
    assert {f"friction_mu=0.2..0.9;fps={fps:g}": pytest.approx(mean, abs=1e-4) for fps, mean in means.items()} == dict(
        printed
    )


# ---------------------------------------------------------------- all rows
def impulses(scene: str) -> pd.DataFrame:
    """First impulses at the printed time steps: one instant by IRC, two by IGC, and the weight's afterwards."""
    rows = []
    for h in (1.0, 2.0, 5.0):
        carried = 98.1e-3 * h if scene == "drop" else 0.0
        rows += [("IRC", h, 0.0, 0.0), ("IRC", h, h, 130.0), ("IRC", h, 2 * h, carried)]
        rows += [("IGC", h, h, 60.0 + 9.0 * h), ("IGC", h, 2 * h, 30.0), ("IGC", h, 3 * h, carried)]
    return pd.DataFrame(rows, columns=["model", "time_step_ms", "time_ms", "impulse_ns"])


CONVERGENCE = pd.DataFrame(
    [(scene, model, order, 0.05, 33) for scene in ("drop", "throw") for model, order in (("IRC", 1.0), ("IGC", 0.02))],
    columns=["scene", "model", "order", "order_se", "time_steps"],
)
PATHS = pd.DataFrame(
    [(fps, kind, t, t, 1.0 / fps if kind == "identified" else 0.0)
     for fps in (30.0, 60.0, 120.0) for kind in ("simulated", "identified") for t in (0.0, 1.0)],
    columns=["fps", "kind", "time_ms", "x_mm", "y_mm"],
)  # fmt: skip


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Measured:
    file = tmp_path_factory.mktemp("measures") / "measures.csv"
    measured(BLOCK, str(file))
    return Measured(pd.read_csv(file))


def all_numbers(found: Measured, block: dict) -> dict:
    table = pd.concat(
        [
            samples(mu, fps, np.linspace(-2, 2, 20))
            for mu in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
            for fps in (30, 60, 120, 200, 240)
        ]
    )
    shapes = {scene: impulses(scene) for scene in ("drop", "throw")}
    return checks.all_numbers(found, shapes, CONVERGENCE, PATHS, PUBLISHED, table, block)


def test_every_printed_number_has_a_row_and_every_row_a_printed_number(found: Measured) -> None:
    keys = set(zip(PUBLISHED["artefact"], PUBLISHED["quantity"], PUBLISHED["condition"], strict=True))
    assert set(all_numbers(found, BLOCK)) == keys


def test_every_wrong_answer_changes_the_verdict_of_a_reproduced_row(found: Measured) -> None:
    numbers = all_numbers(found, BLOCK)
    rows = compare("planar", PUBLISHED, numbers, {})
    good = rows[rows["verdict"] == REPRODUCED]
    assert len(good) > 20
    for row in good.to_dict("records"):
        key = (row["artefact"], row["quantity"], row["condition"])
        ours = numbers[key]
        tried = wrong_answers(row["published"], row["unit"], ours.naive, ours.signed)
        assert tried
        for value in tried.values():
            wrong = {key: replace(ours, value=value)}
            judged = compare("planar", PUBLISHED, wrong, {}).set_index(["artefact", "quantity", "condition"])
            assert judged.loc[key, "verdict"] != REPRODUCED, key


def test_simulated_numbers_refuse_the_uniform_body_where_it_is_a_wrong_answer(found: Measured) -> None:
    rows = compare("planar", PUBLISHED, all_numbers(found, BLOCK), {}).set_index(["artefact", "quantity", "condition"])
    refused = rows["rejects"].str.split(";").map(lambda names: "uniform body" in names)
    for key in (
        ("fig08", "peak_impulse_throw_ns", "scene=throw"),
        ("fig11", "liftoff_friction_mu", "scene=sliding;duration_s=1"),
    ):
        assert rows.loc[key, "verdict"] == REPRODUCED and refused[key]
    # rolling hardly depends on J: the check says nothing, and doesn't count
    key = ("fig19", "rolling_friction_mu", "section=6.1;restitution_e_n=0.2")
    assert rows.loc[key, "verdict"] == UNINFORMATIVE and not refused[key]
    assert found("drop_peak_ns", 1.0) == found("drop_peak_ns", 1.0, UNIFORM)
    assert found("liftoff_mu", 1.0, STATED) < found("liftoff_mu", 1.0, UNIFORM)


def test_frictions_that_give_the_very_same_motion_are_found_not_assumed(found: Measured) -> None:
    assert found.same_motion() == ROLLING
    assert found("rolling_mu", 0.2) == pytest.approx(0.57, abs=0.01)


@pytest.mark.parametrize(
    ("path", "value", "artefacts"),
    [
        (
            ("gravity",),
            1.62,
            {"fig06", "fig07", "fig08", "fig10", "fig11", "fig12", "fig13", "fig14", "fig17", "fig19"},
        ),
        (("scenes", "drop", "position"), [0, 20, 0], {"fig06", "fig07"}),
        (("identification", "velocity"), [3.0, -4.0, 0.0], {"fig17", "fig19"}),
    ],
)
def test_numbers_of_another_scene_or_throw_are_not_compared(found: Measured, path, value, artefacts) -> None:
    other = copy.deepcopy(BLOCK)
    inner = other
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    rows = compare("planar", PUBLISHED, all_numbers(found, other), {})
    before = compare("planar", PUBLISHED, all_numbers(found, BLOCK), {})
    changed = rows[(rows["verdict"] != before["verdict"]) & (rows["artefact"] != "text")]
    assert set(changed["verdict"]) == {NOT_COMPARABLE} and set(changed["artefact"]) == artefacts


@pytest.mark.parametrize("gravity", [9.81, 1.62])
def test_what_a_row_lacks_is_said_of_one_artefact_alone(found: Measured, gravity: float) -> None:
    rows = compare("planar", PUBLISHED, all_numbers(found, {**BLOCK, "gravity": gravity}), {})
    absent = rows[rows["verdict"] == NOT_COMPARABLE]
    told = absent["note"].str.partition(";")[0]
    assert (told != "").all() and (absent.groupby(told)["artefact"].nunique() == 1).all()


def test_statements_are_printed_as_such() -> None:
    rows = PUBLISHED[PUBLISHED["unit"] == STATEMENT]
    assert set(rows["tolerance_from"]) == {"none: a statement"} and len(rows) > 20
