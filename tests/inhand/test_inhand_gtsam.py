"""The paper's factor graph against GTSAM's, where its wheel is installed (pip install gtsam).

GTSAM has its own charts of rotations, priors, elimination and damping. The residual of Newton and
Euler is ours (pinocchio holds it in another test), its derivatives here are differences.
"""

from functools import partial

import numpy as np
import pytest

from contactid.core.inertia import InertialParameters
from contactid.inhand.identify.factor_graph import FactorGraph
from contactid.inhand.identify.factors import dynamics_residual
from contactid.inhand.identify.kinematics import CENTRAL, REACH, body_motion
from contactid.inhand.identify.levenberg_marquardt import minimise
from contactid.inhand.identify.methods import GRAPH_METHODS
from contactid.inhand.readers.recordings import recorded_signals
from grasp_for_tests import BODY, recording

gtsam = pytest.importorskip("gtsam", reason="the wheel of gtsam isn't installed")
symbol = gtsam.symbol

WEIGHTS = {
    "orientation": 1e-3, "position": 1e-3, "contact_position": 1e-3, "least_force": 1e-2, "contact_torque": 1e-3,
    "dynamics_force": 1e-2, "dynamics_torque": 1e-3,
}  # fmt: skip
LIMITS = {"max_iterations": 300, "relative_decrease": 1e-12, "absolute_decrease": 1e-14}
NOISE = {"force_sd": 0.05, "position_sd": 3e-4, "orientation_sd": 1e-3, "point_sd": 1e-3}
BODY_KEY = symbol("b", 0)
_STEP = 1e-6  # of differences, in radians, metres and newtons; of the parameters, relative


def acting_keys(kind: str, k: int, contacts: int) -> list[int]:
    return [symbol(kind, k * contacts + c) for c in range(contacts)]


def dynamics_keys(signals, k: int) -> list[int]:
    around = range(k - REACH[CENTRAL], k + REACH[CENTRAL] + 1)
    poses = [symbol(kind, j) for j in around for kind in "rx"]
    acting = [key for kind in "fp" for key in acting_keys(kind, k, signals.contacts)]
    return [*poses, *acting, BODY_KEY]


def dynamics_error(signals, k: int, values) -> np.ndarray:
    """(6,) of one inner sample, by this package's equations."""
    around = np.arange(k - REACH[CENTRAL], k + REACH[CENTRAL] + 1)
    motion = body_motion(
        signals.time[around],
        np.array([values.atRot3(symbol("r", j)).matrix() for j in around]),
        np.array([values.atPoint3(symbol("x", j)) for j in around]),
        signals.gravity,
        CENTRAL,
    )
    acting = [
        [values.atPoint3(key) for key in acting_keys(kind, k, signals.contacts)] for kind in "fp"
    ]
    return dynamics_residual(motion, np.array([acting]), values.atVector(BODY_KEY))[0]


def slope(error, values, key: int) -> np.ndarray:
    """(6, d) central differences along GTSAM's own chart of a variable."""
    columns = []
    size = 3 if key != BODY_KEY else 10
    for axis in range(size):
        step = _STEP * (np.abs(values.atVector(key)[axis]) + 1e-2 if key == BODY_KEY else 1.0)
        sides = []
        for sign in (1.0, -1.0):
            moved = gtsam.VectorValues()
            moved.insert(key, sign * step * np.eye(size)[axis])
            sides.append(error(values.retract(moved)))
        columns.append((sides[0] - sides[1]) / (2.0 * step))
    return np.array(columns).T


def custom(signals, k: int, noise):
    keys = dynamics_keys(signals, k)

    def error(_, values, jacobians):
        if jacobians is not None:
            for i, key in enumerate(keys):
                jacobians[i] = slope(partial(dynamics_error, signals, k), values, key)
        return dynamics_error(signals, k, values)

    return gtsam.CustomFactor(noise, keys, error)


def problem(signals, start: InertialParameters):
    """GTSAM's graph of a recording, and values to start from: everything as measured."""
    graph, values = gtsam.NonlinearFactorGraph(), gtsam.Values()
    isotropic, diagonal = gtsam.noiseModel.Isotropic.Sigma, gtsam.noiseModel.Diagonal.Sigmas
    spread = diagonal(np.repeat([WEIGHTS["dynamics_force"], WEIGHTS["dynamics_torque"]], 3))
    for k in range(signals.samples):
        rotation = gtsam.Rot3(signals.rotations[k])
        points = {symbol("x", k): (signals.positions[k], isotropic(3, WEIGHTS["position"]))}
        for c, (force, point) in enumerate(
            zip(acting_keys("f", k, signals.contacts), acting_keys("p", k, signals.contacts), strict=True)
        ):  # fmt: skip
            deviation = np.maximum(signals.force_sd[k, c], WEIGHTS["least_force"])
            points[force] = (signals.forces[k, c], diagonal(deviation))
            points[point] = (signals.points[k, c], isotropic(3, WEIGHTS["contact_position"]))
        values.insert(symbol("r", k), rotation)
        turned = isotropic(3, WEIGHTS["orientation"])
        graph.push_back(gtsam.PriorFactorRot3(symbol("r", k), rotation, turned))
        for key, (measured, noise) in points.items():
            values.insert(key, measured)
            graph.push_back(gtsam.PriorFactorPoint3(key, measured, noise))
        if REACH[CENTRAL] <= k < signals.samples - REACH[CENTRAL]:
            graph.push_back(custom(signals, k, spread))
    values.insert(BODY_KEY, start.vector)
    return graph, values


def test_the_same_cost_and_the_same_minimum():
    signals = recorded_signals(recording(6, 0.04, wrist=False, **NOISE))
    own = FactorGraph(signals, GRAPH_METHODS["baseline_fg"], WEIGHTS, CENTRAL, BODY)
    first = BODY
    start = own.start(first)
    graph, values = problem(signals, first)
    assert graph.error(values) == pytest.approx(own.evaluate(start).cost, rel=1e-9)
    settings = gtsam.LevenbergMarquardtParams()
    settings.setMaxIterations(300)
    settings.setRelativeErrorTol(1e-9)
    settings.setAbsoluteErrorTol(1e-11)
    answer = gtsam.LevenbergMarquardtOptimizer(graph, values, settings).optimize()
    ours = minimise(own, start, LIMITS)
    assert ours.converged and ours.cost == pytest.approx(graph.error(answer), rel=1e-6)
    theirs, vector = answer.atVector(BODY_KEY), ours.state.chart.vector
    assert vector == pytest.approx(theirs, rel=1e-3, abs=1e-3 * np.abs(theirs[4:]).max())
    turned = [answer.atRot3(symbol("r", k)).matrix() for k in range(signals.samples)]
    assert ours.state.rotations == pytest.approx(np.array(turned), abs=1e-5)
