"""The tosses in ``examples/predict/``: simulated, by another truth than the run's that is to
predict them.

``PYTHONPATH=workflow:tests/helpers python tests/helpers/example_tosses.py examples/predict`` writes
them anew.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from contactid.core import rotations
from contactid.tossing.readers.contactnets import HALF_WIDTH, stream_contactnets
from contactid.tossing.simulate.box import ContactParameters, State, SteppingOptions, simulate
from iam_twins import write_twin
from small_files import folder_of, toss

BOX, CUBE = "box006.h5", "cube"
#: Not the default run's 0.40 and 0.25: another surface.
BOX_TRUTH = ContactParameters(0.38, 0.30)
#: A hollow cube, true lengths over those of its camera, and what its corners do, by the incremental
#: law.
CUBE_INERTIA, CUBE_SCALE, CUBE_TRUTH = 1.1e-3, 1.02, ContactParameters(0.17, 0.28)
_RATE, _FRAMES, _SUBSTEPS, _NOISE = 148.0, 120, 50, np.array([2e-4, 1e-3])  # Hz, 1, 1, m and rad


def write_box(folder: Path) -> None:
    """Six tosses of Box006 by hand, one of them onto a running belt, in the layout of the I.AM.
    archives.
    """
    write_twin(folder / BOX, "Box006", "validation", 6, 20261123, n_moving=1, truth=BOX_TRUTH)


def write_cube(folder: Path, seed: int = 20261123) -> None:
    """Six tosses of a cube in the layout of the ContactNets tosses, without velocities, which
    nobody reads.
    """
    random, tables = np.random.default_rng(seed), {}
    folder_of(folder / CUBE, {"0": toss()})  # to ask the reader for the cube
    body = replace(
        stream_contactnets(folder / CUBE, licence="").body, inertia=CUBE_INERTIA * np.eye(3)
    )
    options = SteppingOptions(1.0 / _RATE, substeps=_SUBSTEPS, law="incremental")
    while len(tables) < 6:
        state = State(
            np.array(
                [random.uniform(-0.4, -0.2), random.uniform(-0.1, 0.1), random.uniform(0.16, 0.3)]
            ),
            rotations.exp(random.uniform(-1.5, 1.5, 3)),
            np.array(
                [random.uniform(0.3, 1.2), random.uniform(-0.3, 0.3), random.uniform(-0.5, 0.5)]
            ),
            random.uniform(-8, 8, 3),
        )
        run = simulate(body, state, CUBE_TRUTH, options, _FRAMES)
        if np.linalg.norm(run.linear_velocity[-25:], axis=1).max() > 1e-3:
            continue  # not at rest in time
        shift, turn = (scale * random.normal(size=(_FRAMES, 3)) for scale in _NOISE)
        turned = rotations.as_rotation(run.orientation) * rotations.as_rotation(rotations.exp(turn))
        table = np.zeros((_FRAMES, 19))
        table[:, :3] = (run.position / CUBE_SCALE + shift) / HALF_WIDTH
        table[:, 3:7] = rotations.continuous(rotations.as_quaternions(turned))
        tables[str(len(tables))] = table
    folder_of(folder / CUBE, tables)


if __name__ == "__main__":
    write_box(Path(sys.argv[1]))
    write_cube(Path(sys.argv[1]))
