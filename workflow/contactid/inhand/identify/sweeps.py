"""All sweeps over simulated recordings in hand, in one process: as jobs of their own most took as
long to start as to compute.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from contactid.inhand.identify.ablation import write_ablation, write_disturbances
from contactid.inhand.identify.active_constraint import write_active_constraint
from contactid.inhand.identify.cost import write_differences, write_speed
from contactid.inhand.identify.motion_strength import write_strengths
from contactid.inhand.identify.recorded_information import write_identifiability


def write_sweeps(
    objects: str,
    study: Mapping[str, Any],
    ablation: str,
    disturbances: str,
    strengths: str,
    times: str,
    errors: str,
    choices: str,
    identifiability: str,
    active_constraint: str,
) -> None:
    """Write each sweep's csv; what is in it stands at the function that is called here.

    Parameters
    ----------
    objects : the file of the objects in hand
    study : the blocks of the study's configuration
    ablation, disturbances, strengths, times, errors, choices, identifiability, active_constraint : to write
    """
    write_ablation(objects, study, ablation)
    write_disturbances(objects, study, disturbances)
    write_strengths(objects, study, strengths)
    write_speed(objects, study, times)
    write_differences(objects, study, errors, choices)
    seed = study["identifiability"]["seed"]
    write_identifiability(objects, study["twin"], seed, identifiability)
    write_active_constraint(objects, study, active_constraint)
