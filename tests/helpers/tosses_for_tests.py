"""Simulated recordings with known truth, built without going through files."""

import numpy as np

from contactid.core import rotations
from contactid.sources.motion import BodyProperties, MotionStream, Recording
from contactid.tossing.prepare.preprocess import preprocess
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from motion_in_memory import collect

RATE = 200.0
TRUTH = ContactParameters(0.25, 0.1)
EVENTS = {"rule": "data_driven", "rest_speed": 0.02, "fall_tolerance": 2.0}
SETTINGS = {
    "share": 1.0,
    "seed": 0,
    "exclude_tumbling": False,
    "require_usable": True,
    "events": EVENTS,
}


def box(center=(0.0, 0.0, 0.0), inertia=None):
    vertices = 0.05 * np.array(
        [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float
    )
    matrix = np.diag([5e-4, 6e-4, 7e-4]) if inertia is None else inertia
    return BodyProperties(vertices, 0.4, matrix, np.array(center))


def recordings(body, count, seed, *, noise=0.0, scale=1.0, seconds=1.4, substeps=4):
    """Tosses that start in flight and end at rest; a camera that isn't calibrated divides lengths
    by ``scale``.
    """
    random = np.random.default_rng(seed)
    made = []
    while len(made) < count:
        state = State(
            np.array([0.0, 0.0, random.uniform(0.16, 0.22)]),
            rotations.exp(random.uniform(-1.2, 1.2, 3)),
            np.array(
                [random.uniform(0.3, 0.8), random.uniform(-0.3, 0.3), random.uniform(-0.2, 0.3)]
            ),
            random.uniform(-6, 6, 3),
        )
        run = simulate(
            body, state, TRUTH, SteppingOptions(1 / RATE, substeps=substeps), round(seconds * RATE)
        )
        if np.linalg.norm(run.linear_velocity[-20:], axis=1).max() > 1e-3:
            continue
        turn = rotations.as_rotation(
            rotations.exp(noise * 5 * random.normal(size=(len(run.position), 3)))
        )
        made.append(
            Recording(
                name=f"toss{len(made):03d}",
                position=(run.position + noise * random.normal(size=run.position.shape)) / scale,
                orientation=rotations.continuous(
                    rotations.as_quaternions(rotations.as_rotation(run.orientation) * turn)
                ),
            )
        )
    return made


def motion(made, body):
    return collect(MotionStream(body, "TestBox", RATE, "test", "none", True, iter(made)))


def prepare_tosses(data, **changes):
    """A canonical dataset prepared, by default all of it for identification and tosses that tumble
    among it.
    """
    return preprocess(data, **{**SETTINGS, **changes})
