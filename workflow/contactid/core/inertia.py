"""The ten inertial parameters of a rigid body, their pseudo-inertia, and whether a body can exist.

Conventions
-----------
* Everything is in SI units and in one body frame B: mass ``m`` in kg, centre of mass ``c`` in m,
  inertia in kg m2.
* The inertia **tensor** is about the **origin of B** unless a name says otherwise, and holds the
  tensor's entries: ``I_xx = integral of (y^2 + z^2) dm`` and ``I_xy = -integral of x y dm``. The
  products of inertia that some tables print are the negatives of its off-diagonal entries.
* The parallel-axis rule ties it to the tensor about the centre of mass: ``I = I_C + m (|c|^2 Id - c
  c^T)``.
* The pseudo-inertia matrix is the second moment of the density over homogeneous coordinates, ``P =
  integral of [x; 1] [x; 1]^T dm = [[Sigma, m c], [m c^T, m]]`` with ``Sigma = tr(I) / 2 Id - I``
  (eq. 21, in-hand paper). A frame change ``x' = R x + t`` is the congruence ``P' = T P T^T`` with
  ``T = [[R, t], [0, 1]]``.

A mass distribution that fills a volume has these parameters if and only if P is positive definite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh, eigvalsh
from scipy.spatial import ConvexHull, QhullError

from contactid.core.errors import ContactIdError

PARAMETER_NAMES = ("m", "m_c_x", "m_c_y", "m_c_z", "i_xx", "i_yy", "i_zz", "i_xy", "i_xz", "i_yz")
# a second moment below this share of the largest one is rounding, not mass
_ROUNDING = 1e-12
# m; a centre of mass on a face is inside, whatever rounding makes of the face's offset
_HULL_SLACK = 1e-9
# rows and columns of the entries xx, yy, zz, xy, xz, yz
_TENSOR_INDICES = ((0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2))


def tensor(entries: np.ndarray) -> np.ndarray:
    """Symmetric matrix ``(3, 3)`` of its entries ``(6,)``: xx, yy, zz, xy, xz, yz."""
    rows, columns = _TENSOR_INDICES
    matrix = np.empty((3, 3))
    matrix[rows, columns] = matrix[columns, rows] = np.asarray(entries, dtype=float)
    return matrix


def tensor_entries(matrix: np.ndarray) -> np.ndarray:
    """Entries ``(6,)`` of a symmetric matrix ``(3, 3)``: xx, yy, zz, xy, xz, yz."""
    return np.asarray(matrix, dtype=float)[_TENSOR_INDICES]


def pseudo_inertia(vector: np.ndarray) -> np.ndarray:
    """P ``(4, 4)``, see the module; linear in the vector ``(10,)``, which may have no mass."""
    inertia = tensor(vector[4:])
    matrix = np.empty((4, 4))
    matrix[:3, :3] = 0.5 * np.trace(inertia) * np.eye(3) - inertia
    matrix[:3, 3] = matrix[3, :3] = vector[1:4]
    matrix[3, 3] = vector[0]
    return matrix


def parallel_axis(mass: float, offset: np.ndarray) -> np.ndarray:
    """Tensor ``(3, 3)`` in kg m2 of a point of mass ``mass`` kg at ``offset`` ``(3,)`` m."""
    offset = np.asarray(offset, dtype=float)
    return mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))


@dataclass(frozen=True, eq=False)
class PrincipalForm:
    """Inertial parameters by principal axes (eqs. 26 to 30, in-hand paper).

    Every rigid body has positive values here.

    Attributes
    ----------
    mass : kg
    center_of_mass : ``(3,)`` m in B
    second_moments : ``(3,)`` kg m2, ``L_x = integral of x^2 dm`` and so on, in the principal axes
        at the centre of mass
    rotation : ``(3, 3)``, takes coordinates in the principal axes to coordinates in B
    """

    mass: float
    center_of_mass: np.ndarray
    second_moments: np.ndarray
    rotation: np.ndarray

    def parameters(self) -> InertialParameters:
        """The ten parameters: principal moments ``L_y + L_z, L_x + L_z, L_x + L_y`` (eq. 29),
        turned to B and moved.
        """
        moments = np.asarray(self.second_moments, dtype=float)
        at_center = self.rotation @ np.diag(moments.sum() - moments) @ np.asarray(self.rotation).T
        return InertialParameters.from_center(self.mass, self.center_of_mass, at_center)


@dataclass(frozen=True, eq=False)
class InertialParameters:
    """The ten inertial parameters of a body, or of an estimate that no body can have.

    Attributes
    ----------
    mass : kg
    center_of_mass : ``(3,)`` m in B
    inertia : ``(3, 3)`` kg m2 about the origin of B, tensor entries

    Raises
    ------
    ContactIdError
        Where a shape is wrong or the tensor isn't symmetric. Unphysical and non-finite values are
        let through: a failed estimate is a result too.
    """

    mass: float
    center_of_mass: np.ndarray
    inertia: np.ndarray

    def __post_init__(self) -> None:
        center, inertia = (
            np.array(value, dtype=float) for value in (self.center_of_mass, self.inertia)
        )
        if center.shape != (3,) or inertia.shape != (3, 3):
            raise ContactIdError(
                f"inertial parameters have a centre of mass of shape {center.shape} and a tensor of shape"
                f" {inertia.shape}",
                "Give shapes (3,) and (3, 3)",
            )
        # 1e-8: single precision and formatted text round to more than doubles do; a wrong
        # convention of signs is far above it
        scale = np.max(np.abs(inertia))
        if np.isfinite(scale) and np.max(np.abs(inertia - inertia.T)) > 1e-8 * scale:
            raise ContactIdError(
                "an inertia tensor isn't symmetric",
                "Give I_xy = I_yx and so on, all as tensor entries",
            )
        inertia = 0.5 * (inertia + inertia.T)
        # a frozen dataclass sets its own fields so; read-only, as several share one array
        for name, value in (("center_of_mass", center), ("inertia", inertia)):
            value.flags.writeable = False
            object.__setattr__(self, name, value)
        object.__setattr__(self, "mass", float(self.mass))

    @classmethod
    def from_center(
        cls, mass: float, center_of_mass: np.ndarray, inertia: np.ndarray
    ) -> InertialParameters:
        """From a tensor ``(3, 3)`` about the centre of mass, in the axes of B."""
        return cls(
            mass,
            center_of_mass,
            np.asarray(inertia, dtype=float) + parallel_axis(mass, center_of_mass),
        )

    @classmethod
    def from_vector(cls, vector: np.ndarray) -> InertialParameters:
        """From ``(10,)`` as in :attr:`vector`; without mass the centre of mass is nan."""
        vector = np.asarray(vector, dtype=float)
        if vector.shape != (10,):
            raise ContactIdError(
                f"a vector of inertial parameters has shape {vector.shape}",
                f"Give (10,): {', '.join(PARAMETER_NAMES)}",
            )
        center = vector[1:4] / vector[0] if vector[0] else np.full(3, np.nan)
        return cls(vector[0], center, tensor(vector[4:]))

    @property
    def vector(self) -> np.ndarray:
        """``(10,)``: ``m, m c_x, m c_y, m c_z, I_xx, I_yy, I_zz, I_xy, I_xz, I_yz`` about the
        origin, in kg, m.

        Forces and torques of a given motion are linear in it (eqs. 6 to 9).
        """
        return np.concatenate(
            [[self.mass], self.mass * self.center_of_mass, tensor_entries(self.inertia)]
        )

    @property
    def inertia_at_center(self) -> np.ndarray:
        """Tensor ``(3, 3)`` about the centre of mass, in the axes of B."""
        return self.inertia - parallel_axis(self.mass, self.center_of_mass)

    @property
    def second_moments_at_center(self) -> np.ndarray:
        """``(3, 3)`` kg m2: integral of ``(x - c) (x - c)^T dm``, in the axes of B."""
        at_center = self.inertia_at_center
        return 0.5 * np.trace(at_center) * np.eye(3) - at_center

    @property
    def pseudo_inertia(self) -> np.ndarray:
        """P ``(4, 4)``, see the module."""
        return pseudo_inertia(self.vector)

    @property
    def principal_form(self) -> PrincipalForm:
        """Ascending second moments and their axes, a rotation; exists for unphysical values too."""
        # eigenvectors may be left-handed
        moments, axes = eigh(self.second_moments_at_center)
        axes[:, 2] *= np.sign(np.linalg.det(axes))
        return PrincipalForm(self.mass, self.center_of_mass, moments, axes)


@dataclass(frozen=True)
class Consistency:
    """What an estimate has of a rigid body's properties.

    Attributes
    ----------
    finite : all ten parameters are finite
    positive_mass : m > 0
    positive_moments : the tensor about the centre of mass is positive definite
    triangle_inequality : each principal moment there is at most the sum of the other two
    positive_definite : P is positive definite, which implies the three before (the test of eqs. 35
        and 36)
    within_hull : the centre of mass lies in the convex hull of the geometry (eq. 37); None where no
        hull was given
    """

    finite: bool
    positive_mass: bool
    positive_moments: bool
    triangle_inequality: bool
    positive_definite: bool
    within_hull: bool | None

    @property
    def consistent(self) -> bool:
        """Whether the body can exist: P positive definite, mass centre in a hull that was given."""
        return self.positive_definite and self.within_hull is not False


def consistency(parameters: InertialParameters, hull: np.ndarray | None = None) -> Consistency:
    """Test an estimate for physical consistency (eqs. 35 to 37, in-hand paper).

    Parameters
    ----------
    parameters : the estimate, physical or not
    hull : points ``(n, 3)`` in m in B whose convex hull is that of the geometry; None leaves that
        test out

    Notes
    -----
    P is positive definite if and only if its Schur complement, the second moments about the centre
    of mass, and the mass are. Testing these instead keeps kg and kg m2 apart, so that the verdict
    doesn't depend on the unit of length. The triangle inequality is twice the second moments'
    signs: ``I_2 + I_3 - I_1 = 2 L_1``.
    """
    if not np.all(np.isfinite(parameters.vector)):
        return Consistency(False, False, False, False, False, None if hull is None else False)
    moments = eigvalsh(parameters.second_moments_at_center)
    slack = _ROUNDING * np.max(np.abs(parameters.pseudo_inertia[:3, :3]))
    positive_mass = parameters.mass > 0.0
    return Consistency(
        finite=True,
        positive_mass=positive_mass,
        positive_moments=bool(moments[0] + moments[1] > slack),
        triangle_inequality=bool(moments[0] >= -slack),
        positive_definite=bool(positive_mass and moments[0] > slack),
        within_hull=None if hull is None else in_hull(parameters.center_of_mass, hull),
    )


def hull_halfspaces(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Convex hull of points ``(n, 3)`` as ``A x <= b``: outward unit normals, offsets in m.

    Shapes are ``(k, 3)`` and ``(k,)``. Raises :class:`ContactIdError` where the points don't span a
    volume.
    """
    points = np.asarray(points, dtype=float)
    try:
        equations = ConvexHull(points).equations
    except (QhullError, ValueError) as error:
        raise ContactIdError(
            f"the geometry's {len(points)} points span no volume",
            "Give at least four points (n, 3) not in one plane",
        ) from error
    # a quadrilateral face comes as two coplanar triangles, equal but for rounding: the normals'
    # entries are of the order of one, and twelve digits are what rounding leaves of them
    equations = np.unique(np.round(equations, 12), axis=0)
    return equations[:, :3], -equations[:, 3]


def in_hull(point: np.ndarray, hull: np.ndarray) -> bool:
    """Whether a point ``(3,)`` lies in the convex hull of points ``(n, 3)``, its boundary included."""
    normals, offsets = hull_halfspaces(hull)
    return bool(np.all(normals @ np.asarray(point, dtype=float) <= offsets + _HULL_SLACK))


def uniform_body(mass: float, points: np.ndarray) -> InertialParameters:
    """The body of ``mass`` kg and uniform density that fills the hull of points ``(n, 3)`` m."""
    points = np.asarray(points, dtype=float)
    # tetrahedra from one point inside to every triangle of the hull; each has the volume det / 6
    inside = points.mean(axis=0)
    hull = ConvexHull(points)
    corners = np.concatenate(
        [points[hull.simplices], np.broadcast_to(inside, (len(hull.simplices), 1, 3))], axis=1
    )
    shares = mass * np.abs(np.linalg.det(corners[:, :3] - inside)) / (6.0 * hull.volume)
    # second moments of a tetrahedron of mass s: s / 20 (sum of v v^T over its corners, and of (sum
    # of v) (sum of v)^T)
    sums = corners.sum(axis=1)
    squares = np.einsum("tki,tkj->tij", corners, corners) + np.einsum("ti,tj->tij", sums, sums)
    moments = np.einsum("t,tij->ij", shares, squares) / 20.0
    return InertialParameters(
        mass, shares @ sums / (4.0 * mass), np.trace(moments) * np.eye(3) - moments
    )


def moved_to(body: InertialParameters, center: np.ndarray) -> InertialParameters:
    """A body with its centre of mass (3,) m elsewhere, and the same tensor about it."""
    at_origin = tensor_entries(body.inertia_at_center + parallel_axis(body.mass, center))
    return InertialParameters.from_vector(
        np.concatenate([[body.mass], body.mass * center, at_origin])
    )


def geodesic_distance(first: InertialParameters, second: InertialParameters) -> float:
    """Distance of pseudo-inertias, ``1/2 ||log(P1^-1/2 P2 P1^-1/2)||_F`` (eqs. 20 and 38).

    It is symmetric, and the same in every body frame and unit of length: a congruence of both
    matrices leaves the generalised eigenvalues of ``P2 v = lambda P1 v`` as they are.

    Returns
    -------
    float : ``1/2 sqrt(sum of log^2 lambda)``; infinite where either matrix isn't positive definite
    """
    if not (consistency(first).positive_definite and consistency(second).positive_definite):
        return np.inf
    # in the frame where one of them is the identity, no digits are lost in P's mixed units
    balance = _balanced_frame(first)
    one, other = (balance @ body.pseudo_inertia @ balance.T for body in (first, second))
    eigenvalues = eigvalsh(other, one)
    return float(0.5 * np.linalg.norm(np.log(eigenvalues))) if np.all(eigenvalues > 0.0) else np.inf


def _balanced_frame(body: InertialParameters) -> np.ndarray:
    """Congruence ``(4, 4)`` that takes a body's P to the identity."""
    form = body.principal_form
    scale = np.diag(1.0 / np.sqrt(form.second_moments)) @ form.rotation.T
    frame = np.zeros((4, 4))
    frame[:3, :3] = scale
    frame[:3, 3] = -scale @ body.center_of_mass
    frame[3, 3] = 1.0 / np.sqrt(body.mass)
    return frame
