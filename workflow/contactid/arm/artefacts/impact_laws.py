"""What other contact laws than the frictionless inelastic one would make of Table II's impacts.

Every printed velocity before the impact, in the posture of its direction, under each friction and
restitution (:mod:`contactid.arm.models.impact`). The postures are those with which the frictionless
inelastic law meets the printed predictions, so the table shows how much the laws differ, not which
one is right.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.artefacts.postures import PER_ANGLE, row_impacts, row_postures
from contactid.arm.models.impact import Contacts, ImpactLaw, solve_impact
from contactid.arm.rigid.impact_map import kinetic_energy
from contactid.arm.rigid.postures import upright_postures
from contactid.arm.rigid.printed_table import LABELS, printed_table
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.output.tables import read_csv, write_exact


def solve_laws(
    links: str, robot: Mapping[str, Any], laws: Mapping[str, Any], published: str, table: str
) -> None:
    """Write :func:`law_table` of the described arm; ``robot`` and ``laws`` are blocks of the
    configuration.
    """
    write_exact(
        law_table(load_robot(links, **robot), printed_table(read_csv(published)), **laws), table
    )


def law_table(
    robot: Robot,
    printed: pd.DataFrame,
    *,
    friction_mu: Sequence[float],
    restitution_e_n: Sequence[float],
    facets: int,
) -> pd.DataFrame:
    """``ext_impact_laws``: one row per printed experiment and law, all combinations of the
    coefficients.

    Columns dataset, velocity_m_s, angle_deg, friction_mu, restitution_e_n, state, vx_plus, vy_plus,
    vz_plus (m/s), impulse_n_ns, impulse_x_ns, impulse_y_ns, energy_before_j, energy_lost_j,
    sticking_mu (friction from which the tip sticks), converged, residual, iterations, seconds;
    columns of an impact that wasn't solved are its last point's.
    """
    groups = row_postures(robot, printed, PER_ANGLE, upright_postures(robot))
    rows = []
    for k, mass, jacobian, before in row_impacts(robot, printed, groups):
        labels = {name: printed[name].iloc[k] for name in LABELS}
        for e, mu in itertools.product(restitution_e_n, friction_mu):
            found = solve_impact(mass, Contacts.of_tip(jacobian), before, ImpactLaw(mu, e, facets))
            # rounding that differs between machines is left out of the file
            after, along = np.round(jacobian @ found.velocity, 12), np.round(found.impulse_t[0], 12)
            law = {
                "friction_mu": mu,
                "restitution_e_n": e,
                "state": found.states[0],
                "vx_plus": after[0],
                "vy_plus": after[1],
                "vz_plus": after[2],
                "impulse_n_ns": found.impulse_n[0],
                "impulse_x_ns": along[0],
                "impulse_y_ns": along[1],
                "energy_before_j": kinetic_energy(mass, before),
                "energy_lost_j": found.energy_lost,
                "sticking_mu": sticking_friction(mass, jacobian, before, e),
                "converged": found.converged,
                "residual": found.residual,
                "iterations": found.iterations,
                "seconds": found.seconds,
            }
            rows.append(labels | law)
    return pd.DataFrame(rows).sort_values(
        [*LABELS, "restitution_e_n", "friction_mu"], ignore_index=True
    )


def impact_laws(laws: str) -> pd.DataFrame:
    """``ext_impact_laws``: every impact, from the file of :func:`solve_laws`."""
    return read_csv(laws)


def sticking_friction(
    mass: np.ndarray, jacobian: np.ndarray, velocity: np.ndarray, restitution: float
) -> float:
    """Least mu (of a disk) at which the impulse that stops the tip's sliding lies within the
    friction cone.

    That impulse has ``w+ = (0, 0, -e w_N-)``.
    """
    before = jacobian @ velocity
    # change of velocity that stops the slide and meets restitution
    wanted = np.array([0.0, 0.0, -restitution * before[2]]) - before
    # W^-1 of all three directions
    impulse = np.linalg.solve(jacobian @ np.linalg.solve(mass, jacobian.T), wanted)
    return float(np.hypot(impulse[0], impulse[1]) / impulse[2]) if impulse[2] > 0.0 else np.inf
