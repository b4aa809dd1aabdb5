"""The decomposition of figure 5: what a one-mode fit of the velocity of m2 says of the rigid post-impact velocity.

The rigid robot's velocity after the impact is known here without a model of contact: all bodies then move together, so
it is the momentum over the total mass, -F t / (m0 + m1 + m2), at every instant, and that is also what the velocities
of the flexible models settle to. Errors are relative to it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from contactid.arm.identify.modal_fit import ModalFit, fit_modes
from contactid.arm.simulate.two_mass import TwoMassMotion
from contactid.arm.simulate.two_mass_phases import impact_map_velocity
from contactid.core.errors import ContactIdError

SETTLED = 0.02  # of the rigid velocity
CONVERGED_AFTER = 0.1  # s; the paper's "about 100 ms"


@dataclass(frozen=True)
class Decomposition:
    """Figure 5.

    Attributes
    ----------
    time : (n,) since the impact, s
    velocity : (n,) of m2, m/s
    pre_velocity : of m2 right before the impact, m/s
    mapped : post-impact velocity by the impact map from ``pre_velocity``, m/s
    fit : one mode, offset tied to the pre-impact velocity (eq. 7)
    """

    time: np.ndarray
    velocity: np.ndarray
    pre_velocity: float
    mapped: float
    fit: ModalFit


def decompose(motion: TwoMassMotion, window: float, sample_interval: float) -> Decomposition:
    """Fit the velocity of m2 over ``window`` s after the first impact.

    Raises
    ------
    ContactIdError
        Where the motion is shorter than the window, or the fit refuses the signal.
    """
    impact = motion.impact_time
    count = int(np.floor(window / sample_interval * (1.0 + 1e-9))) + 1
    time = sample_interval * np.arange(count)
    if impact + time[-1] > motion.duration:
        raise ContactIdError(
            f"two-mass model {motion.model}: a window of {window:g} s after the impact outlasts the motion",
            "Simulate longer, or shorten the window",
        )
    velocity = motion.states(impact + time)[:, 5]
    before = float(motion.states(np.array([impact]), before=True)[0, 5])
    fit = fit_modes(time, velocity, before, modes=1, offset="pre_velocity")
    return Decomposition(time, velocity, before, impact_map_velocity(motion.system, before), fit)


def rigid_velocity(motion: TwoMassMotion, times: np.ndarray) -> np.ndarray:
    """(n,) velocity of all bodies as one at (n,) times after the impact, m/s."""
    return -motion.system.pushing_force * np.asarray(times, dtype=float) / motion.system.total_mass


def settling(motion: TwoMassMotion, resolution: float = 1e-4) -> tuple[float, float]:
    """How the velocity of m2 settles to the rigid one.

    Returns
    -------
    time : from the impact until v2 stays within 2 % of the rigid velocity, s; NaN if it never does
    late : largest departure relative to the rigid velocity from 100 ms after the impact on; NaN without such times

    ``resolution`` is that of the instants looked at, s.
    """
    times = np.arange(motion.impact_time, motion.duration, resolution)
    departure = np.abs(motion.states(times)[:, 5] / rigid_velocity(motion, times) - 1.0)
    late = departure[round(CONVERGED_AFTER / resolution) :]
    outside = np.flatnonzero(departure > SETTLED)
    settled = 0.0
    if len(outside):
        last = int(outside[-1]) + 1
        settled = float(times[last] - motion.impact_time) if last < len(times) else float("nan")
    return settled, float(late.max()) if len(late) else float("nan")


def distance_between(one: TwoMassMotion, other: TwoMassMotion, span: float, resolution: float = 2e-5) -> np.ndarray:
    """(3,) root mean square difference of the velocities of m0, m1, m2 over ``span`` s after the impact, m/s.

    The mean is by the midpoint rule, since at the impact itself a hard contact has jumped and a compliant one hasn't.
    """
    times = max(one.impact_time, other.impact_time) + np.arange(0.5 * resolution, span, resolution)
    difference = one.states(times)[:, 3:] - other.states(times)[:, 3:]
    return np.asarray(np.sqrt((difference**2).mean(axis=0)))
