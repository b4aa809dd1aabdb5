"""Where the paper's constraint acts: how the regime was searched for, what is estimated in it, and
what its tables count.
"""

import numpy as np
import pandas as pd
import pytest

from contactid.inhand.artefacts.active_constraint import judged_runs, summary_of_runs, tuned_weights
from contactid.inhand.identify.active_constraint import (
    CONFIGURED,
    FILTERED,
    SENSED,
    scaled_twin,
    write_active_constraint,
)
from contactid.inhand.identify.methods import (
    BASELINE,
    CONSTRAINED,
    FREE,
    GRAPH_METHODS,
    PARAMETER_COLUMNS,
    UNIFORM,
    parameter_values,
)
from contactid.output.tables import read_csv
from inhand_regimes import COLUMNS, TABLE, TRIED, has_power, settings_of, tried
from twins_for_tests import OBJECTS, OBJECTS_FILE, STUDY

BLOCK = STUDY["active_constraint"]
SEARCHED = read_csv(TABLE)
BOX = OBJECTS["box_1"].parameters


def as_setting(row):
    # an empty text is what isn't set, too
    given = {name: row[name] for name in COLUMNS if pd.notna(row[name])}
    return {name: value for name, value in given.items() if value != ""}


def test_a_regime_is_the_first_setting_with_power_and_of_the_simulation_there_is_none():
    for source, rows in SEARCHED.groupby("source"):
        assert [as_setting(row) for row in rows.to_dict("records")] == settings_of(source)
        powerful = [as_setting(row) for row in rows.to_dict("records") if has_power(row)]
        if source == "simulation":
            assert not powerful
        else:
            assert powerful[0] == BLOCK["factors"][source]
    assert (SEARCHED["has_power"] == [has_power(row) for row in SEARCHED.to_dict("records")]).all()
    # the study's own setting was tried first
    assert TRIED[0] == {"motion": 1.0}


def test_a_searched_row_is_what_its_setting_gives():
    powerful = SEARCHED[(SEARCHED["source"] == "in_hand_vision") & SEARCHED["has_power"]]
    row = powerful.iloc[0]
    found = tried("in_hand_vision", as_setting(row))
    for name in ("answered", "impossible", "least_moment", "mass_error_pct", "center_error_share"):
        assert found[name] == pytest.approx(row[name], rel=1e-2)


def test_factors_multiply_a_sources_sizes_and_nothing_else():
    twin = scaled_twin(
        STUDY["twin"], "in_hand_vision", {"motion": 0.5, "pose": 3.0, "residual": 0.0}
    )
    own, before = twin["sources"]["in_hand_vision"], STUDY["twin"]["sources"]["in_hand_vision"]
    assert own["motion"] == before["motion"] | {
        "displacement": 0.5 * before["motion"]["displacement"],
        "turn": 0.5 * before["motion"]["turn"],
    }
    assert own["pose"]["jitter"] == pytest.approx([3.0 * size for size in before["pose"]["jitter"]])
    assert own["residual"]["load_share"] == 0.0
    assert (own["force"], own["grip"]) == (before["force"], before["grip"])
    assert twin["sources"]["wrist_ft"] == STUDY["twin"]["sources"]["wrist_ft"]
    louder = scaled_twin(STUDY["twin"], "simulation", {"force": 2.0})
    assert louder["force_levels"] == [2.0 * level for level in STUDY["twin"]["force_levels"]]


def test_every_method_has_a_row_and_the_uniform_body_the_constrained_mass(tmp_path):
    short = {**STUDY["twin"], "samples": 80}
    block = {**BLOCK, "sources": ["wrist_ft"], "objects": [1], "weights": ["position"]}
    study = {**STUDY, "twin": short, "active_constraint": block}
    write_active_constraint(OBJECTS_FILE, study, tmp_path / "rows.csv")
    rows = read_csv(tmp_path / "rows.csv").set_index(["method", "forces", "weights"])
    expected = {(method, SENSED, CONFIGURED) for method in (BASELINE, *GRAPH_METHODS, UNIFORM)}
    expected |= {(method, FILTERED, CONFIGURED) for method in (BASELINE, CONSTRAINED)}
    expected |= {(CONSTRAINED, SENSED, f"position x {factor}") for factor in ("0.1", "10")}
    assert set(rows.index) == expected and set(rows["object"]) == {"box_1"}
    masses = [
        rows.loc[(method, SENSED, CONFIGURED), "mass_kg"] for method in (UNIFORM, CONSTRAINED)
    ]
    assert masses[0] == masses[1]


def made_up(weights=(CONFIGURED,), **changed):
    """The truth by both methods; of one named, changes of its numbers."""
    labels = {"source": "wrist_ft", "object": "box_1", "seed": 0, "forces": SENSED}
    rest = {"converged": True, "geodesic_error": 0.0}
    return pd.DataFrame(
        [
            labels | {"method": method, "weights": weight} | rest | parameter_values(BOX)
            | changed.get(method, {})
            for method in (FREE, CONSTRAINED) for weight in weights
        ]
    )  # fmt: skip


def test_the_constraint_acts_where_the_free_estimate_is_no_bodys():
    true = judged_runs(made_up(), OBJECTS)
    assert not true["acts"].any() and summary_of_runs(true).empty
    assert true[["mass_error_pct", "com_error_mm", "tensor_error_pct"]].max().max() < 1e-9
    short = {"i_xx": 0.1 * BOX.inertia[0, 0]}
    flat = judged_runs(made_up(**{FREE: short}), OBJECTS)
    table = summary_of_runs(flat).set_index("method")
    assert flat["acts"].all()
    assert table["bodies"].to_dict() == {FREE: 0, CONSTRAINED: 1}
    assert table["nearer"].to_dict() == {FREE: 0, CONSTRAINED: 1}
    off = 0.9 * BOX.inertia[0, 0] / np.linalg.norm(BOX.inertia)
    assert table.loc[FREE, "tensor_error_pct"] == pytest.approx(100.0 * off)


def test_tuned_weights_are_those_nearest_in_one_number_and_the_others_are_a_geometric_mean():
    rows = made_up((CONFIGURED, "position x 10"), **{FREE: {"i_xx": 0.0}})
    numbers = rows[list(PARAMETER_COLUMNS)].to_numpy(copy=True)
    held = (rows["method"] == CONSTRAINED).to_numpy()
    numbers[held] += 1e-3 * np.array([np.ones(10), np.full(10, 4.0)])
    numbers[held, 0] = BOX.mass + 1e-3 * np.array([4.0, 1.0])
    table = tuned_weights(
        judged_runs(rows.assign(**dict(zip(PARAMETER_COLUMNS, numbers.T, strict=True))), OBJECTS)
    )
    table = table.set_index("parameter")
    mass, entry = table.loc["mass_kg"], table.loc["i_xx"]
    assert (mass["weights"], entry["weights"]) == ("position x 10", CONFIGURED)
    assert (mass["error"], mass["tuned_error"]) == pytest.approx((4e-3, 1e-3))
    assert (mass["others"], mass["tuned_others"]) == pytest.approx((1e-3, 4e-3))
    assert (entry["others"], entry["tuned_others"]) == pytest.approx((1e-3 * 4.0 ** (1 / 9),) * 2)
