"""Tosses made anew by another truth, and what an identification that doesn't share it makes of
them.
"""

from dataclasses import replace

import numpy as np
import pytest

from contactid.core import rotations
from contactid.output.tables import read_csv
from contactid.sources.motion import iterate_recordings, write_dataset
from contactid.tossing.artefacts.stored import other_truth_table
from contactid.tossing.impacts.impact import write_impacts
from contactid.tossing.impacts.selection import find_impacts
from contactid.tossing.predict.other_truth import identify_other_truth
from contactid.tossing.predict.retoss import (
    Truth,
    _earlier,
    drops_anew,
    rounded_corners,
    tosses_anew,
)
from contactid.tossing.prepare.tosses import usable_tosses
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions, simulate
from tosses_for_tests import EVENTS, RATE, box, motion, prepare_tosses, recordings

SHARED = Truth("newton", 1.0, 0.0)
PARAMETERS = ContactParameters(0.3, 0.2)
PUBLISHED = "workflow/resources/published/tossing.csv"


@pytest.fixture(scope="module")
def prepared():
    body = box()
    data = motion(recordings(body, 16, seed=5, seconds=1.0, noise=3e-5), body)
    return prepare_tosses(data).assign_attrs(object="Box006")


def test_rounded_corners_lie_on_spheres_within_the_box():
    vertices = box().vertices
    half = vertices.max(axis=0)
    points = rounded_corners(vertices, 0.004)
    centres = np.sign(points) * (half - 0.004)
    assert np.linalg.norm(points - centres, axis=1) == pytest.approx(0.004)
    assert (np.abs(points).max(axis=0) == pytest.approx(half)) and len(points) > 8 * len(vertices)
    assert (rounded_corners(vertices, 0.0) == vertices).all()


def test_a_flight_runs_backwards_as_it_runs_forwards(prepared):
    gravity = np.array([0.0, 0.0, -9.81])
    body = box(inertia=np.diag([3e-4, 6e-4, 8e-4]))
    later = usable_tosses(prepared, start="flight_fit")[0].toss.start
    earlier = _earlier(body, later, 12, RATE, gravity)
    up = np.array([0.0, 0.0, 5.0])
    high = replace(earlier, position=earlier.position + up)
    flight = simulate(body, high, ContactParameters(0.0, 0.0), SteppingOptions(1 / RATE, 64), 13)
    assert flight.position[-1] - up == pytest.approx(later.position, abs=1e-9)
    assert rotations.angle_between(flight.orientation[-1], later.orientation) < 1e-6
    assert flight.angular_velocity[-1] == pytest.approx(later.angular_velocity, abs=1e-6)


def test_a_toss_keeps_its_release_and_follows_the_truth(prepared):
    tosses = usable_tosses(prepared, start="flight_fit")[:3]
    made = tosses_anew(tosses, box(), SHARED, PARAMETERS, RATE, seed=1)
    for item, (_, samples) in zip(tosses, iterate_recordings(made), strict=True):
        options = SteppingOptions(1 / RATE, 64, gravity=tuple(item.gravity))
        n = int(samples.sizes["sample"])
        expected = simulate(box(), item.toss.start, PARAMETERS, options, n).position
        frame = rotations.as_rotation(samples["surface_orientation"].values)
        error = frame.inv().apply(samples["position"].values) - expected
        assert 1e-5 < error.std() < 2e-5, "nothing but the noise"


def test_another_seed_is_other_noise_and_another_law_another_motion(prepared):
    tosses = usable_tosses(prepared, start="flight_fit")[:3]
    first, again, other = (
        tosses_anew(tosses, box(), SHARED, PARAMETERS, RATE, seed) for seed in (1, 1, 2)
    )
    turning = tosses_anew(tosses, box(), Truth("incremental", 1.0, 0.0), PARAMETERS, RATE, 1)
    assert (first["position"] == again["position"]).all()
    assert 0.0 < np.abs(first["position"] - other["position"]).max() < 2e-4
    assert np.abs(first["position"] - turning["position"]).max() > 2e-3


def test_both_ways_and_laws_are_identified_and_only_the_truths_own_is_exact(prepared, tmp_path):
    impacts = [one.impact for one in find_impacts(prepared) if one.impact is not None]
    assert len(drops_anew(impacts, box(), SHARED, PARAMETERS, RATE, 1)["recording"]) == len(impacts)
    write_impacts(impacts, prepared, tmp_path / "impacts.nc")
    tested = prepared.assign(split=prepared["split"].where(False, "test"))
    for name, tosses in (("train", prepared), ("test", tested)):
        write_dataset(tosses, tmp_path / f"{name}.nc")
    steps = {"start": 0.2, "stop": 0.5, "step": 0.05}
    settings = {
        "truths": {"turning": {"law": "incremental", "inertia": 1.0, "corner_radius": 0.0}},
        "parameters": {},
        "variant": {
            "name": "v",
            "start": "flight_fit",
            "substeps": 4,
            "law": "newton",
            "solver": "newton",
            "refine": True,
            "calibrated": False,
        },
        "velocity": {
            "name": "w",
            "substeps": 16,
            "refine": True,
            "largest_misfit": 2.5,
            "largest_imbalance": 0.03,
        },
        "grid": {"friction_mu": steps, "restitution_e_n": {**steps, "start": 0.1}},
        "bootstrap": {"samples": 50, "seed": 0},
        "events": EVENTS,
        "window": 5,
        "slowest": 0.3,
    }
    files = [str(tmp_path / f"{name}.nc") for name in ("train", "test", "impacts")]
    scored = str(tmp_path / "scored.csv")
    identify_other_truth(*files, PUBLISHED, "turning", 1, settings, scored)
    table = read_csv(scored).set_index(["law", "parameters"])
    assert len(table) == 4 and (table["friction_mu_true"] == 0.4).all(), "table II, trajectories"
    error = (table["friction_mu"] - table["friction_mu_true"]).abs()
    assert (error["incremental"] < 0.01).all()
    assert table["loss"]["newton", "velocity"] > 3.0 * table["loss"]["incremental", "velocity"]
    shown = other_truth_table(scored)
    assert len(shown) == 4 and shown["seeds"].tolist() == [1] * 4
