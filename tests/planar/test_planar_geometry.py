"""Gaps, contact points and wrench bases against eq. 21 as printed, against derivatives, and against
the outline itself.

Eq. 21 is written out here as the paper has it, with one correction: the second component of its GQ
reads ``rho cos(theta + beta)`` where the sine is meant.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.geometry import (
    Contacts,
    Ellipse,
    Ground,
    Polygon,
    contacts,
    ellipse_arm,
    outline_at,
)

THOROUGH = settings(max_examples=150, deadline=None)
NAN, INF = float("nan"), float("inf")


def between(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_nan=False, allow_subnormal=False)


grounds = st.builds(Ground, between(-1.5, 1.5), between(-3, 3), between(-3, 3))
ellipses = st.builds(Ellipse, between(0.2, 3.0), between(0.2, 3.0))
poses = st.tuples(between(-4, 4), between(-4, 4), between(-9, 9))


@st.composite
def polygons(draw) -> Polygon:
    """Corners on an ellipse, seen from a point well inside them."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(3, 8))
    angle = 2.0 * np.pi * (np.arange(n) + 0.8 * random.random(n)) / n + random.uniform(0, 6)
    corners = np.column_stack(
        [random.uniform(0.3, 2) * np.cos(angle), random.uniform(0.3, 2) * np.sin(angle)]
    )
    weights = 0.1 + random.random(n)
    return Polygon(tuple(map(tuple, corners - weights @ corners / weights.sum())))


def rounded(shape: Polygon, share: float) -> Polygon:
    """With corners of a share of the largest radius that leaves every side straight."""
    low, high = 0.0, 10.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        try:
            replace(shape, radius=middle)
            low = middle
        except ContactIdError:
            high = middle
    return replace(shape, radius=share * low)


shapes = st.one_of(ellipses, polygons(), st.builds(rounded, polygons(), between(0.01, 0.99)))


def cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The component along k of the product of two vectors (..., 2) of the plane."""
    return first[..., 0] * second[..., 1] - first[..., 1] * second[..., 0]


def turning(theta: float) -> np.ndarray:
    return np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])


class PaperEllipse:
    """Eq. 21 and what follows from it, as printed."""

    def __init__(self, shape: Ellipse, ground: Ground, q) -> None:
        self.shape, self.ground, self.q = shape, ground, q

    def rho(self, beta):
        a, b = self.shape.a, self.shape.b
        return a * b / np.sqrt(b**2 * np.cos(beta) ** 2 + a**2 * np.sin(beta) ** 2)

    def distance(self, beta):
        (x, y, theta), ground = self.q, self.ground
        height = (y - ground.y0) * np.cos(ground.slope) - (x - ground.x0) * np.sin(ground.slope)
        return height + self.rho(beta) * np.sin(beta + theta - ground.slope)

    def beta(self) -> float:
        """The better one of the two angles with tan beta = (b/a)^2 / tan(theta - alpha)."""
        phi = self.q[2] - self.ground.slope
        first = np.arctan2(self.shape.b**2 * np.cos(phi), self.shape.a**2 * np.sin(phi))
        return min(first, first + np.pi, key=self.distance)

    def arm(self) -> np.ndarray:
        """GQ in S, with the sine."""
        beta = self.beta()
        return self.rho(beta) * np.array([np.cos(self.q[2] + beta), np.sin(self.q[2] + beta)])


# the ellipse


@THOROUGH
@given(ellipses, grounds, poses)
def test_the_gap_is_the_papers_minimum_over_beta(shape, ground, q):
    paper = PaperEllipse(shape, ground, q)
    gap = contacts(shape, ground, q).gap
    assert gap.shape == (1,)
    assert gap[0] == pytest.approx(paper.distance(paper.beta()), abs=1e-12)
    everywhere = paper.distance(np.linspace(0.0, 2.0 * np.pi, 721))
    assert everywhere.min() >= gap[0] - 1e-12, "no other beta is lower"


@THOROUGH
@given(ellipses, grounds, poses)
def test_contact_point_and_wrench_bases_are_those_of_gq(shape, ground, q):
    at, arm = contacts(shape, ground, q), PaperEllipse(shape, ground, q).arm()
    assert at.point[0] - q[:2] == pytest.approx(arm, abs=1e-11)
    assert at.normal[0] == pytest.approx([*ground.normal, cross(arm, ground.normal)], abs=1e-11)
    assert at.tangent[0] == pytest.approx([*ground.tangent, cross(arm, ground.tangent)], abs=1e-11)


@THOROUGH
@given(ellipses, grounds, poses)
def test_the_contact_point_lies_on_the_ellipse_at_the_gaps_height(shape, ground, q):
    at = contacts(shape, ground, q)
    x, y = turning(q[2]).T @ (at.point[0] - q[:2])
    assert (x / shape.a) ** 2 + (y / shape.b) ** 2 == pytest.approx(1.0, abs=1e-11)
    assert (at.point[0] - [ground.x0, ground.y0]) @ ground.normal == pytest.approx(
        at.gap[0], abs=1e-12
    )


@THOROUGH
@given(ellipses, grounds, poses)
def test_no_point_of_the_outline_is_lower_and_one_is_as_low_as_its_spacing_allows(shape, ground, q):
    gap = contacts(shape, ground, q).gap[0]
    outline = outline_at(shape, q)
    heights = (outline - [ground.x0, ground.y0]) @ ground.normal
    support = (np.asarray(q[:2]) - [ground.x0, ground.y0]) @ ground.normal - gap
    half_spacing = np.pi / (len(outline) - 1)
    assert outline[0] == pytest.approx(outline[-1], abs=1e-12)
    assert -1e-12 <= heights.min() - gap <= support * (1.0 - np.cos(half_spacing)) + 1e-12


@given(between(0.01, 10.0), between(0.01, 10.0), between(-7, 7))
def test_the_arm_along_t_is_the_derivative_of_the_arm_along_n(a, b, phi):
    step = 1e-30  # complex step: no cancellation
    turned = complex(phi, step)
    r_t, r_n = ellipse_arm(np.sin(phi), np.cos(phi), a, b)
    derivative = ellipse_arm(np.sin(turned), np.cos(turned), a, b)[1].imag / step
    assert r_t == pytest.approx(derivative, rel=1e-10, abs=1e-13)
    assert min(a, b) * (1 - 1e-12) <= -r_n <= max(a, b) * (1 + 1e-12)


def test_an_ellipse_on_its_sides_and_ends():
    lying, standing = (
        contacts(Ellipse(1.5, 1.0), Ground(), (2.0, 3.0, theta)) for theta in (0.0, np.pi / 2)
    )
    assert lying.gap[0] == 2.0 and standing.gap[0] == pytest.approx(1.5)
    assert lying.point[0] == pytest.approx([2.0, 2.0]) and standing.point[0] == pytest.approx(
        [2.0, 1.5]
    )
    assert lying.normal[0] == pytest.approx([0.0, 1.0, 0.0])
    assert lying.tangent[0] == pytest.approx([1.0, 0.0, 1.0]), (
        "spinning ccw moves the lowest point to the right"
    )


# all shapes


@THOROUGH
@given(shapes, grounds, poses)
def test_n_is_the_gradient_of_the_gap(shape, ground, q):
    step = 1e-5
    offsets = step * np.eye(3)
    rise = (
        contacts(shape, ground, np.add(q, offsets)).gap
        - contacts(shape, ground, np.subtract(q, offsets)).gap
    )
    assert contacts(shape, ground, q).normal == pytest.approx(rise.T / (2.0 * step), abs=1e-5)


@THOROUGH
@given(shapes, grounds, poses, st.tuples(between(-3, 3), between(-3, 3), between(-3, 3)))
def test_n_and_t_give_the_velocity_of_the_bodys_point_in_contact(shape, ground, q, v):
    at = contacts(shape, ground, q)
    fixed_in_body = (at.point - np.array(q[:2])) @ turning(q[2])
    step = 1e-5
    later, sooner = (np.add(q, sign * step * np.array(v)) for sign in (1, -1))
    moved = (
        later[:2]
        + fixed_in_body @ turning(later[2]).T
        - sooner[:2]
        - fixed_in_body @ turning(sooner[2]).T
    )
    assert at.normal @ v == pytest.approx(moved @ ground.normal / (2 * step), abs=1e-6)
    assert at.tangent @ v == pytest.approx(moved @ ground.tangent / (2 * step), abs=1e-6)


@given(shapes, grounds, st.integers(0, 2**32 - 1))
def test_many_configurations_at_once_are_each_one_alone(shape, ground, seed):
    q = np.random.default_rng(seed).uniform(-3, 3, (2, 3, 3))
    together = contacts(shape, ground, q)
    assert together.point.shape == (2, 3, shape.n_contacts, 2) and together.normal.shape == (
        2,
        3,
        shape.n_contacts,
        3,
    )
    for index in np.ndindex(2, 3):
        alone: Contacts = contacts(shape, ground, q[index])
        for name in ("gap", "point", "normal", "tangent"):
            assert getattr(together, name)[index] == pytest.approx(getattr(alone, name), abs=1e-14)


@given(shapes, grounds, poses, between(-2, 2), between(-2, 2), between(-1.4, 1.4))
def test_moving_body_and_ground_together_changes_no_gap(shape, ground, q, x, y, angle):
    turn = turning(angle)
    moved = Ground(ground.slope + angle, *(turn @ [ground.x0, ground.y0] + [x, y]))
    after = contacts(shape, moved, [*(turn @ q[:2] + [x, y]), q[2] + angle])
    before = contacts(shape, ground, q)
    assert after.gap == pytest.approx(before.gap, abs=1e-12)
    assert after.point == pytest.approx(before.point @ turn.T + [x, y], abs=1e-12)
    assert after.normal[:, 2] == pytest.approx(before.normal[:, 2], abs=1e-12)
    assert after.tangent[:, 2] == pytest.approx(before.tangent[:, 2], abs=1e-12)


# polygons


@THOROUGH
@given(polygons(), grounds, poses)
def test_a_polygons_contacts_are_its_corners(shape, ground, q):
    at = contacts(shape, ground, q)
    arms = np.array(shape.vertices) @ turning(q[2]).T
    assert at.point == pytest.approx(arms + q[:2], abs=1e-12)
    assert at.gap == pytest.approx(
        (arms + q[:2] - [ground.x0, ground.y0]) @ ground.normal, abs=1e-12
    )
    for basis, direction in ((at.normal, ground.normal), (at.tangent, ground.tangent)):
        assert (basis[:, :2] == direction).all()
        assert basis[:, 2] == pytest.approx(cross(arms, direction), abs=1e-12)


@given(polygons(), grounds, poses)
def test_the_least_gap_is_the_lowest_point_of_the_outline(shape, ground, q):
    outline = outline_at(shape, q)
    share = np.linspace(0.0, 1.0, 11)[:, None, None]
    points = (1.0 - share) * outline[:-1] + share * outline[1:]
    lowest = ((points - [ground.x0, ground.y0]) @ ground.normal).min()
    assert contacts(shape, ground, q).gap.min() == pytest.approx(lowest, abs=1e-12)


@given(ellipses, grounds, poses, st.integers(3, 400))
def test_a_fine_polygon_on_an_ellipse_has_the_ellipses_gap(shape, ground, q, n):
    inscribed = Polygon(tuple(map(tuple, shape.outline(n + 1)[:-1])))
    deeper = contacts(inscribed, ground, q).gap.min() - contacts(shape, ground, q).gap[0]
    assert -1e-12 <= deeper <= max(shape.a, shape.b) * (1.0 - np.cos(np.pi / n)) + 1e-12


@given(polygons(), between(0.01, 0.99), poses)
def test_a_rounded_corners_contact_is_its_circles_lowest_point(shape, share, q):
    shape, angle = rounded(shape, share), np.linspace(0.0, 2.0 * np.pi, 20001)
    circle = shape.radius * np.column_stack([np.cos(angle), np.sin(angle)])
    at, turned = contacts(shape, Ground(), q), shape.centres @ turning(q[2]).T + q[:2]
    for j, centre in enumerate(turned):
        lowest = (centre + circle)[np.argmin(circle[:, 1])]
        assert at.gap[j] == pytest.approx(lowest[1], abs=1e-6)
        assert at.point[j] == pytest.approx(lowest, abs=1e-3 * shape.radius)
        assert at.normal[j, 2] == pytest.approx(at.point[j, 0] - q[0], abs=1e-12)
        assert at.tangent[j, 2] == pytest.approx(q[1] - at.point[j, 1], abs=1e-12)


@given(polygons(), between(0.0, 0.99))
def test_rounding_leaves_the_sides_where_they_are(shape, share):
    sharp, shape = shape, rounded(shape, share)
    for side in np.roll(sharp.vertices, -1, axis=0) - np.array(sharp.vertices):
        flat = (0.0, 0.0, -np.arctan2(side[1], side[0]))
        low = [np.sort(contacts(body, Ground(), flat).gap) for body in (shape, sharp)]
        assert low[0][0] == pytest.approx(low[1][0], abs=1e-12) == low[0][1]
    assert (
        np.linalg.norm(shape.outline(), axis=1).max()
        <= np.linalg.norm(sharp.vertices, axis=1).max() + 1e-12
    )


def test_too_round_corners_are_refused():
    for radius in (1.0, 1.3, -1e-3, NAN):
        with pytest.raises(ContactIdError, match="leave no side straight"):
            Polygon(SQUARE, radius)


# inertia of uniform bodies


def test_a_uniform_rounded_square_lacks_its_corners():
    lost, at = (4.0 - np.pi) * 0.2**2, (1.0 - 0.2) * np.sqrt(2.0) + 0.2 * 1.2
    exact = (4.0 * 2.0 / 3.0 - lost * at**2) / (4.0 - lost)
    assert Polygon(SQUARE, 0.2).uniform_inertia_ratio == pytest.approx(exact, rel=2e-3)


@given(between(0.01, 10), between(0.01, 10))
def test_a_uniform_rectangle_has_a_twelfth_of_its_squared_sides(width, height):
    corners = (
        (-width / 2, -height / 2),
        (width / 2, -height / 2),
        (width / 2, height / 2),
        (-width / 2, height / 2),
    )
    assert Polygon(corners).uniform_inertia_ratio == pytest.approx(
        (width**2 + height**2) / 12.0, rel=1e-12
    )


def test_a_uniform_square_of_side_60_mm():
    corners = ((-30e-3, -30e-3), (30e-3, -30e-3), (30e-3, 30e-3), (-30e-3, 30e-3))
    assert Polygon(corners).uniform_inertia_ratio == pytest.approx(60e-3**2 / 6.0, rel=1e-12)


@given(ellipses, st.integers(3, 300))
def test_a_uniform_polygon_with_even_corners_on_an_ellipse(shape, n):
    # the affine image of a regular polygon, whose squares average (2 + cos(2 pi / n)) / 12 along
    # every direction
    inscribed = Polygon(tuple(map(tuple, shape.outline(n + 1)[:-1])))
    exact = (shape.a**2 + shape.b**2) * (2.0 + np.cos(2.0 * np.pi / n)) / 12.0
    assert inscribed.uniform_inertia_ratio == pytest.approx(exact, rel=1e-10)
    shrinkage = 1.0 - inscribed.uniform_inertia_ratio / shape.uniform_inertia_ratio
    assert 0.0 < shrinkage < 7.0 / n**2, "the ellipse is the limit"


def test_the_papers_plywood_ellipse_without_its_magnet_holes():
    assert Ellipse(0.05, 0.025).uniform_inertia_ratio == pytest.approx(781.25e-6)


@given(polygons(), st.integers(0, 2**32 - 1))
def test_a_polygons_inertia_follows_steiners_rule(shape, seed):
    corners = np.array(shape.vertices)
    before, after = corners, np.roll(corners, -1, axis=0)
    twice_area = cross(before, after)
    centroid = (twice_area[:, None] * (before + after)).sum(axis=0) / (3.0 * twice_area.sum())
    other = np.random.default_rng(seed).dirichlet(np.full(len(corners), 4.0)) @ corners
    ratios = [
        Polygon(tuple(map(tuple, corners - at))).uniform_inertia_ratio for at in (centroid, other)
    ]
    assert ratios[1] - ratios[0] == pytest.approx(
        np.sum((other - centroid) ** 2), rel=1e-9, abs=1e-12
    )


# bad shapes

SQUARE = ((-1, -1), (1, -1), (1, 1), (-1, 1))
BAD_POLYGONS = {
    "two corners": ((-1, 0), (1, 0)),
    "corners in space": ((-1, -1, 0), (1, -1, 0), (0, 1, 0)),
    "one corner with one coordinate": ((-1, -1), (1, -1), (0,)),
    "clockwise": SQUARE[::-1],
    "not convex": (*SQUARE[:3], (0, 0.5), SQUARE[3]),
    "a corner on an edge": ((0, -1), *SQUARE[1:], SQUARE[0]),
    "a corner twice": (*SQUARE, SQUARE[3]),
    "centre outside": tuple((x + 3, y) for x, y in SQUARE),
    "centre on an edge": tuple((x + 1, y) for x, y in SQUARE),
    "twice around": (*SQUARE, *SQUARE),
    "crossed": (SQUARE[0], SQUARE[2], SQUARE[1], SQUARE[3]),
    "pentagram": tuple((np.cos(4 * np.pi * k / 5), np.sin(4 * np.pi * k / 5)) for k in range(5)),
    "heptagram": tuple((np.cos(6 * np.pi * k / 7), np.sin(6 * np.pi * k / 7)) for k in range(7)),
    "not a number": (*SQUARE[:3], (NAN, 1)),
    "not finite": (*SQUARE[:3], (-INF, 1)),
}


@pytest.mark.parametrize("corners", BAD_POLYGONS.values(), ids=BAD_POLYGONS.keys())
def test_a_bad_polygon_is_refused_with_one_line(corners):
    with pytest.raises(ContactIdError, match="polygon") as caught:
        Polygon(corners)
    assert "\n" not in str(caught.value) and caught.value.remedy


@pytest.mark.parametrize(
    ("a", "b"), [(0, 1), (1, 0), (-1.5, 1), (1, -2), (NAN, 1), (1, NAN), (INF, 1)]
)
def test_a_bad_ellipse_is_refused_with_one_line(a, b):
    with pytest.raises(ContactIdError, match="ellipse") as caught:
        Ellipse(a, b)
    assert f"{a:g} and {b:g} m" in str(caught.value) and caught.value.remedy


@pytest.mark.parametrize("values", [(NAN, 0, 0), (INF, 0, 0), (0, NAN, 0), (0, 0, -INF)])
def test_a_ground_that_is_nowhere_is_refused(values):
    with pytest.raises(ContactIdError, match="ground"):
        Ground(*values)


@given(polygons(), between(-7, 7), st.integers(0, 7))
def test_a_convex_polygon_is_accepted_however_it_lies_and_wherever_its_list_begins(
    shape, angle, first
):
    corners = np.roll(np.array(shape.vertices) @ turning(angle).T, first, axis=0)
    assert Polygon(tuple(map(tuple, corners))).n_contacts == len(corners)
    with pytest.raises(ContactIdError, match="counter-clockwise"):
        Polygon(tuple(map(tuple, corners[::-1])))


@given(polygons(), st.integers(0, 7), between(0.0, 0.3))
def test_a_dented_polygon_is_refused(shape, dented, depth):
    corners = np.array(shape.vertices)
    assume(len(corners) > 3)
    k = dented % len(corners)
    middle = 0.5 * (corners[k - 1] + corners[(k + 1) % len(corners)])
    corners[k] = middle - (depth + 0.01) * (corners[k] - middle)
    with pytest.raises(ContactIdError):
        Polygon(tuple(map(tuple, corners)))
