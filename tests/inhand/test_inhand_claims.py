"""The paper's statements: what their predicates refuse, and what print, made-up tables and twins
say of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactid.core.inertia import parallel_axis, tensor_entries, uniform_body
from contactid.inhand.artefacts.estimates import appendix_table
from contactid.inhand.artefacts.printed import (
    SIGNS,
    consistency_margin,
    consistency_table,
    ground_truths,
    printed_body,
    printed_table,
)
from contactid.inhand.claims import Nearer, NoException, PriorChangesLess, SameSize
from contactid.inhand.identify.methods import GROUND_TRUTH, parameter_values
from contactid.inhand.readers.card import MADE_FROM
from contactid.inhand.readers.sources import APPENDIX_TABLES
from contactid.output.statements import evidence_of, judge_statements, read_statements
from contactid.output.tables import read_csv
from contactid.sources.origin import SYNTHETIC, Origin
from inhand_estimates_for_tests import made_up_estimates
from inhand_tables_for_tests import MADE_UP
from solids import box
from twins_for_tests import OBJECTS, PUBLISHED_FILE, ROOT

LEDGER = ROOT / "workflow/resources/published/inhand_claims.yaml"
PUBLISHED = read_csv(PUBLISHED_FILE)
PRINTED = printed_table(PUBLISHED)
CONSISTENCY = consistency_table(PRINTED, OBJECTS)
ESTIMATES = made_up_estimates(ground_truths(PRINTED))
BODY = parameter_values(OBJECTS["box_0"].parameters)
TWINS = {"inhand_twin": Origin(False, SYNTHETIC, MADE_FROM)}
INF = float("inf")
SIZES = st.floats(1e-6, 1e3)


def judged(
    printed: pd.DataFrame = PRINTED, estimates: pd.DataFrame = ESTIMATES, **tables: pd.DataFrame
) -> Any:
    """The statements' rows by quantity and condition; a table given as None is left out."""
    rows = CONSISTENCY if printed is PRINTED else consistency_table(printed, OBJECTS)
    found = {
        name: appendix_table(source, printed, rows, estimates)
        for source, name in APPENDIX_TABLES.items()
    }
    found |= {"ext_estimates": estimates, "ext_printed_consistency": rows, **MADE_UP, **tables}
    checks = judge_statements(
        "inhand", LEDGER, found, {"objects": OBJECTS, "printed": printed}, TWINS
    )
    return checks.set_index(["quantity", "condition"])


@pytest.fixture(scope="module")
def made_up() -> Any:
    return judged()


# Predicates


@pytest.mark.parametrize(
    ("first", "other", "cases", "holds"),
    [
        ((1.0, 1.0), (1.0, 1.04), [False, False], False),  # nearly the same is the same
        ((1.0, 1.0, 5.0), (2.0, 2.0, 1.0), [True, True, False], True),
        ((1.0, INF, INF), (INF, INF, INF), [True], True),
        ((INF, 1.0), (1.0, INF), [False, True], False),  # half of the pairs isn't more than half
        ((INF, INF), (INF, INF), [], False),
    ],
)
def test_pairs_are_counted_where_one_has_an_error(
    first: Any, other: Any, cases: Any, holds: bool
) -> None:
    assert Nearer().cases([(first, other)]) == cases and Nearer().holds([(first, other)]) is holds


@given(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=9))
def test_of_two_methods_at_most_one_is_nearer_and_none_than_itself(
    pairs: list[tuple[float, float]],
) -> None:
    asked, reading = Nearer(), tuple(zip(*pairs, strict=True))
    opposites = asked.opposites([reading])
    assert not (asked.holds([reading]) and asked.holds(opposites["exchanged"]))
    assert not asked.holds(opposites["no difference"])


@given(st.lists(st.tuples(SIZES, SIZES), min_size=1, max_size=9))
def test_a_case_that_hangs_on_a_sign_counts_for_neither_answer(
    pairs: list[tuple[float, float]],
) -> None:
    """Two readings that contradict one another everywhere leave nothing; the same twice changes
    nothing.
    """
    asked, (first, other) = Nearer(), tuple(zip(*pairs, strict=True))
    assert asked.cases([(first, other)] * 2) == asked.cases([(first, other)])
    apart = ([1.0] * len(pairs), [2.0] * len(pairs))
    assert asked.cases([apart, apart[::-1]]) == [] and not asked.holds([apart, apart[::-1]])


def test_one_hanging_case_is_left_out_where_the_others_decide() -> None:
    here, there = ((1.0, 1.0, 1.0), (2.0, 2.0, 2.0)), ((1.0, 1.0, 2.0), (2.0, 2.0, 1.0))
    assert Nearer().cases([here, there]) == [True, True] and Nearer().holds([here, there])


@given(st.lists(st.tuples(SIZES, SIZES, SIZES), min_size=1, max_size=6))
def test_a_prior_that_does_all_is_no_constraint_that_does_it(
    cases: list[tuple[float, float, float]],
) -> None:
    asked, reading = PriorChangesLess(), tuple(zip(*cases, strict=True))
    opposites = asked.opposites([reading])
    assert not asked.holds(opposites["prior alone"]) and not asked.holds(opposites["no difference"])


@pytest.mark.parametrize(
    ("errors", "answer"),
    [
        ((1.0, 0.5, 0.4), True),
        ((1.0, 0.9, 0.5), False),  # the prior changes more
        ((1.0, 0.97, 0.97), False),  # the constraint hardly changes anything
        ((INF, 1.0, 0.5), True),
        ((INF, INF, 0.5), False),
        ((INF, INF, INF), None),
    ],
)
def test_the_constraint_lowers_an_error_and_the_prior_changes_it_by_less(
    errors: Any, answer: bool | None
) -> None:
    assert PriorChangesLess().answers([[one] for one in errors]) == [answer]


@given(SIZES, st.lists(SIZES, min_size=2, max_size=4, unique=True))
def test_an_error_or_the_largest_of_the_others_is_no_exception(
    one: float, others: list[float]
) -> None:
    asked, reading = NoException(), [[one], *([other] for other in others)]
    exchanged = asked.opposites([reading])["exchanged"]
    assert asked.holds([reading]) or asked.holds(exchanged)
    assert not asked.holds(asked.opposites([reading])["twice"])


def test_infinite_errors_are_no_exception_and_no_case() -> None:
    assert NoException().answers([[INF, INF, 1.0], [INF, 1.0, INF]]) == [None, False, True]


@given(st.lists(st.floats(1.0, 5.0), min_size=1, max_size=9))
def test_numbers_of_the_truths_size_refuse_nothing_and_three_times_the_truth(
    factors: list[float],
) -> None:
    asked = SameSize()
    assert asked.holds([[factors]]) == (max(factors) < 2.0)
    assert not any(asked.holds(wrong) for wrong in asked.opposites([[factors]]).values())


# What print says


def test_no_printed_estimate_with_the_constraint_is_a_body_s_and_no_other_either(
    made_up: Any,
) -> None:
    """Only those with the constraint are promised to be; the counts are those of
    ext_printed_verdicts.
    """
    for quantity, cases in (
        ("physically_consistent", "0 of 40"),
        ("inertial_error_is_finite", "0 of 85"),
    ):
        row = made_up.loc[(quantity, "from=print")]
        assert (row["cases"], row["verdict"], row["basis"]) == (
            cases,
            "print_inconsistent",
            "print",
        )
        assert row["note"].endswith("0 within rounding")


def test_a_printed_row_that_is_no_body_s_becomes_one_where_the_missing_moment_is_added() -> None:
    """The shortfall is what lacks: isotropic second moments of that size make the row a body's."""
    for row in PRINTED[PRINTED["method"] != GROUND_TRUTH].to_dict("records"):
        for sign in SIGNS:
            moments = printed_body(row, sign).principal_form.second_moments
            lacking = (
                -2.0 * moments[0]
            )  # second moments of s in every direction are principal moments of 2 s
            mended: dict[Any, Any] = row | {
                name: row[name] + lacking for name in ("i_xx", "i_yy", "i_zz")
            }
            assert consistency_margin(printed_body(mended, sign)) == pytest.approx(0.0, abs=1e-9)
            more = row | {name: row[name] + 1.001 * lacking for name in ("i_xx", "i_yy", "i_zz")}
            assert (
                consistency_margin(printed_body(row, sign))
                < 0.0
                < consistency_margin(printed_body(more, sign))
            )


def test_a_massless_or_unknown_row_is_no_body_s() -> None:
    (sign, _) = SIGNS
    assert consistency_margin(printed_body(BODY, sign)) > 0.0
    for wrong in ({"mass_kg": -0.115}, {"i_xx": float("nan")}):
        assert consistency_margin(printed_body(BODY | wrong, sign)) == -INF


@pytest.mark.parametrize("blocks", [["in_hand_a"], ["in_hand_a", "in_hand_b"], ["wrist_ft"]])
def test_no_verdict_on_print_hangs_on_the_sign_of_its_off_diagonals(
    made_up: Any, blocks: list[str]
) -> None:
    """Print doesn't state it: with the estimates of some tables turned, every statement has the
    same answer.
    """
    turned = PRINTED.copy()
    some = turned["block"].isin(blocks) & (turned["method"] != GROUND_TRUTH)
    turned.loc[some, ["i_xy", "i_xz", "i_yz"]] *= -1.0
    other = judged(turned)
    of_print = made_up.index[made_up["basis"] == "print"]
    assert len(of_print) >= 16
    assert (
        made_up.loc[of_print, ["verdict", "cases"]] == other.loc[of_print, ["verdict", "cases"]]
    ).all(axis=None)


def test_cases_that_hang_on_the_sign_are_said_and_not_counted(made_up: Any) -> None:
    row = made_up.loc[("box_2_is_nearer_in_hand", "from=print")]
    # two methods in two sources: eq. 38 is infinite, and all four tensors hang on a sign
    assert row["cases"] == "0 of 8" and "hang on the sign" in row["note"]
    mass = made_up.loc[("wrist_is_nearer", "measure=mass;from=print")]
    assert mass["cases"] == "16 of 16" and "hang" not in mass["note"]


# What the twins can say


def test_what_the_twins_were_made_with_is_the_truths_and_the_masses_lost_in_hand() -> None:
    for row in PUBLISHED.to_dict("records"):
        key = (str(row["artefact"]), str(row["quantity"]), str(row["condition"]))
        truth = key[2].endswith("method=ground_truth")
        lost = (
            key[0] in ("tabA3", "tabA4") and key[1] == "mass_kg" and ";method=constraint" in key[2]
        )
        assert TWINS["inhand_twin"].rests_on(*key) == (truth or lost), key


def test_what_was_tuned_is_fitted_or_differs_and_never_reproduced(made_up: Any) -> None:
    tuned = made_up[made_up["basis"] == "fitted"]
    assert set(tuned["verdict"]) <= {"fitted", "differs", "uninformative"}
    assert {
        "wrist_is_nearer",
        "relaxed_rigidity_is_nearer",
        "box_2_is_nearer_in_hand",
        "only_the_warped_are_off",
    } <= {quantity for quantity, _ in tuned.index}


def test_a_truth_that_is_uniform_and_a_quarter_of_the_load_show_nothing(made_up: Any) -> None:
    for row, name in (
        (made_up.loc[("all_of_the_truths_size", "from=twins")], "uniform body=1"),
        (
            made_up.loc[("smaller_scale_at_a_fingertip", "section=V-C2;from=twins")],
            "a quarter of the load=1",
        ),
    ):
        assert row["reproduced"] == 1.0 and name in row["wrong_answers"]
        assert row["verdict"] == "uninformative"


def test_made_up_tables_have_the_answers_that_they_were_made_for(made_up: Any) -> None:
    verdicts = made_up["verdict"].to_dict()
    expected = {
        ("friction_is_near_the_truth", "section=III-A;from=twins"): "reproduced",
        ("every_trial_slips", "section=III-A;from=twins"): "uninformative",
        ("inertial_error_is_scale_invariant", "section=IV-B"): "reproduced",
        ("unfiltered_baseline_fails", "section=IV-B;from=twins"): "differs",
        ("raw_signals_are_better", "section=IV-B;from=twins"): "reproduced",
        ("only_the_warped_are_off", "section=V-B;from=twins"): "fitted",
        ("stronger_motion_is_nearer", "section=V-C;from=twins"): "reproduced",
        ("simulated_motion_excites_most", "from=twins"): "reproduced",
        ("constant_velocity_spoils_baseline", "object=noise_level_0;from=twins"): "differs",
        ("larger_weight_of_the_prior_helps", "section=V-C2;from=twins"): "reproduced",
        ("unsensed_load_does_harm", "section=VI;from=twins"): "reproduced",
        ("constraint_serves_partial_excitation", "section=VII;from=twins"): "uninformative",
        **{
            (name, f"{where}regime=constraint_acts;{rest}from=twins"): verdict
            for name, where, rest, verdict in (
                ("constraint_is_nearer", "source=wrist_ft;", "measure=tensor;", "reproduced"),
                ("constraint_is_nearer", "source=wrist_ft;", "measure=center;", "uninformative"),
                ("constraint_is_nearer", "source=in_hand;", "measure=tensor;", "reproduced"),
                ("constraint_is_nearer", "source=in_hand;", "measure=center;", "uninformative"),
                ("constraint_serves_partial_excitation", "", "section=VII;", "reproduced"),
                ("prior_changes_less", "", "section=V-C2;", "reproduced"),
                ("raw_signals_are_better", "", "section=IV-B;", "reproduced"),
                ("weights_give_similar_numbers", "", "section=V-C;", "reproduced"),
                ("similar_numbers_skew_the_others", "", "section=V-C;", "reproduced"),
            )
        },
        ("dataset_has_200k_samples", "section=I"): "never_published",
        ("mostly_within_one_sd", "section=V-A;from=twins"): "not_done",
        ("dropout_costs_no_time", "section=III"): "not_done",
    }
    assert {key: verdicts[key] for key in expected} == expected


def test_where_the_constraint_acts_the_paper_may_be_wrong() -> None:
    """With the errors of both methods exchanged, and others that get better by tuning."""
    table = MADE_UP["ext_active_constraint_runs"]
    names = {"no_constraint_no_geodesic": "constraint_no_geodesic"}
    names |= {other: one for one, other in names.items()}
    exchanged = table.assign(method=table["method"].replace(names))
    checks = judged(
        ext_active_constraint_runs=exchanged[exchanged["forces"] == "sensed"],
        ext_tuned_weights=MADE_UP["ext_tuned_weights"].assign(tuned_others=0.5),
    )
    of_regime = checks[["regime" in condition for _, condition in checks.index]]
    verdicts = of_regime["verdict"].groupby("quantity").agg(set)
    assert verdicts["constraint_is_nearer"] == {"differs", "uninformative"}
    assert (
        verdicts["prior_changes_less"] == verdicts["similar_numbers_skew_the_others"] == {"differs"}
    )


def test_an_estimate_that_did_not_converge_is_infinitely_far() -> None:
    """However near it ended: the raw signals' statement turns where all of theirs didn't converge."""
    raw = MADE_UP["ext_choices"]["estimator"] == "constraint_no_geodesic"
    checks = judged(ext_choices=MADE_UP["ext_choices"].assign(converged=~raw))
    row = checks.loc[("raw_signals_are_better", "section=IV-B;from=twins")]
    assert (row["cases"], row["reproduced"]) == ("0 of 16", 0.0) and "inf, inf against 4, 4" in row[
        "note"
    ]


def test_a_run_without_estimates_says_so_and_print_is_judged_as_before(made_up: Any) -> None:
    none = judged(estimates=ESTIMATES.iloc[:0])
    of_print = made_up["basis"] == "print"
    assert (none.loc[of_print, "verdict"] == made_up.loc[of_print, "verdict"]).all()
    from_estimates = [
        (one.name, one.condition)
        for one in read_statements(LEDGER)
        if "from=twins" in one.condition
        and {"ext_estimates", *APPENDIX_TABLES.values()} & set(one.tables)
    ]
    assert len(from_estimates) >= 16 and set(none.loc[from_estimates, "verdict"]) == {"not_done"}


# The ledger


def test_every_statement_names_tables_of_the_rule_and_says_why_its_thresholds_are_what_they_are() -> (
    None
):
    inputs = (ROOT / "workflow/rules/inhand_inputs.smk").read_text(encoding="utf-8")
    judged_tables = inputs[inputs.index("INHAND_JUDGED = ") : inputs.index("with told_plainly")]
    for one in read_statements(LEDGER):
        for name in one.tables:
            assert f'"{name}"' in judged_tables or name in APPENDIX_TABLES.values(), (
                one.name,
                name,
            )
        assert all(threshold["why"] for threshold in one.thresholds.values()), one.name
        assert bool(one.evidence) != bool(one.lacks) and one.asks.endswith("."), one.name


def test_a_statement_is_asked_of_its_own_tables_alone() -> None:
    """With a table left out, what names it isn't done, and nothing else changes."""
    left_out = {name: table for name, table in MADE_UP.items() if name != "ext_choices"}
    named = {"objects": OBJECTS, "printed": PRINTED}
    for one in read_statements(LEDGER):
        if "ext_choices" in one.tables:
            lack = evidence_of(one, left_out, named).lack
            assert lack is not None and lack.kind == "not_done" and one.name in lack.words


def test_rows_from_print_and_from_twins_ask_the_same_of_other_numbers() -> None:
    entries = yaml.safe_load(LEDGER.read_text(encoding="utf-8"))["statements"]
    pairs: dict[Any, list[Any]] = {}
    for entry in entries:
        key = (entry["name"], entry["artefact"], entry["condition"].rpartition("from=")[0])
        pairs.setdefault(key, []).append(entry)
    both = [entries for entries in pairs.values() if len(entries) == 2]
    assert len(both) >= 14 and max(map(len, pairs.values())) == 2
    for one, other in both:
        assert (one["predicate"], one.get("thresholds")) == (
            other["predicate"],
            other.get("thresholds"),
        )
        assert [entry["settings"]["origin"] for entry in (one, other)] == ["print", "twins"]


# Bodies


@given(
    st.tuples(*[st.floats(0.01, 2.0)] * 3),
    st.tuples(*[st.floats(-1.0, 1.0)] * 3),
    st.integers(0, 2**32 - 1),
)
def test_the_uniform_body_of_a_turned_box_has_the_closed_form_and_points_inside_change_nothing(
    lengths: tuple[float, float, float], shift: tuple[float, float, float], seed: int
) -> None:
    random = np.random.default_rng(seed)
    solid = box(0.7, lengths).moved(Rotation.random(rng=random).as_matrix(), np.array(shift))
    shares = random.dirichlet(np.ones(8), 5)
    found = uniform_body(0.7, np.concatenate([solid.hull, shares @ solid.hull]))
    scale = np.abs(solid.parameters.vector).max()
    assert np.allclose(found.vector, solid.parameters.vector, rtol=0.0, atol=1e-9 * scale)


def test_the_uniform_body_of_a_tetrahedron_is_that_of_its_points() -> None:
    """A tetrahedron moves like a fifth of the mass at its corners and four fifths at its centre
    (Routh's rule).
    """
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.1, 0.0], [0.2, 2.0, 0.1], [0.3, 0.1, 1.5]])
    body, middle = uniform_body(2.0, corners), corners.mean(axis=0)
    assert np.allclose(body.center_of_mass, middle, rtol=1e-12)
    points = sum(parallel_axis(0.1, corner) for corner in corners) + parallel_axis(1.6, middle)
    assert np.allclose(tensor_entries(body.inertia), tensor_entries(points), rtol=1e-12)


def test_print_contradicts_that_box_2_is_estimated_better_in_hand() -> None:
    rows = PRINTED[(PRINTED["object"] == "box_2") & PRINTED["method"].str.startswith("constraint")]
    truth = OBJECTS["box_2"].parameters
    wrist, held = (rows[rows["block"].str.startswith(block)] for block in ("wrist", "in_hand"))
    assert len(wrist) == 2 and len(held) == 4

    def off(table: pd.DataFrame) -> np.ndarray:
        return np.abs(table["mass_kg"].to_numpy() - truth.mass)

    assert off(wrist).max() < off(held).min()
