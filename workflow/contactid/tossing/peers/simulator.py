"""The small interface that each other simulator is put behind: pose and twist in, trajectory out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from contactid.tossing.peers.principal import PrincipalBody


class Simulator(Protocol):
    """A box over the plane z = 0 at rest, in one simulator with one set of contact parameters.

    A class of this kind is called with the body in its principal frame P, gravity (3,) m/s2, the length of a
    simulation step in s, and the contact parameters by name; it may raise ``ContactIdError`` for a value that it
    can't take.

    Attributes
    ----------
    name, version : of the simulator
    parameters : names of the contact parameters
    seconds : wall time spent in the simulator's own stepping since the object was made
    """

    name: str
    version: str
    parameters: tuple[str, ...]
    seconds: float

    def __init__(
        self, body: PrincipalBody, gravity: np.ndarray, step: float, parameters: Mapping[str, float]
    ) -> None: ...

    def simulate(self, start: np.ndarray, n_samples: int, substeps: int) -> tuple[np.ndarray, np.ndarray]:
        """Poses of P: (n_samples - 1, 3) m and (n_samples - 1, 4), real part first, without the start.

        ``start`` (13,) is position, quaternion, velocity of P's origin and angular velocity, all in C; the velocity
        is that of half a step earlier, as semi-implicit Euler steps hold it.
        """
        ...
