"""What fingertips may fail to sense, by name: the twins' own residual forces changed, and other
kinds of a like size.

A disturbance is either changes of the twins' ``residual`` strengths (``inhand: twin``), or a
function of the exact forces, of the load ``(n, k, 3)`` N that each contact would carry without
squeezing, and of a generator, whose value ``(n, k, 3)`` N in B is acting and isn't sensed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from contactid.core import rotations
from contactid.inhand.readers.twins import HeldObject
from contactid.inhand.simulate.grasped_object import GRAVITY

Residual = Callable[[HeldObject, np.ndarray, np.random.Generator], np.ndarray]
_PRELOAD = 0.7  # of the load at the start, as in the twins
# of the twins' residuals the load share alone
_ALONE = {"preload_share": 0.0, "spread": 0.0, "transient_force": 0.0}


def _relaxes(held: HeldObject, load: np.ndarray, random: np.random.Generator) -> np.ndarray:
    # N in B: the first sample's load, fading with 1 s
    return _PRELOAD * load[:1] * np.exp(-held.trajectory.time)[:, None, None]


def _grows(held: HeldObject, load: np.ndarray, random: np.random.Generator) -> np.ndarray:
    time = held.trajectory.time
    # from 0.5 to 1.5 of the preload: threefold
    return _PRELOAD * load[:1] * (0.5 + time / time[-1])[:, None, None]


def _jumps(held: HeldObject, load: np.ndarray, random: np.random.Generator) -> np.ndarray:
    half_seconds = (2.0 * (held.trajectory.time - held.trajectory.time[0])).astype(int)
    shares = random.uniform(0.2, 1.2, (half_seconds[-1] + 1, load.shape[1]))
    # constant in B between jumps, each finger on its own
    return load[:1] * shares[half_seconds][:, :, None]


def _gains(held: HeldObject, load: np.ndarray, random: np.random.Generator) -> np.ndarray:
    # a gain error is unsensed force in proportion
    return held.force * (0.1 * random.standard_normal(load.shape[1]))[:, None]  # type: ignore[index]


def _one_finger(held: HeldObject, load: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return held.force * np.where(np.array(held.contact_names) == "middle", 0.4, 0.0)[:, None]


def _all_low(held: HeldObject, load: np.ndarray, random: np.random.Generator) -> np.ndarray:
    return 0.15 * held.force


def _lag(held: HeldObject, load: np.ndarray, random: np.random.Generator) -> np.ndarray:
    time = held.trajectory.time
    # first sample not before t - 0.05 s; held at the start
    late = np.searchsorted(time, time - 0.05)
    return held.force - held.force[late]


def _cable(held: HeldObject, load: np.ndarray, random: np.random.Generator) -> np.ndarray:
    weight = _PRELOAD * held.body.parameters.mass * GRAVITY * np.array([0.0, 0.0, 1.0])
    in_body = rotations.as_rotation(held.trajectory.orientation).inv().apply(weight)
    return np.broadcast_to(in_body[:, None] / load.shape[1], load.shape)


DISTURBANCES: Mapping[str, Mapping[str, float] | Residual] = {
    "none": {**_ALONE, "load_share": 0.0},
    "load share 0": {"load_share": 0.0},
    "load share 0.08, as in the twins": {},
    "load share 0.16": {"load_share": 0.16},
    "load share 0.6, no preload": {**_ALONE, "load_share": 0.6},
    "preload 0.35 and load share 0.3": {**_ALONE, "preload_share": 0.35, "load_share": 0.3},
    "preload relaxes in 1 s": _relaxes,
    "preload grows threefold": _grows,
    "preload jumps every 0.5 s": _jumps,
    "gains differ by 10 % per finger": _gains,
    "one finger reads 40 % low": _one_finger,
    "all forces read 15 % low": _all_low,
    "forces lag by 50 ms": _lag,
    "a cable carries 0.7 of the weight": _cable,
}
STATED_SHARE: Mapping[
    str, float
] = {  # of the load that isn't sensed, as a user would state it; all others have none
    "load share 0.08, as in the twins": 0.08,
    "load share 0.16": 0.16,
    "load share 0.6, no preload": 0.6,
    "preload 0.35 and load share 0.3": 0.3,
    "one finger reads 40 % low": 0.1,
    "all forces read 15 % low": 0.15,
}
