"""How well the post-impact velocity is reconstructed: twins' recordings with samples of sensor
noise.

Methods were chosen on the study's own twin. So they are scored on others as well, with another
seed, other drives, or links that aren't those of the impact map (``arm: fit: accuracy: twins``). A
sample adds white noise to the clean joint positions and rounds them to the encoder's resolution;
everything after it is the pipeline's own. Errors count from the truth: eq. 5 with the twin's links
and motors as one. Beside them stands what a reader would have without a recording, also less the
truth: ``described``, eq. 5 with the described links and the twin's motors, and ``links``, with the
described links alone, the paper's map.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from contactid.arm.identify.methods import METHODS
from contactid.arm.identify.reconstruction import (
    COMPONENTS,
    ExperimentFit,
    evaluate_experiment,
    map_velocity,
)
from contactid.arm.readers.impacts import ArmRecording
from contactid.arm.readers.twins import TwinExperiment, reported, simulate_experiment, twin_falls
from contactid.arm.rigid.printed_table import printed_table
from contactid.arm.rigid.robot import Robot, load_robot
from contactid.core.errors import ContactIdError
from contactid.output.tables import read_csv, write_csv

CHOSEN_ON, HELD_OUT = "study", "held_out"  # the twin that methods were chosen on, and all others
_DECIMALS = 5  # of a number in mm/s or ms


def noisy(one: TwinExperiment, twin: Mapping[str, Any], sample: int) -> ArmRecording:
    """A sample (1, 2, ...) of what the encoders of the twin (as ``arm: twin``) report."""
    # a key of its own for each experiment and sample: any of them can be made alone
    key = (zlib.crc32(one.setting.name.encode()), sample)
    random = np.random.default_rng(np.random.SeedSequence(twin["seed"], spawn_key=key))
    positions = reported(one.clean, twin["noise"], twin["resolution"], random)
    return ArmRecording(one.setting, one.time, positions)


def fit_samples(
    links: str,
    corrections: str,
    published: str,
    twin: str,
    settings: Mapping[str, Any],
    block: Mapping[str, Any],
    robot: Mapping[str, Any],
    table: str,
) -> None:
    """Simulate experiments of the twin of a name, and write :func:`sample_rows` of each sample.

    ``settings``, ``block`` and ``robot`` are ``arm: twin``, ``arm: fit`` and ``arm: robot``;
    ``corrections`` is the table of divisors of twins with corrected links, ``published`` what the
    paper prints.

    Raises
    ------
    ContactIdError
        Where the twin has no experiment of a name.
    """
    # what differs from the study's own twin
    changes = dict(block["accuracy"]["twins"][twin])
    corrected = changes.pop("corrected_links", False)
    described, changed = load_robot(links, **robot), {**settings, **changes}
    arm = load_robot(links, **robot, corrections=corrections) if corrected else described
    falls = twin_falls(changed, printed_table(read_csv(published)))
    by_name = {setting.name: (setting, fall) for setting, fall in falls}
    rows = []
    for name in block["accuracy"]["experiments"]:
        if name not in by_name:
            raise ContactIdError(
                f"the arm's twin has no experiment {name!r}", f"Choose from {', '.join(by_name)}"
            )
        one = simulate_experiment(*by_name[name], changed, arm)
        for sample in range(1, block["accuracy"]["samples"] + 1):
            rows += sample_rows(described, one, sample, changed, block)
    write_csv(pd.DataFrame(rows).round(_DECIMALS).assign(twin=twin), table)


def sample_rows(
    described: Robot,
    one: TwinExperiment,
    sample: int,
    twin: Mapping[str, Any],
    block: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """A row per method of a noise sample; a fit that failed has a reason and no numbers.

    ``described`` is the robot that a reader knows: the joints of the one that the experiment was
    simulated with, maybe other links. Columns ``experiment, sample, method, late_ms`` (of the
    impact time), ``reason``, and by component, in mm/s, ``error_x`` (fit less truth), ``se_x``,
    ``described_x``, ``links_x`` (less the truth), and the same of z.
    """
    motors, truth = twin["drives"]["motor_inertia"], one.tip_velocity_post_map
    # both without a recording: what the fits must be better than
    references = {
        "described": map_velocity(described, one.q_impact, one.velocity_pre, motors),
        "links": map_velocity(described, one.q_impact, one.velocity_pre),
    }
    head: dict[str, Any] = {"experiment": one.setting.name, "sample": sample}
    for name, velocity in references.items():
        head |= _by_component(name, velocity - truth)
    try:
        fit: ExperimentFit | str = evaluate_experiment(described, noisy(one, twin, sample), block)
    except ContactIdError as error:
        fit = str(error)
    return [head | {"method": method} | _found(fit, method, one) for method in METHODS]


def _found(fit: ExperimentFit | str, method: str, one: TwinExperiment) -> dict[str, Any]:
    """Errors and standard errors in mm/s, or the reason why there are none."""
    if isinstance(fit, str) or method in fit.failures:
        reason = fit if isinstance(fit, str) else str(fit.failures[method])
        nothing = np.full(len(COMPONENTS), np.nan)
        numbers = _by_component("error", nothing) | _by_component("se", nothing)
        return {"late_ms": np.nan, "reason": reason} | numbers
    answer = fit.answers[method]
    return {
        "late_ms": 1e3 * (fit.window.impact_time - one.impact_time),
        "reason": "",
        **_by_component("error", answer.velocity - one.tip_velocity_post_map),
        **_by_component("se", answer.se),
    }


def _by_component(name: str, values: np.ndarray) -> dict[str, float]:
    """Columns in mm/s of values (2,) in m/s."""
    return {f"{name}_{c}": 1e3 * float(v) for c, v in zip(COMPONENTS, values, strict=True)}
