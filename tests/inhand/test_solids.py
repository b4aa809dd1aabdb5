"""Closed forms of solids against integrals of their volume by exact quadrature, and what is built
of them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial.legendre import leggauss
from scipy.spatial.transform import Rotation

from contactid.core.errors import ContactIdError
from contactid.core.inertia import InertialParameters, consistency, hull_halfspaces, in_hull
from solids import Solid, box, compound, cylinder, ellipsoid, failures, point_masses, sphere

Cloud = tuple[np.ndarray, np.ndarray]


def nodes(low: float, high: float, count: int = 6) -> Cloud:
    at, weights = leggauss(count)
    return 0.5 * (high - low) * at + 0.5 * (high + low), 0.5 * (high - low) * weights


def grid(first: Cloud, second: Cloud, third: Cloud) -> Cloud:
    at = np.stack(np.meshgrid(first[0], second[0], third[0], indexing="ij"), axis=-1).reshape(-1, 3)
    return at, np.einsum("i,j,k->ijk", first[1], second[1], third[1]).ravel()


def box_cloud(x: float, y: float, z: float) -> Cloud:
    return grid(nodes(-x / 2, x / 2), nodes(-y / 2, y / 2), nodes(-z / 2, z / 2))


def cylinder_cloud(radius: float, height: float) -> Cloud:
    at, weights = grid(
        nodes(0, radius),
        (np.arange(8) * np.pi / 4, np.full(8, np.pi / 4)),
        nodes(-height / 2, height / 2),
    )
    r, turn, z = at.T
    return np.column_stack([r * np.cos(turn), r * np.sin(turn), z]), weights * r


def ball_cloud(radius: float) -> Cloud:
    at, weights = grid(
        nodes(0, radius), nodes(-1, 1), (np.arange(8) * np.pi / 4, np.full(8, np.pi / 4))
    )
    r, cosine, turn = at.T
    across = r * np.sqrt(1 - cosine**2)
    return np.column_stack(
        [across * np.cos(turn), across * np.sin(turn), r * cosine]
    ), weights * r**2


def integrated(
    cloud: Cloud, mass: float, move: Callable[[np.ndarray], np.ndarray] = lambda at: at
) -> np.ndarray:
    """``(10,)`` by definition: the sums over the points of density times volume."""
    at, volumes = move(cloud[0]), cloud[1]
    dm = mass * volumes / volumes.sum()
    x, y, z = at.T
    tensor = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z]
    return np.array([mass, dm @ x, dm @ y, dm @ z, *(dm @ entry for entry in tensor)])


SOLIDS = {
    "box": (box(0.7, (0.1, 0.25, 0.4)), box_cloud(0.1, 0.25, 0.4)),
    "cylinder": (cylinder(0.7, 0.12, 0.5), cylinder_cloud(0.12, 0.5)),
    "sphere": (sphere(0.7, 0.3), ball_cloud(0.3)),
    "ellipsoid": (
        ellipsoid(0.7, (0.1, 0.2, 0.3)),
        (ball_cloud(1.0)[0] * [0.1, 0.2, 0.3], ball_cloud(1.0)[1]),
    ),
}
named = pytest.mark.parametrize("name", SOLIDS)


@named
def test_a_solid_has_the_parameters_of_its_volume_wherever_it_is(name: str) -> None:
    solid, cloud = SOLIDS[name]
    assert np.allclose(solid.parameters.vector, integrated(cloud, 0.7), atol=1e-13)
    turn, shift = Rotation.from_rotvec([0.4, -1.1, 0.7]).as_matrix(), np.array([0.3, -0.2, 0.15])
    moved = solid.moved(turn, shift)
    expected = integrated(cloud, 0.7, lambda at: at @ turn.T + shift)
    assert np.allclose(moved.parameters.vector, expected, atol=1e-13)


@named
def test_the_hull_holds_the_solid_and_hardly_more(name: str) -> None:
    solid, (at, _) = SOLIDS[name]
    assert all(in_hull(point, solid.hull) for point in at)
    reach = np.abs(at).max(axis=0)
    assert np.all(np.abs(solid.hull).max(axis=0) < 1.1 * reach / np.abs(leggauss(6)[0]).max())
    assert consistency(solid.parameters, solid.hull).consistent


def test_round_solids_touch_their_hull_from_inside() -> None:
    normals, offsets = hull_halfspaces(cylinder(1.0, 0.2, 0.5).hull)
    assert np.allclose(offsets[np.abs(normals[:, 2]) < 0.5], 0.2) and np.allclose(
        offsets[np.abs(normals[:, 2]) > 0.5], 0.25
    )
    offsets = hull_halfspaces(sphere(1.0, 0.3).hull)[1]
    assert offsets.min() == pytest.approx(0.3) and offsets.max() < 1.02 * 0.3


def test_a_hammer_is_the_sum_of_its_parts_each_about_the_common_origin() -> None:
    turn = Rotation.from_rotvec([0.0, np.pi / 2, 0.0]).as_matrix()
    head = box(1.2, (0.1, 0.04, 0.04)).shifted(z=0.3)
    handle = cylinder(0.3, 0.015, 0.3).shifted(z=0.15)
    pin = cylinder(0.05, 0.01, 0.06).moved(turn, np.array([0.0, 0.01, 0.31]))
    hammer = compound(head, handle, pin)
    expected = (
        integrated(box_cloud(0.1, 0.04, 0.04), 1.2, lambda at: at + np.array([0, 0, 0.3]))
        + integrated(cylinder_cloud(0.015, 0.3), 0.3, lambda at: at + np.array([0, 0, 0.15]))
        + integrated(cylinder_cloud(0.01, 0.06), 0.05, lambda at: at @ turn.T + [0.0, 0.01, 0.31])
    )
    assert np.allclose(hammer.parameters.vector, expected, atol=1e-13)
    assert len(hammer.hull) == len(head.hull) + len(handle.hull) + len(pin.hull)


def test_two_half_boxes_are_one_box() -> None:
    halves = compound(
        box(0.5, (0.2, 0.3, 0.1)).shifted(z=-0.05), box(0.5, (0.2, 0.3, 0.1)).shifted(z=0.05)
    )
    assert np.allclose(halves.parameters.vector, box(1.0, (0.2, 0.3, 0.2)).parameters.vector)


@given(st.integers(0, 2**32 - 1))
def test_enough_points_make_a_body_that_can_exist_and_lies_in_their_hull(seed: int) -> None:
    random = np.random.default_rng(seed)
    solid = point_masses(random.uniform(0.1, 1.0, 8), random.normal(size=(8, 3)))
    assert consistency(solid.parameters, solid.hull).consistent


def test_three_points_make_no_solid_body() -> None:
    assert not consistency(point_masses(np.ones(3), np.eye(3)).parameters).positive_definite


@named
def test_the_eight_points_at_the_radii_of_gyration_stand_for_the_solid(name: str) -> None:
    """Any body has the ten parameters of eight equal points at ``+- sqrt(L / m)`` along its
    principal axes.
    """
    solid = SOLIDS[name][0].shifted(0.1, 0.2, -0.3)
    form = solid.parameters.principal_form
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    at = form.center_of_mass + (signs * np.sqrt(form.second_moments / form.mass)) @ form.rotation.T
    points = point_masses(np.full(8, form.mass / 8), at)
    assert np.allclose(points.parameters.vector, solid.parameters.vector, atol=1e-13)


@pytest.mark.parametrize(
    "make",
    [
        lambda: box(1.0, (0.1, 0.0, 0.1)),
        lambda: cylinder(-1.0, 0.1, 0.1),
        lambda: sphere(1.0, -0.1),
        lambda: point_masses(np.ones(3), np.ones((2, 3))),
        lambda: point_masses(np.zeros(3), np.ones((3, 3))),
    ],
)
def test_an_impossible_solid_is_refused(make: Callable[[], Solid]) -> None:
    with pytest.raises(ContactIdError, match="Give"):
        make()


def test_a_body_without_extent_along_an_axis_is_judged_alike_in_every_place() -> None:
    plate = compound(
        *(point_masses(np.array([1.0]), np.array([[x, y, 0.2]])) for x in (0, 1) for y in (0, 1))
    )
    turn = Rotation.from_rotvec([0.3, 0.2, 0.1]).as_matrix()
    moved: InertialParameters = plate.moved(turn, np.array([3.0, -2.0, 1.0])).parameters
    assert failures(consistency(plate.parameters)) == failures(consistency(moved)) != ()
