"""The paper's rig (section 6.2): where its ellipse is released, and a simulated throw on it.

The recordings of section 6.2 were never published. A twin of the throw in figures 22 and 23 takes
their place: what the paper states of it is as stated, and the rest says here that it is assumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from contactid.planar.simulate.bodies import PlanarBody, PlanarLaw, PlanarMotion, simulate
from contactid.planar.simulate.geometry import Ellipse, Ground, contacts
from contactid.planar.simulate.throws import (
    MeasuredThrow,
    body_and_ground,
    measured_throw,
    noise_of,
)

PLYWOOD = Ellipse(0.050, 0.025)  # m, section 6
BAR_SLOPE = -0.247  # rad, section 6.2
RELEASED_AT = 0.5  # rad, section 6.2
FALL = 0.200  # m, section 6.2
FRAME_RATE = 240.0  # frames/s, section 6.2
_ALONG = -0.070  # m from the bar's middle to below the release; assumed
_MU = 0.3  # the one that the paper identifies
_RESTITUTION = 0.4  # assumed: of wood on wood, so that the ellipse bounces
_DURATION = 0.42  # s; assumed: the fall takes 0.2 s, and three impacts follow


def release_pose(ground: Ground) -> np.ndarray:
    """(3,) configuration from which the ellipse falls 0.2 m, turned by 0.5 rad, before it touches
    the ground.
    """
    q = np.array([*(_ALONG * ground.tangent), RELEASED_AT])
    gap = float(contacts(PLYWOOD, ground, q).gap[0])
    # straight down: a gap along the normal is gap / cos slope along y
    q[1] += FALL - gap / np.cos(ground.slope)
    return q


def rig_throw(
    block: Mapping[str, Any], seed: int
) -> tuple[PlanarBody, PlanarMotion, MeasuredThrow]:
    """The body, its motion on the rig, and what a camera sees of it with the noise of the block's
    first model.
    """
    options, (body, _) = block["identification"], body_and_ground(block)
    ground, law = Ground(BAR_SLOPE), PlanarLaw(_MU, _RESTITUTION, 0.0, float(block["gravity"]))
    h = float(options["time_step"])
    motion = simulate(
        body,
        ground,
        law,
        release_pose(ground).tolist(),
        [0.0, 0.0, 0.0],
        time_step=h,
        steps=round(_DURATION / h) + 1,
    )
    sigma = noise_of(block, next(iter(options["noise"])))
    throw = measured_throw(
        motion,
        ground,
        duration=_DURATION,
        frames_per_second=FRAME_RATE,
        sigma=sigma,
        seed=seed,
    )
    return body, motion, throw
