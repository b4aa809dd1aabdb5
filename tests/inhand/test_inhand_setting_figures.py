"""Figures of the setting, and what recordings can tell, are drawn from the twins' own data."""

import numpy as np
import pandas as pd
import pytest

from contactid.core.errors import ContactIdError
from contactid.inhand.artefacts.contact_forces import (
    contact_forces,
    draw_contact,
    draw_force_scale,
    force_scale,
)
from contactid.inhand.artefacts.identifiability import draw_identifiability
from contactid.inhand.artefacts.objects import (
    all_objects,
    draw_held_object,
    draw_objects,
    object_in_hand,
)
from contactid.inhand.identify.methods import PARAMETER_COLUMNS
from contactid.inhand.identify.recorded_information import RECORDED, identifiability_table
from contactid.output import style
from twins_for_tests import OBJECTS_FILE, STUDY, SURFACES_FILE, twins

OPTIONS = twins(samples=120)
SHOWN = STUDY["grasp_figures"] | {"samples": 120, "time": 0.8}
HELD = (OBJECTS_FILE, STUDY["twin"], SHOWN)
SOURCE = "wrist_ft"


def test_table_of_identifiability_says_what_each_case_lacks():
    table = identifiability_table(OPTIONS, 1).set_index("case")
    assert len(table.loc[RECORDED]) == 20
    assert (table.loc[RECORDED, "not_identifiable"] == "").all()
    assert np.isfinite(table.loc[RECORDED, [f"se_{name}" for name in PARAMETER_COLUMNS]]).all(
        axis=None
    )
    poor = table.drop(index=RECORDED)
    assert (poor["not_identifiable"] != "").all() and not np.isfinite(
        poor["condition_number"]
    ).any()


def test_figure_1_shows_forces_that_end_at_the_contacts_and_the_mass():
    data = object_in_hand(*HELD)
    assert data.loc[data["part"] == "mass", "value"].tolist() == [pytest.approx(0.179)]
    forces, places = data[data["part"] == "force"], ["x", "y", "z"]
    feet, tips = forces[places].to_numpy()[::2], forces[places].to_numpy()[1::2]
    fingertips = data[data["part"] == "contact"].groupby("item", sort=False)[places]
    # a disc in a face has its middle at the contact
    assert tips[:4] == pytest.approx(fingertips.mean().to_numpy())
    lengths = np.linalg.norm(tips - feet, axis=1)
    assert lengths == pytest.approx(0.02 * forces["value"].to_numpy()[::2])
    (block, *_), discs = block_corners(data), (rim.to_numpy() for _, rim in fingertips)
    for rim in discs:
        normal = np.cross(rim[1] - rim[0], rim[2] - rim[1])
        # the block lies behind the face that the disc is in
        depths = (block - rim[0]) @ normal / np.linalg.norm(normal)
        assert depths.max() == pytest.approx(0.0, abs=1e-9) and depths.min() < -0.05


def block_corners(data):
    """The corners (8, 3) of the blocks of figure 1, the hull first."""
    return data.loc[data["part"] == "block", ["x", "y", "z"]].to_numpy().reshape(-1, 8, 3)


def test_figure_2_stays_within_the_cone_and_marks_one_sample():
    data = contact_forces(*HELD)
    assert (data["tangential_n"] <= data["friction"] * data["normal_n"]).all()
    assert (
        data["shown"].sum() == 1
        and data.loc[data["shown"], "finger"].item() == SHOWN["contact_finger"]
    )


def test_figure_9_shows_a_smaller_swing_at_the_fingertip():
    data = force_scale(*HELD)
    swing = data.groupby(["sensor", "component"])["true_n"].agg(np.ptp)
    assert (swing["thumb"] < swing["wrist"]).all()
    squeeze = data.groupby(["sensor", "component"])["squeeze_n"].first()
    assert abs(squeeze["thumb", "y"]) > swing["thumb", "y"] and not squeeze["wrist"].any()


def test_times_outside_are_refused():
    with pytest.raises(ContactIdError, match="after the recording's end"):
        object_in_hand(*HELD[:2], SHOWN | {"time": 9.0})


@pytest.mark.parametrize(
    ("draw", "data", "given"),
    [
        (draw_held_object, object_in_hand, HELD),
        (draw_contact, contact_forces, HELD),
        (draw_objects, all_objects, (OBJECTS_FILE, SURFACES_FILE)),
        (draw_force_scale, force_scale, HELD),
    ],
)
def test_grasp_figures_are_drawn(draw, data, given, tmp_path):
    with style.styled():
        figure = draw(data(*given))
        figure.savefig(tmp_path / "one.png", dpi=60)
    assert (tmp_path / "one.png").stat().st_size > 3000


def test_the_figure_of_identifiability_is_drawn(tmp_path):
    data = pd.DataFrame(
        {
            "setting": SOURCE, "object": "box_0", "condition_number": 3.0, "parameter": list(PARAMETER_COLUMNS),
            "relative_error": np.linspace(0.001, 0.01, 10), "source": "synthetic data",
        }
    )  # fmt: skip
    with style.styled():
        draw_identifiability(data).savefig(tmp_path / "one.png", dpi=60)
    assert (tmp_path / "one.png").stat().st_size > 3000
