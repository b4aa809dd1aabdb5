"""Ways to reconstruct a tip's post-impact velocity from its motion: the paper's, and what goes beyond it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from contactid.arm.modal_fit import TIED, ModalFit, ModalOptions, fit_modes, fit_modes_jointly
from contactid.arm.modal_signal import DIFFERENCED, FREE, WHITE
from contactid.core.errors import ContactIdError


@dataclass(frozen=True)
class Method:
    """A way to fit x and z.

    Attributes
    ----------
    name : used in tables
    modes : number of modes
    offset : ``pre_velocity`` (eq. 7) or ``free``
    joint : fit z and x at once with shared poles; else z first, and x with z's poles, as the paper does
    curved : add a term b t^2 to the rigid response
    noise : ``white`` velocities, as in the paper, or ``differenced`` positions
    """

    name: str
    modes: int = 1
    offset: str = TIED
    joint: bool = False
    curved: bool = False
    noise: str = DIFFERENCED

    def __post_init__(self) -> None:
        if self.modes < 1 or self.offset not in (TIED, FREE) or self.noise not in (WHITE, DIFFERENCED):
            raise ContactIdError(f"method {self.name!r} of the arm's fit is unknown", "See the configuration's schema")


@dataclass(frozen=True)
class Window:
    """A tip's velocity behind an impact and what is known of it.

    Attributes
    ----------
    time : (n,) s since the impact, middles of sampling intervals
    velocity : (n, 2) m/s, x and z
    pre_velocity, pre_velocity_se : (2,) m/s
    impact_time_se : s
    noise_covariance : (2, 2) of the tip's position at one instant, up to a factor
    """

    time: np.ndarray
    velocity: np.ndarray
    pre_velocity: np.ndarray
    pre_velocity_se: np.ndarray
    impact_time_se: float
    noise_covariance: np.ndarray


def methods_of(block: Sequence[Mapping[str, Any]]) -> tuple[Method, ...]:
    """Methods as the configuration lists them; names must differ."""
    methods = tuple(Method(**entry) for entry in block)
    names = [method.name for method in methods]
    if len(set(names)) < len(names) or not names:
        raise ContactIdError("the arm's fit needs methods with different names", "Correct arm: fit: methods")
    return methods


def options_of(method: Method, window: Window) -> ModalOptions:
    """Options of the modal fit; a difference is a mean over one interval."""
    step = float(window.time[-1] - window.time[0]) / (len(window.time) - 1)
    return ModalOptions(noise=method.noise, averaging=step, curved=method.curved)


def apply(method: Method, window: Window) -> tuple[ModalFit, ModalFit]:
    """Fits of x and of z."""
    options = options_of(method, window)
    if method.joint:
        x, z = fit_modes_jointly(
            window.time, window.velocity, window.pre_velocity, modes=method.modes, offset=method.offset,
            options=options, noise_covariance=window.noise_covariance, impact_time_se=window.impact_time_se,
            pre_velocity_se=list(window.pre_velocity_se),
        )  # fmt: skip
        return x, z
    z = fit_modes(
        window.time, window.velocity[:, 1], float(window.pre_velocity[1]), modes=method.modes, offset=method.offset,
        options=options, pre_velocity_se=float(window.pre_velocity_se[1]), impact_time_se=window.impact_time_se,
    )  # fmt: skip
    x = fit_modes(
        window.time, window.velocity[:, 0], float(window.pre_velocity[0]), offset=method.offset, options=options,
        poles=z.poles, pole_covariance=z.pole_covariance, pre_velocity_se=float(window.pre_velocity_se[0]),
        impact_time_se=window.impact_time_se,
    )  # fmt: skip
    return x, z
