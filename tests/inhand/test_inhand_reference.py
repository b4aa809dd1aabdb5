"""The likeliest body against a program in Pyomo that IPOPT solves: another form of the same
problem.
"""

import numpy as np
import pyomo.environ as pyo
import pytest

from contactid.core.inertia import (
    InertialParameters,
    geodesic_distance,
    hull_halfspaces,
    pseudo_inertia,
    uniform_body,
)
from contactid.core.solve import solve
from contactid.inhand.identify.likeliest_body import PRIOR_WEIGHT, likeliest_body
from grasp_for_tests import HULL

SQUARINGS, ORDER, MARGIN = 3, 7, 1e-3


def product(first, second):
    return [[sum(first[i][k] * second[k][j] for k in range(4)) for j in range(4)] for i in range(4)]


def reference(answer, known, hull, weight, weighed):
    """``P = U exp(S) U^T``, U the factor of the uniform body's P: the squared distance to it is
    ``|S|^2 / 4``.

    The part of S that is a multiple of the identity is left out, since the mass has a prior of its
    own. The exponential is its series of order 7, of S / 8, squared three times; each step has
    variables of its own.
    """
    model = pyo.ConcreteModel()
    model.s = pyo.Var([(i, j) for i in range(4) for j in range(i + 1)], initialize=0.0)
    s = [[model.s[max(i, j), min(i, j)] for j in range(4)] for i in range(4)]
    model.steps = pyo.Var(
        range(ORDER + SQUARINGS), range(4), range(4), initialize=lambda _, n, i, j: float(i == j)
    )
    model.same = pyo.ConstraintList()

    def named(number, expressions):
        for i in range(4):
            for j in range(4):
                model.same.add(model.steps[number, i, j] == expressions[i][j])
        return [[model.steps[number, i, j] for j in range(4)] for i in range(4)]

    power = [[float(i == j) for j in range(4)] for i in range(4)]
    for number, order in enumerate(range(ORDER, 0, -1)):
        step = product(s, power)
        power = named(
            number,
            [
                [float(i == j) + step[i][j] / (2**SQUARINGS * order) for j in range(4)]
                for i in range(4)
            ],
        )
    for number in range(ORDER, ORDER + SQUARINGS):
        power = named(number, product(power, power))
    root = np.linalg.cholesky(pseudo_inertia(uniform_body(1.0, hull).vector)).tolist()
    matrix = product(product(root, power), [list(row) for row in zip(*root, strict=True)])
    # tensor entries xx, yy, zz, xy, xz, yz about the origin from the second moments; mass and first
    # moment
    trace = matrix[0][0] + matrix[1][1] + matrix[2][2]
    entries = [trace - matrix[i][i] for i in range(3)] + [
        -matrix[0][1],
        -matrix[0][2],
        -matrix[1][2],
    ]
    vector = [matrix[3][3], *(matrix[i][3] for i in range(3)), *entries]
    normals, offsets = hull_halfspaces(hull)
    size = float(np.ptp(hull, axis=0).max())
    model.inside = pyo.ConstraintList()
    for normal, offset in zip(normals, offsets, strict=True):
        model.inside.add(
            sum(float(normal[i]) * vector[1 + i] for i in range(3))
            <= (float(offset) - MARGIN * size) * vector[0]
        )
    apart = [value - float(wanted) for value, wanted in zip(vector, answer, strict=True)]
    white = np.linalg.cholesky(known).T
    misfit = sum(sum(float(row[k]) * apart[k] for k in range(10)) ** 2 for row in white)
    mean = sum(s[i][i] for i in range(4)) / 4.0
    turned = sum((s[i][j] - float(i == j) * mean) ** 2 for i in range(4) for j in range(4))
    heavier = weight / PRIOR_WEIGHT * pyo.log(vector[0] / weighed) ** 2
    model.cost = pyo.Objective(expr=0.5 * misfit + 0.125 * weight * turned + 0.5 * heavier)
    solution = solve(model)
    assert solution.converged
    return InertialParameters.from_vector(
        np.array([pyo.value(value) for value in vector])
    ), pyo.value(model.cost)


@pytest.mark.parametrize("weight", [1.0, 200.0])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_search_finds_the_optimum_that_ipopt_finds(seed, weight):
    """For answers that no body has, too: the data's errors are as large as the entries themselves."""
    random = np.random.default_rng(seed)
    uniform = uniform_body(0.5, HULL)
    scale = np.abs(uniform.vector) + np.repeat([0.05, 0.002, 2e-4], (1, 3, 6))
    answer = uniform.vector + scale * random.normal(size=10)
    mixed = random.normal(size=(10, 10)) / scale
    known = 30.0 * mixed.T @ mixed
    ours, settled = likeliest_body(answer, known, HULL, weight, uniform, 0.4)
    theirs, _ = reference(answer, known, HULL, weight, 0.4)
    assert settled
    assert ours.mass == pytest.approx(theirs.mass, rel=1e-3)
    assert geodesic_distance(ours, theirs) < 1e-3
