"""What the two-mass models run on, read from the block ``arm.models`` of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from contactid.arm.simulate.two_mass import COMPLIANT, FLEXIBLE, MODELS, RIGID
from contactid.arm.simulate.two_mass_phases import TwoMass
from contactid.core.errors import ContactIdError

TABLE_I = "table_1"


@dataclass(frozen=True)
class FitSettings:
    """Of the one-mode fit of figure 5.

    Attributes
    ----------
    model : whose velocity of m2 figure 5 shows
    windows : lengths of the fitted window from the impact on, s; the first is figure 5's
    sample_interval : of the fitted velocity, s
    """

    model: str
    windows: tuple[float, ...]
    sample_interval: float


@dataclass(frozen=True)
class TwoMassSettings:
    """The block ``arm.models``.

    Attributes
    ----------
    system : Table I
    duration : of figure 4, s
    zoom : first and last time of its third column, s
    fit : of figure 5
    sweep_duration : of every motion of the sweep, s
    d_rob, d_env : dampings of the sweep, N s/m and N s/m^(c+1)
    """

    system: TwoMass
    duration: float
    zoom: tuple[float, float]
    fit: FitSettings
    sweep_duration: float
    d_rob: tuple[float, ...]
    d_env: tuple[float, ...]


@dataclass(frozen=True)
class Setting:
    """One motion to simulate.

    Attributes
    ----------
    name : ``table_1``, ``d_rob=40`` or ``d_env=1e+09``
    model : ``A``, ``B`` or ``C``
    system : its parameters
    """

    name: str
    model: str
    system: TwoMass


def settings_of(block: Mapping[str, Any]) -> TwoMassSettings:
    """The settings from ``arm.models``.

    Raises
    ------
    ContactIdError
        Names the key: impossible parameters, a zoom that ends before it starts, a window that outlasts the motion.
    """
    fit, sweep = block["fit"], block["sweep"]
    settings = TwoMassSettings(
        system=TwoMass(**{name: float(value) for name, value in block["parameters"].items()}),
        duration=float(block["duration"]),
        zoom=(float(block["zoom"][0]), float(block["zoom"][1])),
        fit=FitSettings(fit["model"], tuple(map(float, fit["windows"])), float(fit["sample_interval"])),
        sweep_duration=float(sweep["duration"]),
        d_rob=tuple(map(float, sweep["d_rob"])),
        d_env=tuple(map(float, sweep["d_env"])),
    )
    if not 0.0 <= settings.zoom[0] < settings.zoom[1] <= settings.duration:
        raise ContactIdError(
            f"configuration: arm.models.zoom is {list(settings.zoom)}",
            f"Give two ascending times within arm.models.duration, {settings.duration:g} s",
        )
    if settings.fit.model == RIGID or settings.fit.model not in MODELS:
        raise ContactIdError(
            f"configuration: arm.models.fit.model is {settings.fit.model}", f"Choose {COMPLIANT} or {FLEXIBLE}"
        )
    return settings


def table_i_settings(settings: TwoMassSettings) -> list[Setting]:
    """The three models with Table I."""
    return [Setting(TABLE_I, model, settings.system) for model in MODELS]


def sweep_settings(settings: TwoMassSettings) -> list[Setting]:
    """One damping varied at a time, the others of Table I; model B has no contact damping, C no damping at all."""
    found = []
    for model in (FLEXIBLE, COMPLIANT):
        found += [Setting(f"d_rob={value:g}", model, replace(settings.system, d_rob=value)) for value in settings.d_rob]
    found += [Setting(f"d_env={value:g}", COMPLIANT, replace(settings.system, d_env=value)) for value in settings.d_env]
    return found
