"""About which point tensors are, other conventions, and a constraint that forgets the first
moments: exact truths.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from contactid.core.inertia import (
    InertialParameters,
    PrincipalForm,
    consistency,
    parallel_axis,
    tensor_entries,
)
from contactid.inhand.artefacts.printed_conventions import (
    CENTER,
    ORIGIN,
    as_matrices,
    convention_table,
    conventions,
    positive_definite,
)
from contactid.inhand.artefacts.printed_point import (
    PRINTED,
    TWINS_CENTER,
    TWINS_ORIGIN,
    constrained_tensors,
    likeness,
    point_of_tensors,
)
from contactid.inhand.identify.tensor_constraint import with_constrained_tensor
from contactid.inhand.readers.recordings import write_recording
from contactid.inhand.readers.sources import IN_HAND, WRIST
from contactid.inhand.readers.twins import simulate_recording, twin_options
from contactid.output.stored import RECORD, TABLE
from grasp_for_tests import BODY
from twins_for_tests import OBJECTS_FILE, PUBLISHED_FILE, ROOT, STUDY

STORED = [
    str(ROOT / "workflow/resources/stored/inhand_estimates" / name) for name in (TABLE, RECORD)
]
seeds = st.integers(0, 2**32 - 1)


def bodies(seed: int, count: int, distance: float) -> list[InertialParameters]:
    """Bodies with radii of gyration of some cm, at a distance (m) from the origin in all
    directions.
    """
    random = np.random.default_rng(seed)
    made = []
    for _ in range(count):
        mass, direction = random.uniform(0.05, 0.3), random.normal(size=3)
        moments = mass * random.uniform(0.01, 0.03, 3) ** 2
        center = distance * direction / np.linalg.norm(direction)
        made.append(
            PrincipalForm(
                mass, center, moments, Rotation.random(rng=random).as_matrix()
            ).parameters()
        )
    return made


# about which point


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_tensors_about_the_origin_carry_the_parallel_axis_part_and_those_about_the_centre_do_not(
    seed: int,
) -> None:
    made = bodies(seed, 20, distance=0.3)
    origin = likeness(made, [body.inertia for body in made])
    assert origin["cosine"] > 0.99 > origin["random_high"]
    # a body's own moments come on top: at most twice the radius of gyration's square over the
    # distance's
    assert 1.0 < origin["size"] < 1.0 + 3.0 * (0.03 / 0.3) ** 2
    center = likeness(made, [body.inertia_at_center for body in made])
    assert center["size"] < 3.0 * (0.03 / 0.3) ** 2
    assert center["cosine"] < 0.95


def test_a_point_s_tensor_is_its_parallel_axis_part_alone() -> None:
    made = bodies(0, 8, distance=0.3)
    found = likeness(made, [parallel_axis(body.mass, body.center_of_mass) for body in made])
    assert (found["cosine"], found["size"], found["same_sign"]) == pytest.approx((1.0, 1.0, 8))


def test_the_printed_tensors_in_hand_are_about_the_origin() -> None:
    """They are as like their own part as the twins' are that are about the origin; at the wrist
    nothing is decided.
    """
    found = point_of_tensors(PUBLISHED_FILE, STORED).set_index(["source", "tensors"])
    assert (found.xs(PRINTED, level="tensors")["rows"] == [25, 20, 20, 20]).all()
    for source in IN_HAND:
        printed, origin, center = (
            found.loc[(source, name)] for name in (PRINTED, TWINS_ORIGIN, TWINS_CENTER)
        )
        assert printed["cosine"] > printed["random_high"] + 0.04
        assert origin["cosine"] > center["cosine"] + 0.15
        assert printed["cosine"] > 0.98 and printed["size"] == pytest.approx(1.0, abs=0.05)
        assert printed["same_sign"] >= 19
    wrist = found.loc[(WRIST, PRINTED)]
    assert wrist["random_low"] < wrist["cosine"] < wrist["random_high"]


# conventions


def test_no_convention_that_explains_the_truths_makes_a_row_possible() -> None:
    found = convention_table(PUBLISHED_FILE, OBJECTS_FILE).set_index("convention")
    assert found.loc[ORIGIN, "truths_explained"] == 20
    explaining = found[found["truths_explained"] == 20]
    assert (explaining["estimates"] == 0).all()
    assert (found.loc[found["estimates"] > 0, "truths_explained"] == 0).all()
    assert (found[["simulation", "wrist_ft", *IN_HAND]].sum(axis=1) == found["estimates"]).all()


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_a_body_that_is_told_in_a_convention_is_possible_in_it(seed: int) -> None:
    """Second moments about the centre of mass follow exactly from what the convention has of the
    body.
    """
    made = bodies(seed, 5, distance=0.2)
    mass, center = (
        np.array([body.mass for body in made]),
        np.array([body.center_of_mass for body in made]),
    )
    exact = np.array([body.second_moments_at_center for body in made])
    at_origin, at_center = (
        np.array([getattr(body, name) for body in made])
        for name in ("inertia", "inertia_at_center")
    )
    moments = exact + mass[:, None, None] * np.einsum("ni,nj->nij", center, center)
    per_mass = mass[:, None, None]
    told = {
        ORIGIN: (center, at_origin),
        CENTER: (center, at_center),
        "second moments in place of the tensor, about the origin": (center, moments),
        "second moments in place of the tensor, about the centre of mass": (center, exact),
        "tensor per kilogram": (center, at_origin / per_mass),
        "tensor times the mass": (center, at_origin * per_mass),
        "first moments in place of the centre of mass": (mass[:, None] * center, at_origin),
        "tensor times 0.01": (center, 100.0 * at_origin),
        "centre of mass in mm": (1e3 * center, at_origin),
    }
    for name, (printed_center, tensors) in told.items():
        columns = as_matrices(np.array([tensor_entries(one) for one in tensors]), (1.0, 1.0, 1.0))
        found = conventions()[name](mass, printed_center, columns)
        assert found == pytest.approx(exact, abs=1e-12), name
        assert positive_definite(found).all()


@given(seeds)
def test_sylvester_s_criterion_is_that_of_the_eigenvalues(seed: int) -> None:
    made = np.random.default_rng(seed).normal(size=(20, 3, 3))
    made = made + np.swapaxes(made, 1, 2) + 2.0 * np.eye(3)
    assert (positive_definite(made) == (np.linalg.eigvalsh(made)[:, 0] > 0.0)).all()


# a constraint on the tensor alone


def second_moments(vector: np.ndarray) -> np.ndarray:
    inertia = InertialParameters.from_vector(vector).inertia
    return 0.5 * np.trace(inertia) * np.eye(3) - inertia


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_the_constrained_tensor_is_the_nearest_one_without_a_negative_second_moment(
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    factor = random.normal(size=(10, 20))
    information = factor @ factor.T
    free = random.normal(size=10) + np.array([2.0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    found = with_constrained_tensor(free, information)
    assert np.linalg.eigvalsh(second_moments(found))[0] > -1e-6

    def distance(vector: np.ndarray) -> float:
        return float((vector - free) @ information @ (vector - free))

    # no feasible point on the way to any body is nearer (the set is convex, and so is the distance)
    for body in bodies(seed, 10, distance=1.0):
        for step in (1e-3, 0.1, 1.0):
            assert distance(found + step * (body.vector - found)) >= distance(found) * (1.0 - 1e-5)


def test_where_it_does_not_act_the_fit_stays_and_where_it_acts_the_answer_is_no_body() -> None:
    body = BODY.vector
    assert with_constrained_tensor(body, np.eye(10)) == pytest.approx(body, abs=1e-6)
    center = BODY.center_of_mass
    far = body.copy()
    # second moments of a point with some of them taken away: none about the centre, less than none
    # about the origin
    far[4:] = tensor_entries(parallel_axis(BODY.mass, center)) - 0.05 * BODY.mass * (
        center @ center
    ) * np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    found = with_constrained_tensor(far, np.diag([1e6] * 4 + [1.0] * 6))
    assert np.linalg.eigvalsh(second_moments(far))[0] < 0.0
    assert np.linalg.eigvalsh(second_moments(found))[0] == pytest.approx(0.0, abs=1e-9)
    assert not consistency(InertialParameters.from_vector(found)).positive_definite


def test_a_recording_is_fitted_freely_and_with_the_constraint(tmp_path) -> None:
    data, _ = simulate_recording(
        IN_HAND[0], "box_0", 3, twin_options(STUDY["twin"] | {"samples": 100}, OBJECTS_FILE)
    )
    write_recording(data, tmp_path / "recording.nc")
    rows: pd.DataFrame = constrained_tensors([str(tmp_path / "recording.nc")]).set_index(
        "constraint"
    )
    assert list(rows.index) == ["none", "tensor"] and set(rows["seed"]) == {3}
    assert rows.loc["tensor", "tensor_margin"] >= -1e-6
    assert (rows["margin"] < rows["tensor_margin"]).all(), (
        "the mass at its centre has moments about the origin"
    )
