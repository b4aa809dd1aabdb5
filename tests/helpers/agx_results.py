"""AGX Dynamics' result file as AGX itself would write it, from motions of this package's own simulator."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import h5py
import numpy as np

from contactid.core.atomic import replacing
from contactid.core.errors import ContactIdError
from contactid.tossing.peers.agx import _ATTRIBUTE, _GROUP, _PARAMETERS, HEADER, AgxRun, _from_columns, _to_columns
from contactid.tossing.simulate.box import ContactParameters, Trajectory


def run_of(parameters: ContactParameters, motion: Trajectory) -> AgxRun:
    """A motion of this package's own simulator as a run to be written for users of AGX."""
    states = [motion.position, motion.orientation, motion.linear_velocity, motion.angular_velocity]
    return AgxRun(parameters, np.hstack(states))


def read_states(path: str | Path) -> np.ndarray:
    """States (n, 13) of AGX's input csv."""
    assert Path(path).read_text(encoding="utf-8").split("\n", 1)[0] == ",".join(HEADER)
    return _from_columns(np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2), str(path))


def write_results(path: str | Path, runs: Sequence[Sequence[AgxRun]]) -> None:
    """Write simulations ``runs[state][parameter set]`` as AGX's result file; every state has the same sets."""
    if not runs or not runs[0]:
        raise ContactIdError(f"{path}: no simulation to write", "Give at least one")
    sets = [run.parameters for run in runs[0]]
    for index, of_state in enumerate(runs):
        if [run.parameters for run in of_state] != sets:
            raise ContactIdError(f"{path}: state {index} has other parameters than state 0", "Simulate all alike")
    with replacing(path) as partial, h5py.File(partial, "w") as file:
        group = file.create_group(_GROUP)
        for number, run in enumerate(run for of_state in runs for run in of_state):
            columns = _to_columns(run.states)
            if not np.isfinite(columns).all():
                raise ContactIdError(f"{path}: simulation {number} is not finite", "Leave failed simulations out")
            group[str(number)] = columns
            values = (run.parameters.friction_mu, run.parameters.restitution_e_n, run.parameters.restitution_e_t)
            named = zip(_PARAMETERS, values, strict=True)
            group[str(number)].attrs[_ATTRIBUTE] = ",".join(f"{name}={float(value)!r}" for name, value in named)
