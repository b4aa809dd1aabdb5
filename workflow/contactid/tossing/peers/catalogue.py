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
    documented: str  # where the simulator's documentation has it
    unit: str  # 1 where dimensionless
    # low, high: the range searched
    low: float
    high: float
    start: float  # the first value tried
    logarithmic: bool  # search evenly in its logarithm


def _friction(name: str, documented: str) -> Parameter:
    return Parameter(name, documented, "1", 0.05, 0.65, 0.3, logarithmic=False)


def _restitution(name: str, documented: str, start: float) -> Parameter:
    return Parameter(name, documented, "1", 0.0, 0.8, start, logarithmic=False)


# stiffness: a contact of a body of 0.1 to 10 kg then lasts between one and some hundred steps of 1
# to 2 ms
_CATALOGUE: dict[str, tuple[Parameter, ...]] = {
    OWN: (
        _friction("friction_mu", "mu of eq. 11"),
        _restitution("restitution_e_n", "e_N of eq. 7", 0.2),
    ),
    OWN_INCREMENTAL: (
        _friction("friction_mu", "mu of eq. 11"),
        _restitution("restitution_e_n", "Poisson's restitution", 0.2),
    ),
    "mujoco": (
        _friction("friction", "geom/friction, first number"),
        Parameter(
            "timeconst", "geom/solref, first number", "s", 1e-3, 3e-2, 5e-3, logarithmic=True
        ),
        Parameter("dampratio", "geom/solref, second number", "1", 0.2, 2.0, 1.0, logarithmic=True),
    ),
    "drake": (
        _friction("mu_dynamic", "CoulombFriction, dynamic_friction"),
        Parameter(
            "point_contact_stiffness",
            "material/point_contact_stiffness",
            "N/m",
            1e3,
            1e6,
            2e4,
            True,
        ),
        Parameter(
            "relaxation_time", "material/relaxation_time", "s", 1e-4, 3e-2, 3e-3, logarithmic=True
        ),
    ),
    "pybullet": (
        _friction("lateralFriction", "changeDynamics, lateralFriction"),
        Parameter(
            "contactStiffness",
            "changeDynamics, contactStiffness",
            "N/m",
            1e3,
            1e6,
            2e4,
            logarithmic=True,
        ),
        Parameter(
            "contactDamping",
            "changeDynamics, contactDamping",
            "N s/m",
            1.0,
            1e3,
            3e1,
            logarithmic=True,
        ),
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
