"""The contact parameters of every simulator: names as in its own documentation, ranges and scales
to search in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.core.errors import ContactIdError

# this package's own, by the law of impacts
OWN, OWN_INCREMENTAL = "contactid", "contactid_incremental"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a contact model."""

    name: str  # as the simulator's module takes it
    # low, high: the range searched
    low: float
    high: float
    start: float  # the first value tried
    logarithmic: bool = True  # search evenly in its logarithm


def _friction(name: str) -> Parameter:
    return Parameter(name, 0.05, 0.65, 0.3, logarithmic=False)


_RESTITUTION = Parameter("restitution_e_n", 0.0, 0.8, 0.2, logarithmic=False)
# stiffness: a contact of a body of 0.1 to 10 kg then lasts between one and some hundred steps of 1
# to 2 ms
_CATALOGUE: dict[str, tuple[Parameter, ...]] = {
    OWN: (_friction("friction_mu"), _RESTITUTION),
    OWN_INCREMENTAL: (_friction("friction_mu"), _RESTITUTION),
    "mujoco": (
        _friction("friction"),  # geom/friction, first number
        Parameter("timeconst", 1e-3, 3e-2, 5e-3),  # s, geom/solref, first number
        Parameter("dampratio", 0.2, 2.0, 1.0),  # its second number
    ),
    "drake": (
        _friction("mu_dynamic"),  # CoulombFriction, dynamic_friction
        Parameter("point_contact_stiffness", 1e3, 1e6, 2e4),  # N/m, of the material
        Parameter("relaxation_time", 1e-4, 3e-2, 3e-3),  # s, of the material
    ),
    # of changeDynamics
    "pybullet": (
        _friction("lateralFriction"),
        Parameter("contactStiffness", 1e3, 1e6, 2e4),  # N/m
        Parameter("contactDamping", 1.0, 1e3, 3e1),  # N s/m
    ),
}
SIMULATORS: tuple[str, ...] = tuple(_CATALOGUE)
PEERS: tuple[str, ...] = tuple(name for name in SIMULATORS if name not in (OWN, OWN_INCREMENTAL))


def parameters_of(simulator: str) -> tuple[Parameter, ...]:
    """The parameters of a simulator, in the order of its parameter vectors.

    Raises :class:`ContactIdError` where the simulator is unknown.
    """
    if simulator not in _CATALOGUE:
        raise ContactIdError(
            f"unknown simulator {simulator!r}", f"Choose one of {', '.join(SIMULATORS)}"
        )
    return _CATALOGUE[simulator]


def values_at(parameter: Parameter, share: np.ndarray) -> np.ndarray:
    """A parameter's values at shares in [0, 1] of its range."""
    low, high, share = parameter.low, parameter.high, np.clip(share, 0.0, 1.0)
    if parameter.logarithmic:
        return np.exp(np.log(low) + share * (np.log(high) - np.log(low)))
    return low + share * (high - low)


def share_of(parameter: Parameter, value: float) -> float:
    """The share in [0, 1] of a parameter's value; the inverse of :func:`values_at`."""
    low, high = parameter.low, parameter.high
    if parameter.logarithmic:
        return float((np.log(value) - np.log(low)) / (np.log(high) - np.log(low)))
    return float((value - low) / (high - low))
