"""Compiled time-stepping of a planar body, whose corners may touch a straight ground several at a
time.

The step is eqs. 16 to 18 with eq. 4 at every corner that touches, ``g_n(q^k) <= 0``. With ``u = [N
T]^T v^k``, ``u^+`` the same of ``v^(k+1)`` (N and T at q^k) and impulses ``c``, such a corner obeys

* normal: ``0 <= c_n perp u_n^+ + e_N u_n >= 0``, Newton's law in Moreau's form;
* tangential: eq. 18 with ``u_t^+ + e_T u_t`` in place of ``u_t^+``; the paper has ``e_T = 0``.

Deviation: eq. 19 makes the normal law an equality on every closed contact. A planar body has three
velocities, so several contacts over-determine it, and an equality can hold a corner down that
another one throws up. The inequality of eq. 4 lets that corner go without impulse and always has a
solution here. Where a single contact is hit it is the equality.

Deviation: eq. 6 also wants ``u_n <= 0``. The inequality leaves a separating corner alone without
that condition, and with it such a corner is free for a step, in which gravity or another corner's
impulse drives it into the ground: a square that should rest rocks from corner to corner for ever
and sinks (by 6.6 mm/s at a side of 42 mm, h = 1 ms and ``e_N = 0``).

With ``c_t = c_+ - c_-``, ``W = [N T]^T M^-1 [N T]`` and ``b`` the wanted velocities less the free
ones, the unknowns ``z = (c_n, c_+, c_-, lambda)`` solve a linear complementarity problem,

* ``0 <= c_n perp (W c - b)_n >= 0``,
* ``0 <= c_+- perp +-(W c - b)_t + lambda >= 0``,
* ``0 <= lambda perp mu c_n - c_+ - c_- >= 0``.

Its matrix is copositive: ``z . M z = c . W c + mu c_n . lambda``. All normals of a straight ground
agree, so impulses in the friction cones cancel only where all are 0, and Lemke's method can't end
on a ray. Impulses may be one choice of many that lead to the same velocity (a face on the ground
has two opposed tangential impulses to spare). Where friction makes velocities ambiguous too
(wedging), a lone contact sticks and several take what the pivots reach first.

Lemke's complementary pivoting for small linear complementarity problems: given M (n, n) and q (n,),
find z with ``z >= 0``, ``w = M z + q >= 0`` and ``z . w = 0``. A covering term makes it trivial,
``w = M z + q + z_0 d`` with ``d > 0`` and ``z_0`` large, and pivots that keep every pair (w_i, z_i)
complementary drive ``z_0`` to 0. Ties are broken lexicographically, so no basis comes back and the
pivots end, at a solution or on a ray.

On copositive matrices a ray can only appear if some ``v >= 0`` with ``M v >= 0`` and ``v . M v =
0`` has ``q . v < 0`` (Cottle, Pang and Stone, *The Linear Complementarity Problem*, section 4.4).
In floating point it can also come of rounding, where the path passes a nearly singular basis.
Another covering vector d takes another path, so several are tried, and what counts as solved is the
residual, recomputed from M and q.

Tolerances are absolute: scale the problem so that its entries are of order one.
"""

from __future__ import annotations

import numba
import numpy as np

from contactid.planar.simulate.geometry import ellipse_arm, vertex_arm
from contactid.planar.simulate.kernel import CLOSING, OPTIONS, contact_impulse

SOLVED, RAY, TOO_LONG = 0, 1, 2  # status of :func:`lemke`
RESIDUAL = 1e-9  # at most, at a solution
_PIVOT = 1e-10  # a smaller entry is rounding: dividing by it would wreck the tableau
_TIE = 1e-12  # ratios closer than this are equal up to rounding
_PIVOTS_PER_ROW = 25
_PATHS = 8
# its multiples modulo 1 spread evenly: entries of the covering vectors
_GOLDEN = 0.6180339887498949
_ellipse_arm = numba.njit(ellipse_arm, inline="always")
_vertex_arm = numba.njit(vertex_arm, inline="always")


@numba.njit(**OPTIONS)
def lemke(matrix, vector):
    """Solve ``0 <= z perp M z + q >= 0`` for a matrix (n, n) and a vector (n,); returns (z,
    status).

    The status is SOLVED where the residual is at most 1e-9, else RAY or TOO_LONG, and z is the best
    of what was found.
    """
    n = vector.shape[0]
    best, status, least = np.zeros(n), SOLVED, complementarity_residual(matrix, vector, np.zeros(n))
    # z = 0 solves it: no contact has to push
    if least == 0.0:
        return best, status
    for path in range(_PATHS):
        z, status = _follow_path(matrix, vector, _covering_vector(n, path))
        residual = complementarity_residual(matrix, vector, z)
        # the best of all paths, in case none gets below the tolerance
        if residual <= least:
            best, least = z, residual
        if least <= RESIDUAL:
            return best, SOLVED
    return best, max(status, RAY)


@numba.njit(**OPTIONS)
def _covering_vector(n, path):
    """(n,) ones for the first path, numbers between 1 and 2 for the others."""
    cover = np.ones(n)
    for i in range(n):
        # path 0 adds nothing: ones
        cover[i] += (path * (i + 1) * _GOLDEN) % 1.0
    return cover


@numba.njit(**OPTIONS)
def _follow_path(matrix, vector, cover):
    """Pivot from the covering vector on; returns z (n,) and how the path ended."""
    n = vector.shape[0]
    z = np.zeros(n)
    row = _first_row(vector, cover)
    if row < 0:
        return z, SOLVED
    tableau = _first_tableau(matrix, vector, cover)
    basis = np.arange(n)
    # columns are w (n), z (n), z_0 and the right-hand side
    entering = z_0 = 2 * n
    status = TOO_LONG
    for _ in range(_PIVOTS_PER_ROW * n):
        _pivot(tableau, row, entering)
        leaving = basis[row]
        basis[row] = entering
        if leaving == z_0:
            status = SOLVED
            break
        # the partner of what left enters, so each pair keeps one side at 0
        entering = leaving + n if leaving < n else leaving - n
        row = _leaving_row(tableau, basis, entering)
        if row < 0:
            status = RAY
            break
    for i in range(n):
        # variables outside the basis are 0; rounding may leave one in it below 0
        if n <= basis[i] < z_0:
            z[basis[i] - n] = max(tableau[i, z_0 + 1], 0.0)
    return z, status


@numba.njit(**OPTIONS)
def complementarity_residual(matrix, vector, z):
    """``max |min(z, M z + q)|``: 0 at a solution and only there; infinite where an entry isn't a
    number.
    """
    worst = 0.0
    for i in range(vector.shape[0]):
        w = vector[i]
        for j in range(vector.shape[0]):
            w += matrix[i, j] * z[j]
        violation = abs(min(z[i], w))
        if np.isnan(violation):
            return np.inf
        worst = max(worst, violation)
    return worst


@numba.njit(**OPTIONS)
def _first_row(vector, cover):
    """Row of the smallest negative ``q_i / d_i``, the lexicographic rule's last among equals; -1 if
    there is none.
    """
    row, least = -1, 0.0
    for i in range(vector.shape[0]):
        ratio = vector[i] / cover[i]
        # z_0 enters where it is needed most, so no other row gets negative
        if ratio < 0.0 and ratio <= least + _TIE:
            row, least = i, ratio
    return row


@numba.njit(**OPTIONS)
def _first_tableau(matrix, vector, cover):
    """(n, 2 n + 2) columns of w, z, z_0 and the right-hand side in ``w - M z - z_0 d = q``."""
    n = vector.shape[0]
    tableau = np.zeros((n, 2 * n + 2))
    for i in range(n):
        tableau[i, i] = 1.0
        for j in range(n):
            tableau[i, n + j] = -matrix[i, j]
        tableau[i, 2 * n] = -cover[i]
        tableau[i, 2 * n + 1] = vector[i]
    return tableau


@numba.njit(**OPTIONS)
def _pivot(tableau, row, column):
    """Gauss-Jordan step that makes ``column`` the unit vector of ``row``."""
    rows, columns = tableau.shape
    inverse = 1.0 / tableau[row, column]
    for j in range(columns):
        tableau[row, j] *= inverse
    # set exactly: the product may be off by rounding
    tableau[row, column] = 1.0
    for i in range(rows):
        factor = tableau[i, column]
        if i != row and factor != 0.0:
            for j in range(columns):
                tableau[i, j] -= factor * tableau[row, j]
            tableau[i, column] = 0.0


@numba.njit(**OPTIONS)
def _leaving_row(tableau, basis, column):
    """Row whose variable the entering one drives to 0 first, ``z_0`` before all others; -1 if none."""
    n = tableau.shape[0]
    best, cover_row = -1, -1
    for i in range(n):
        if tableau[i, column] > _PIVOT:
            if best < 0 or _comes_before(tableau, i, best, column):
                best = i
            # z_0 may leave before all others in a tie: that ends at a solution
            if basis[i] == 2 * n:
                cover_row = i
    if (
        cover_row >= 0
        and _ratio(tableau, cover_row, column) <= _ratio(tableau, best, column) + _TIE
    ):
        return cover_row
    return best


@numba.njit(**OPTIONS)
def _ratio(tableau, row, column):
    """Value of the entering variable at which a row's variable is 0; a right-hand side below 0 is
    rounding.
    """
    return max(tableau[row, tableau.shape[1] - 1], 0.0) / tableau[row, column]


@numba.njit(**OPTIONS)
def _comes_before(tableau, row, other, column):
    """Whether a row's ratio is lexicographically smaller: ratios first, then the rows of the
    inverse basis.
    """
    difference = _ratio(tableau, row, column) - _ratio(tableau, other, column)
    if abs(difference) > _TIE:
        return difference < 0.0
    scale, scale_other = 1.0 / tableau[row, column], 1.0 / tableau[other, column]
    for j in range(tableau.shape[0]):
        difference = tableau[row, j] * scale - tableau[other, j] * scale_other
        if abs(difference) > _TIE:
            return difference < 0.0
    return False


@numba.njit(**OPTIONS)
def contact_problem(w, b_n, b_t, mu):
    """The problem (M, q) of n contacts, unscaled: W (2 n, 2 n) with the n normal rows first, b_n
    and b_t (n,).
    """
    n = b_n.shape[0]
    matrix, vector = np.zeros((4 * n, 4 * n)), np.zeros(4 * n)
    for i in range(n):
        # rows and columns of c_+, c_- and lambda of contact i
        plus, minus, edge = n + i, 2 * n + i, 3 * n + i
        vector[i], vector[plus], vector[minus] = -b_n[i], -b_t[i], b_t[i]
        matrix[plus, edge] = matrix[minus, edge] = 1.0
        matrix[edge, i], matrix[edge, plus], matrix[edge, minus] = mu, -1.0, -1.0
        for j in range(n):
            nn, nt, tn, tt = w[i, j], w[i, n + j], w[n + i, j], w[n + i, n + j]
            matrix[i, j], matrix[i, n + j], matrix[i, 2 * n + j] = nn, nt, -nt
            matrix[plus, j], matrix[plus, n + j], matrix[plus, 2 * n + j] = tn, tt, -tt
            matrix[minus, j], matrix[minus, n + j], matrix[minus, 2 * n + j] = -tn, -tt, tt
    return matrix, vector


@numba.njit(**OPTIONS)
def solve_contacts(w, b_n, b_t, mu):
    """Impulses of n closed contacts: W (2 n, 2 n) with the n normal rows first, wanted less free
    velocities (n,).

    Returns
    -------
    c_n, c_t : (n,) N s; not numbers where the problem isn't solved, 0 where no contact needs an
        impulse
    residual : ``max |min(z, w)|`` of the problem in units of the largest b, recomputed from z
    """
    n = b_n.shape[0]
    c_n, c_t = np.zeros(n), np.zeros(n)
    # every contact separates as fast as it should by itself
    if b_n.max() <= 0.0:
        return c_n, c_t, 0.0
    # the problem's tolerances are absolute: scaled to entries of order one
    mobility = 0.0
    for i in range(2 * n):
        mobility = max(mobility, w[i, i])
    speed = max(np.abs(b_n).max(), np.abs(b_t).max())
    matrix, vector = contact_problem(w / mobility, b_n / speed, b_t / speed, mu)
    z, status = lemke(matrix, vector)
    residual = complementarity_residual(matrix, vector, z)
    if status == SOLVED:
        unit = speed / mobility
        for i in range(n):
            c_n[i], limit = unit * z[i], mu * unit * z[i]
            c_t[i] = min(
                max(unit * (z[n + i] - z[2 * n + i]), -limit), limit
            )  # rounding mustn't leave the cone
    else:
        # a wrong impulse must not pass for a solution
        c_n[:], c_t[:] = np.nan, np.nan
    return c_n, c_t, residual


@numba.njit(**OPTIONS)
def _closed_impulses(body, law, arms, closed, fall, along, u_n, u_t):
    """Impulses (n,), (n,) of the corners listed in ``closed`` (n,); velocities before the step are
    u_n and u_t.
    """
    n = closed.shape[0]
    inverse_mass, inverse_inertia = 1.0 / body.mass, 1.0 / body.inertia
    b_n, b_t = np.empty(n), np.empty(n)
    w = np.empty((2 * n, 2 * n))
    for i in range(n):
        t_i, n_i = arms[closed[i], 0], arms[closed[i], 1]
        b_n[i] = fall - (1.0 + law.restitution_e_n) * u_n[closed[i]]
        b_t[i] = along - (1.0 + law.restitution_e_t) * u_t[closed[i]]
        for j in range(n):
            t_j, n_j = arms[closed[j], 0], arms[closed[j], 1]
            # W = [N T]^T M^-1 [N T] with N = (n, r_t) and T = (t, -r_n)
            w[i, j] = inverse_mass + t_i * t_j * inverse_inertia
            w[i, n + j] = -t_i * n_j * inverse_inertia
            w[n + i, j] = -n_i * t_j * inverse_inertia
            w[n + i, n + j] = inverse_mass + n_i * n_j * inverse_inertia
    # the closed form, without pivots
    if n == 1:
        b_n[0], b_t[0] = contact_impulse(w[0, 0], w[0, 1], w[1, 1], b_n[0], b_t[0], law.friction_mu)
        return b_n, b_t
    c_n, c_t, _ = solve_contacts(w, b_n, b_t, law.friction_mu)
    return c_n, c_t


@numba.njit(**OPTIONS)
def run_steps(body, law, h, position, velocity, impulse_n, impulse_t, gap):
    """Fill ``position``, ``velocity`` (n + 1, 3), the impulses (n + 1, n_c; N s) and ``gap`` (n +
    1, n_c) from row 0.

    Row k of the impulses belongs to the step that led to state k. An ellipse's contact is closed as
    eq. 6 has it; a polygon's corners are whether they separate or not (above). A step whose problem
    isn't solved has impulses that aren't numbers, and so has every state from there on.
    """
    is_ellipse, n_contacts = body.corners.shape[0] == 0, gap.shape[1]
    inverse_mass, inverse_inertia = 1.0 / body.mass, 1.0 / body.inertia
    sin_a, cos_a = np.sin(body.slope), np.cos(body.slope)
    # what gravity takes from u_n, and from u_t, in a step
    fall, along = h * law.gravity * cos_a, h * law.gravity * sin_a
    arms, u_n, u_t = np.empty((n_contacts, 2)), np.empty(n_contacts), np.empty(n_contacts)
    closed = np.empty(n_contacts, dtype=np.int64)
    x, y, theta = position[0]
    v_x, v_y, omega = velocity[0]
    for k in range(position.shape[0]):
        # the centre's distance from the ground
        height = -sin_a * (x - body.x0) + cos_a * (y - body.y0)
        sin_phi, cos_phi = np.sin(theta - body.slope), np.cos(theta - body.slope)
        n_closed = 0
        for j in range(n_contacts):
            if is_ellipse:
                r_t, r_n = _ellipse_arm(sin_phi, cos_phi, body.a, body.b)
            else:
                r_t, r_n = _vertex_arm(sin_phi, cos_phi, body.corners[j, 0], body.corners[j, 1])
                r_n -= body.radius
            arms[j, 0], arms[j, 1] = r_t, r_n
            u_n[j] = -sin_a * v_x + cos_a * v_y + r_t * omega
            u_t[j] = cos_a * v_x + sin_a * v_y - r_n * omega
            gap[k, j] = height + r_n
            # eq. 6 for an ellipse; a polygon's corner counts as closed while it separates, too
            if gap[k, j] <= 0.0 and (not is_ellipse or u_n[j] <= CLOSING):
                closed[n_closed] = j
                n_closed += 1
        if k == position.shape[0] - 1:
            break
        push_n = push_t = twist = 0.0
        if n_closed > 0:
            c_n, c_t = _closed_impulses(body, law, arms, closed[:n_closed], fall, along, u_n, u_t)
            for i in range(n_closed):
                j = closed[i]
                impulse_n[k + 1, j], impulse_t[k + 1, j] = c_n[i], c_t[i]
                push_n += c_n[i]
                push_t += c_t[i]
                twist += arms[j, 0] * c_n[i] - arms[j, 1] * c_t[i]
        # eqs. 16 and 17: implicit Euler, so positions go on with the new velocity
        v_x += inverse_mass * (-sin_a * push_n + cos_a * push_t)
        v_y += inverse_mass * (cos_a * push_n + sin_a * push_t) - h * law.gravity
        omega += inverse_inertia * twist
        x, y, theta = x + h * v_x, y + h * v_y, theta + h * omega
        position[k + 1, 0], position[k + 1, 1], position[k + 1, 2] = x, y, theta
        velocity[k + 1, 0], velocity[k + 1, 1], velocity[k + 1, 2] = v_x, v_y, omega
