"""The table of numbers that steer an identification, and what half and twice of each does."""

from dataclasses import fields

import numpy as np

from contactid.output.tables import read_csv
from contactid.planar.engine.steering import STEERING
from steering import TABLE, effect, half, twice


def test_half_and_twice_of_numbers_and_grids():
    assert (half(0.3), half(5), half(1), half((1.0, 2.0, 4.0))) == (0.15, 2, 1, (1.0, 4.0))
    assert (twice(0.3), twice(5), twice((1.0, 2.0, 4.0))) == (0.6, 10, (1.0, 1.5, 2.0, 3.0, 4.0))


def test_effects_are_in_standard_errors_of_the_usual_answer_and_leave_out_what_is_refused():
    usual = np.array([[10.0, 2.0], [20.0, 1.0], [30.0, 1.0]])
    changed = np.array([[11.0, 3.0], [20.0, 0.5], [np.nan, np.nan]])
    found = effect(usual, changed)
    assert found["n_answered"] == 2
    assert (found["shift_median_se"], found["shift_largest_se"]) == (0.25, 0.5)
    assert (found["error_ratio_least"], found["error_ratio_largest"]) == (0.5, 1.5)


def test_every_number_has_a_unit_and_a_reason():
    for field in fields(STEERING):
        assert field.metadata["unit"] and len(field.metadata["why"]) > 10, field.name


def test_the_stored_table_is_that_of_todays_numbers():
    table = read_csv(TABLE)
    stored = table.drop_duplicates("number").set_index("number")["value"].to_dict()
    assert stored == {field.name: str(getattr(STEERING, field.name)) for field in fields(STEERING)}
    assert set(table["change"]) == {"half", "twice"}


def test_no_number_moves_answers_by_much_of_their_error():
    table = read_csv(TABLE)
    assert table["shift_median_se"].max() < 0.2
    # in one of the six throws, the rectangle's, whose J/m is known to a third only, a wider search
    # ends elsewhere
    moved = set(table.loc[table["shift_largest_se"] > 1.0, "number"])
    assert moved == {"beam", "alike", "alike_restitution"}
