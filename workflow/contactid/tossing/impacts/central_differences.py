"""An impact's twists as the paper finds them: straight lines through central differences (section IV-A2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from contactid.tossing.impacts.impact import ImpactWindow
from contactid.tossing.impacts.sides import Candidate, Recording
from contactid.tossing.prepare.poses import central_differences
from contactid.tossing.simulate.box import State


def as_paper(recording: Recording, found: Candidate, window: ImpactWindow, reach: int) -> ImpactWindow:
    """A kept candidate's window with the paper's start and end; ``reach`` samples on either side of k_im.

    The start is the measured pose at k_im - ``reach``. Lines are fitted to the central differences (eqs. 12 to 15) that
    know nothing of the impact, those whose neighbours are on the same side: k_im - b is the last one before it and
    k_im + c the first one after it. An impact that is over between two samples so takes three steps, or four where it
    falls on one.
    """
    rows = found.sample + np.arange(-reach - 1, reach + 2)
    twist = central_differences(recording.position[rows], recording.orientation[rows], recording.time_step)[1:-1]
    last, first = int(found.last_pre or 0) - 1, int(found.first_post or 0) + 1
    offsets = np.arange(-reach, reach + 1)

    def line_at(chosen: np.ndarray, offset: int) -> np.ndarray:
        slope, level = np.polyfit(offsets[chosen], twist[chosen], 1)
        return slope * offset + level

    start = line_at(offsets <= last, -reach)
    pose = recording.position[rows[1]], recording.orientation[rows[1]]
    return replace(window, start=State(*pose, start[:3], start[3:]), end_twist=line_at(offsets >= first, first))
