"""What no command can read is one clear line, in a notebook as in a shell."""

import numpy as np
import pandas as pd
import pytest

import contactid
from contactid.core.errors import ContactIdError
from contactid.sources.recorded_table import frame_of, several, table_parts

NOISE = {"position_sd": 1e-3, "orientation_sd": 1e-3, "contact_position_sd": 1e-3}
HULL = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
BODY = {"shape": {"ellipse": [0.05, 0.04]}}
BOX = {"size": [0.1, 0.1, 0.1], "mass": 0.3}
COMMANDS = {
    "identify": lambda given: contactid.identify(given, BODY),
    "toss": lambda given: contactid.toss(given, BOX),
    "impact": contactid.impact,
    "estimate": lambda given: contactid.estimate(given, HULL, NOISE),
    "slip": contactid.slip,
}


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("given", [None, [], 5], ids=str)
def test_no_recording_is_said(command, given):
    with pytest.raises(ContactIdError, match="no recording"):
        COMMANDS[command](given)


def test_a_body_is_a_file_or_a_mapping():
    with pytest.raises(ContactIdError, match="a body that is a list"):
        contactid.identify(pd.DataFrame({"t": [0.0], "x": 0.0, "y": 0.0, "theta": 0.0}), [])


def test_a_mapping_is_asked_for_where_a_command_takes_words():
    with pytest.raises(ContactIdError, match=r"units is 'mm'.*units=\{'m': 'mm'\}"):
        contactid.read(pd.DataFrame({"t": [0.0]}), units="mm")


def test_an_index_with_a_name_is_a_column():
    table = pd.DataFrame({"t": [0.0, 0.1], "x": [1.0, 2.0]})
    assert list(frame_of(table.set_index("t")).columns) == ["t", "x"]
    # one without a name counts rows alone
    assert list(frame_of(table).columns) == ["t", "x"]


def test_rows_without_a_name_are_not_lost():
    table = pd.DataFrame({"trial": ["a", np.nan], "x": [1.0, 2.0]})
    with pytest.raises(ContactIdError, match="trial is empty in 1 of 2 rows"):
        list(table_parts(table, "trial"))


def test_one_and_several_recordings_are_a_list():
    assert several("a.csv") == ["a.csv"] and several(("a.csv", "b.csv")) == ["a.csv", "b.csv"]
    assert several(iter(["a.csv"])) == ["a.csv"]
