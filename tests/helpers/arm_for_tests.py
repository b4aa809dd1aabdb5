"""The arm of the tests, options as the default configuration has them, and balances that its models
keep to.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import yaml

from contactid.arm.rigid.impact_map import impact_map
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.arm.simulate.flexible_arm import FlexibleArm, FlexibleState
from contactid.arm.simulate.two_mass import GAP, TwoMass, TwoMassMotion

ROOT = Path(__file__).parents[2]
LWR4 = str(ROOT / "workflow/contactid/arm/robots/lwr4.csv")
CORRECTIONS = str(ROOT / "workflow/contactid/arm/robots/lwr4_corrections.csv")
PUBLISHED = str(ROOT / "workflow/resources/published/arm.csv")
CONFIG = yaml.safe_load((ROOT / "config/default.yaml").read_text())["arm"]


def lwr4(**options: Any) -> Robot:
    """The LWR 4+ as the study has it."""
    return load_robot(LWR4, **(CONFIG["robot"] | options))


def twin_of(**changes: Any) -> dict[str, Any]:
    """The study's twin, but for some options."""
    return CONFIG["twin"] | changes


def rebound(mass: np.ndarray, row: np.ndarray, velocity: np.ndarray, e: float) -> np.ndarray:
    """(n,) velocity after a frictionless impact with Newton's restitution e: the inelastic change,
    1 + e times.
    """
    return velocity + (1.0 + e) * (impact_map(mass, row, velocity) - velocity)


def momentum(system: TwoMass, states: np.ndarray) -> np.ndarray:
    """(n,) total momentum of (n, 6) states, kg m/s; from rest it is -F t, whatever happens between
    the bodies.
    """
    return states[:, 3:] @ system.masses


def energy(system: TwoMass, states: np.ndarray, *, compliant: bool = False) -> np.ndarray:
    """(n,) kinetic and elastic energy of (n, 6) states, J; ``compliant`` adds the elastic part of
    eq. 6.
    """
    kinetic = 0.5 * states[:, 3:] ** 2 @ system.masses
    elastic = 0.5 * system.k_rob * (states[:, 1] - states[:, 2]) ** 2
    depth = np.maximum(-states @ GAP, 0.0) if compliant else np.zeros(len(states))
    power = system.hertz_exponent_c + 1.0
    return kinetic + elastic + system.k_env * depth**power / power


def work_of_push(system: TwoMass, states: np.ndarray) -> np.ndarray:
    """(n,) work of the pushing force since the start, J."""
    return -system.pushing_force * (states[:, 2] - system.start[2])


def contact_force(motion: TwoMassMotion, times: np.ndarray) -> np.ndarray:
    """(n,) force between m0 and m1 at (n,) times, without impulses, N."""
    starts = np.array([phase.start for phase in motion.phases])
    owner = np.maximum(np.searchsorted(starts, times, side="right") - 1, 0)
    force = np.zeros(len(times))
    for k in np.unique(owner):
        force[owner == k] = motion.phases[k].contact_force(times[owner == k])
    return force


def arm_energy(arm: FlexibleArm, state: FlexibleState) -> float:
    """Kinetic energy of links and motors, energy of springs, and potential energy, J."""
    links = 0.5 * state.q_velocity @ arm.robot.mass_matrix(state.q) @ state.q_velocity
    motors = 0.5 * arm.motor_inertia @ state.theta_velocity**2
    springs = 0.5 * arm.stiffness @ (state.theta - state.q) ** 2
    potential = pin.computePotentialEnergy(arm.robot.model, arm.robot.model.createData(), state.q)
    return float(links + motors + springs + potential)
