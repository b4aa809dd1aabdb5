"""Laws of the ten inertial parameters: round trips, frame changes, distances, and which bodies can
exist.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.core.inertia import (
    InertialParameters,
    PrincipalForm,
    consistency,
    geodesic_distance,
    hull_halfspaces,
    in_hull,
    tensor,
    tensor_entries,
)
from solids import combined, failures, from_pseudo_inertia, moved

seeds = st.integers(0, 2**32 - 1)
CUBE = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])


def random_form(seed: int) -> PrincipalForm:
    """A body of any size and shape that can exist."""
    random = np.random.default_rng(seed)
    size = 10.0 ** random.uniform(-2, 0)
    mass = 10.0 ** random.uniform(-2, 1)
    moments = mass * size**2 * random.uniform(0.05, 1.0, 3)
    return PrincipalForm(
        mass, size * random.normal(size=3), moments, Rotation.random(rng=random).as_matrix()
    )


def random_body(seed: int) -> InertialParameters:
    return random_form(seed).parameters()


def point_cloud(seed: int, points: int = 9) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    return random.uniform(0.1, 1.0, points), random.normal(size=(points, 3))


@given(seeds)
def test_the_tensor_is_that_of_the_cloud_of_points(seed: int) -> None:
    masses, at = point_cloud(seed)
    center = masses @ at / masses.sum()
    inertia = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, at, strict=True))
    relative = at - center
    about_center = sum(
        m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, relative, strict=True)
    )
    body = InertialParameters(masses.sum(), center, inertia)
    assert np.allclose(body.inertia_at_center, about_center, atol=1e-12)
    assert np.allclose(
        body.vector[7:], [-masses @ (at[:, i] * at[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    )
    assert np.allclose(body.second_moments_at_center, (masses * relative.T) @ relative, atol=1e-12)
    homogeneous = np.column_stack([at, np.ones(len(at))])
    assert np.allclose(body.pseudo_inertia, (masses * homogeneous.T) @ homogeneous, atol=1e-12)


@given(seeds)
def test_every_form_leads_back_to_the_same_parameters(seed: int) -> None:
    body = random_body(seed)
    back = (
        InertialParameters.from_vector(body.vector),
        from_pseudo_inertia(body.pseudo_inertia),
        InertialParameters.from_center(body.mass, body.center_of_mass, body.inertia_at_center),
        body.principal_form.parameters(),
    )
    for other in back:
        assert np.allclose(
            other.vector, body.vector, rtol=1e-10, atol=1e-12 * np.abs(body.vector).max()
        )
        assert geodesic_distance(other, body) < 1e-6


@given(seeds)
def test_principal_axes_are_a_proper_rotation_with_ascending_moments(seed: int) -> None:
    form = random_body(seed).principal_form
    assert np.linalg.det(form.rotation) == pytest.approx(1.0)
    assert np.all(np.diff(form.second_moments) >= 0.0)
    assert np.allclose(form.second_moments, np.sort(random_form(seed).second_moments), rtol=1e-6)


@given(st.lists(st.floats(-1e3, 1e3), min_size=10, max_size=10))
def test_the_vector_of_any_numbers_survives_the_pseudo_inertia(numbers: list[float]) -> None:
    vector = np.array([numbers[0] if abs(numbers[0]) > 1e-3 else 1.0, *numbers[1:]])
    matrix = InertialParameters.from_vector(vector).pseudo_inertia
    assert np.allclose(from_pseudo_inertia(matrix).vector, vector, rtol=1e-9, atol=1e-9)


def test_the_tensor_of_six_entries_is_symmetric_and_in_the_stated_order() -> None:
    matrix = tensor(np.arange(1.0, 7.0))
    assert np.array_equal(matrix, [[1, 4, 5], [4, 2, 6], [5, 6, 3]])
    assert np.array_equal(tensor_entries(matrix), np.arange(1.0, 7.0))


@given(seeds)
def test_moving_a_body_is_a_congruence_of_its_pseudo_inertia(seed: int) -> None:
    body, random = random_body(seed), np.random.default_rng(seed + 1)
    turn, shift = Rotation.random(rng=random).as_matrix(), random.normal(size=3)
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = turn, shift
    there = moved(body, turn, shift).pseudo_inertia
    assert np.allclose(there, frame @ body.pseudo_inertia @ frame.T, rtol=1e-9, atol=1e-12)


@given(seeds)
def test_the_distance_is_the_same_in_every_frame_and_unit_of_length(seed: int) -> None:
    first, second = random_body(seed), random_body(seed + 1)
    random = np.random.default_rng(seed + 2)
    turn, shift, metre = (
        Rotation.random(rng=random).as_matrix(),
        random.normal(size=3),
        10.0 ** random.uniform(-3, 3),
    )
    units = np.diag([metre, metre, metre, 1.0])
    distance = geodesic_distance(first, second)
    assert geodesic_distance(
        moved(first, turn, shift), moved(second, turn, shift)
    ) == pytest.approx(distance, rel=1e-6)
    rescaled = [
        from_pseudo_inertia(units @ body.pseudo_inertia @ units) for body in (first, second)
    ]
    assert geodesic_distance(*rescaled) == pytest.approx(distance, rel=1e-6)


@given(seeds)
def test_the_distance_is_a_metric(seed: int) -> None:
    a, b, c = (random_body(seed + k) for k in range(3))
    assert geodesic_distance(a, a) == pytest.approx(0.0, abs=1e-7)
    assert geodesic_distance(a, b) == pytest.approx(geodesic_distance(b, a), rel=1e-7)
    assert geodesic_distance(a, c) <= geodesic_distance(a, b) + geodesic_distance(b, c) + 1e-9


@settings(max_examples=20)
@given(seeds)
def test_the_distance_is_the_formula_as_printed(seed: int) -> None:
    a, b = random_body(seed), random_body(seed + 1)
    root = np.linalg.inv(sqrtm(a.pseudo_inertia))
    between = root @ b.pseudo_inertia @ root
    formula = 0.5 * np.linalg.norm(np.log(np.linalg.eigvalsh(0.5 * (between + between.T))))
    assert geodesic_distance(a, b) == pytest.approx(formula, rel=1e-4)


def test_the_distance_of_a_body_twice_as_heavy_is_half_the_norm_of_the_logarithms() -> None:
    body = random_body(3)
    assert geodesic_distance(
        body, InertialParameters.from_vector(2.0 * body.vector)
    ) == pytest.approx(np.log(2.0))


@given(seeds, st.integers(0, 3), st.booleans())
def test_a_body_can_exist_exactly_where_its_principal_form_is_positive(
    seed: int, which: int, spoiled: bool
) -> None:
    form = random_form(seed)
    numbers = np.array([form.mass, *form.second_moments])
    numbers[which] *= -0.3 if spoiled else 1.0
    changed = PrincipalForm(numbers[0], form.center_of_mass, numbers[1:], form.rotation)
    verdict = consistency(changed.parameters())
    valid = bool(changed.mass > 0.0 and np.all(changed.second_moments > 0.0))
    assert verdict.positive_definite == valid == (not spoiled)
    assert verdict.positive_mass == (numbers[0] > 0.0)
    eigenvalues = np.linalg.eigvalsh(
        moved(changed.parameters(), np.eye(3), -form.center_of_mass).pseudo_inertia
    )
    assert (eigenvalues[0] > 0.0) == valid
    assert np.isinf(geodesic_distance(changed.parameters(), form.parameters())) == spoiled


@given(seeds)
def test_the_triangle_inequality_is_the_second_moments_sign(seed: int) -> None:
    random = np.random.default_rng(seed)
    moments = random.uniform(0.1, 1.0, 3)
    turn = Rotation.random(rng=random).as_matrix()
    body = InertialParameters.from_center(
        1.0, random.normal(size=3), turn @ np.diag(moments) @ turn.T
    )
    verdict = consistency(body)
    assert verdict.positive_moments
    assert verdict.triangle_inequality == bool(2.0 * moments.max() <= moments.sum())
    assert verdict.triangle_inequality == verdict.positive_definite


@given(seeds)
def test_the_verdict_does_not_depend_on_where_the_frame_is(seed: int) -> None:
    random = np.random.default_rng(seed)
    body = InertialParameters.from_vector(
        random.normal(size=10) + np.array([1.0, *np.zeros(3), 2, 2, 2, 0, 0, 0])
    )
    there = moved(body, Rotation.random(rng=random).as_matrix(), random.normal(size=3))
    assert consistency(there) == consistency(body)


def test_a_plate_of_no_thickness_meets_the_triangle_inequality_but_is_no_solid_body() -> None:
    plate = InertialParameters(1.0, np.zeros(3), np.diag([1.0, 1.0, 2.0]))
    verdict = consistency(plate)
    assert verdict.triangle_inequality and not verdict.positive_definite
    assert failures(verdict) == ("pseudo-inertia not positive definite",)


def test_an_estimate_that_failed_is_kept_and_judged_unphysical() -> None:
    body = InertialParameters(np.nan, np.full(3, np.nan), np.full((3, 3), np.nan))
    assert failures(consistency(body)) == ("not finite",)
    assert consistency(body, CUBE).within_hull is False
    assert np.isinf(geodesic_distance(body, random_body(0)))
    assert np.isnan(InertialParameters.from_vector(np.zeros(10)).center_of_mass).all()


def test_a_body_outside_its_geometry_is_inconsistent_and_the_reason_is_said() -> None:
    inside, outside = (
        InertialParameters.from_center(1.0, np.array([x, 0.2, -0.3]), 0.1 * np.eye(3))
        for x in (0.9, 1.1)
    )
    assert consistency(inside, CUBE).consistent
    assert consistency(outside).consistent and consistency(outside).within_hull is None
    assert not consistency(outside, CUBE).consistent
    assert failures(consistency(outside, CUBE)) == ("centre of mass outside the convex hull",)


@given(seeds)
def test_mixtures_of_the_corners_lie_in_the_hull_and_what_a_face_separates_does_not(
    seed: int,
) -> None:
    random = np.random.default_rng(seed)
    corners = random.normal(size=(12, 3))
    assert in_hull(random.dirichlet(np.ones(12)) @ corners, corners)
    normals, offsets = hull_halfspaces(corners)
    assert np.all(normals @ corners.T <= offsets[:, None] + 1e-9)
    assert not in_hull(
        corners.mean(axis=0) + normals[0] * (offsets[0] - normals[0] @ corners.mean(axis=0) + 0.1),
        corners,
    )


def test_a_cube_has_six_faces() -> None:
    normals, offsets = hull_halfspaces(CUBE)
    assert len(normals) == 6 and np.allclose(offsets, 1.0)


def test_joined_bodies_are_the_union_of_their_points() -> None:
    (m1, p1), (m2, p2) = point_cloud(1), point_cloud(2)

    def cloud(masses: np.ndarray, at: np.ndarray) -> InertialParameters:
        homogeneous = np.column_stack([at, np.ones(len(at))])
        return from_pseudo_inertia((masses * homogeneous.T) @ homogeneous)

    whole = cloud(np.concatenate([m1, m2]), np.vstack([p1, p2]))
    assert np.allclose(combined([cloud(m1, p1), cloud(m2, p2)]).vector, whole.vector)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda: InertialParameters(1.0, np.zeros(2), np.eye(3)),
        lambda: InertialParameters(
            1.0, np.zeros(3), np.array([[1.0, 0.1, 0], [-0.1, 1, 0], [0, 0, 1]])
        ),
        lambda: InertialParameters.from_vector(np.zeros(9)),
        lambda: hull_halfspaces(CUBE[:3]),
        lambda: combined([]),
    ],
    ids=["shape", "asymmetric", "nine numbers", "flat hull", "no parts"],
)
def test_misuse_is_told_with_a_remedy(spoil) -> None:
    with pytest.raises(ContactIdError, match=r"\. Give "):
        spoil()
