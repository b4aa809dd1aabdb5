"""The tosses in ``examples/predict/``: simulated, by another truth than the run's that is to predict them.

``PYTHONPATH=workflow:tests/helpers python tests/helpers/example_tosses.py examples/predict`` writes them anew.
"""

from __future__ import annotations

import sys
from pathlib import Path

from contactid.tossing.simulate.box import ContactParameters
from iam_twins import write_twin

BOX = "box006.h5"
#: Not the default run's 0.40, 0.25 and 0: another surface, and a restitution along it that no scheme knows.
BOX_TRUTH = ContactParameters(0.38, 0.30, 0.15)


def write_box(folder: Path) -> None:
    """Six tosses of Box006 by hand, one of them onto a running belt, in the layout of the I.AM. archives."""
    write_twin(folder / BOX, "Box006", "validation", 6, 20261123, n_moving=1, truth=BOX_TRUTH)


if __name__ == "__main__":
    write_box(Path(sys.argv[1]))
