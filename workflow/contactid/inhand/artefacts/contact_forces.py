"""Forces at the contacts: figure 2, one at its friction cone, and figure 9, a fingertip's beside a
wrist sensor's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse

from contactid.core.errors import ContactIdError
from contactid.inhand.readers.objects import object_of
from contactid.inhand.readers.sources import IN_HAND_KINEMATIC, WRIST
from contactid.inhand.readers.twins import (
    HeldObject,
    hold_object,
    recording_motion,
    simulate_recording,
    twin_options,
)
from contactid.inhand.simulate.grasped_object import required_wrench, shortest_forces
from contactid.output import pen, style
from contactid.output.pen import DARK, QUIET

FINGER_COLOURS = {
    "index": style.LINE,
    "middle": style.ACCENT,
    "ring": style.SIMULATED,
    "thumb": style.RELEASE,
}
_COMPONENT_LABELS = {"x": r"$f_x$", "y": r"$f_y$", "z": r"$f_z$"}


def held_object(
    objects: str, twin: Mapping[str, Any], shown: Mapping[str, Any]
) -> tuple[HeldObject, int]:
    """The box in hand that figures 1 and 2 show (``inhand: grasp_figures``), and the sample of its
    forces.

    Raises
    ------
    ContactIdError
        Where the recording doesn't last until that time.
    """
    options = twin_options({**twin, "samples": shown["samples"]}, objects)
    held = hold_object(IN_HAND_KINEMATIC, shown["object"], shown["seed"], options)
    time, wanted = held.trajectory.time, shown["time"]
    if not time[0] <= wanted <= time[-1]:
        raise ContactIdError(
            f"the in-hand figures show {wanted:g} s, after the recording's end at {time[-1]:g} s",
            "Choose less",
        )
    return held, int(np.argmin(np.abs(time - wanted)))


def contact_forces(objects: str, twin: Mapping[str, Any], shown: Mapping[str, Any]) -> pd.DataFrame:
    """Figure 2: ``finger, shown, t_s, normal_n, tangential_n, friction`` of every fingertip over a
    recording.

    ``shown`` marks the one sample of the one finger that the sketch shows.
    """
    held, index = held_object(objects, twin, shown)
    time, parts = held.trajectory.time, []
    for name, normal, force in zip(
        held.contact_names, held.body.contact_normals, np.swapaxes(held.force, 0, 1), strict=True
    ):
        along = force @ normal
        across = np.linalg.norm(force - along[:, None] * normal, axis=1)
        marked = (np.arange(len(time)) == index) & (name == shown["contact_finger"])
        parts.append(
            pd.DataFrame(
                {
                    "finger": name, "shown": marked, "t_s": time, "normal_n": along, "tangential_n": across,
                    "friction": held.body.friction,
                }
            )
        )  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def force_scale(objects: str, twin: Mapping[str, Any], shown: Mapping[str, Any]) -> pd.DataFrame:
    """Figure 9: ``sensor, component, t_s, reported_n, true_n, squeeze_n``, of one fingertip and of
    the wrist.

    The motion is the same. Components are those of B. ``squeeze_n`` is the constant part that
    doesn't move the object.
    """
    options, finger = (
        twin_options({**twin, "samples": shown["samples"]}, objects),
        shown["scale_finger"],
    )
    motion, parts = recording_motion(IN_HAND_KINEMATIC, shown["seed"], options), []
    for source in (WRIST, IN_HAND_KINEMATIC):
        recording, truth = simulate_recording(
            source, shown["object"], shown["seed"], options, motion
        )
        force, squeeze, one = truth["contact_force_true"].values, np.zeros((1, 3)), 0
        if source == IN_HAND_KINEMATIC:
            body = object_of(options["objects"], shown["object"])
            wrench = required_wrench(body.parameters, motion.evaluate(truth["time"].values))
            squeeze = force[0] - shortest_forces(wrench, body.contact_positions)[0]
            one = body.contact_names.index(finger)
        for k, component in enumerate("xyz"):
            parts.append(
                pd.DataFrame(
                    {
                        "sensor": "wrist" if source == WRIST else finger,
                        "component": component,
                        "t_s": recording["time"].values,
                        "reported_n": recording["contact_force"].values[:, one, k],
                        "true_n": force[:, one, k],
                        "squeeze_n": squeeze[one, k],
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def draw_contact(data: pd.DataFrame) -> Figure:
    """Figure 2: a fingertip's force split at its friction cone, and all fingertips' forces over a
    recording.
    """
    size = style.DOUBLE_COLUMN, 2.9
    figure, (sketch, plane) = plt.subplots(1, 2, figsize=size, width_ratios=(0.8, 1.0))
    shown = data[data["shown"].astype(bool)].iloc[0]
    normal, tangential, friction = (
        float(shown[name]) for name in ("normal_n", "tangential_n", "friction")
    )
    _sketch(sketch, normal, tangential, friction)
    for finger, rows in data.groupby("finger", sort=False):
        colour = FINGER_COLOURS.get(str(finger), QUIET)
        plane.plot(rows["normal_n"], rows["tangential_n"], lw=0.8, color=colour, label=finger)
    largest = 1.06 * float(data["normal_n"].max())
    cone = np.array([0.0, largest])
    plane.plot(cone, friction * cone, color=DARK, lw=1.0, ls="--")
    limit = rf"slip: $|f_t| = \mu f_n$, $\mu = {friction:g}$"
    beside = {"ha": "right", "va": "bottom"}
    pen.say(plane, (0.62 * largest, 0.62 * largest * friction), limit, (-6, 2), "black", **beside)
    plane.plot(normal, tangential, "o", ms=4.0, color=DARK, mfc="white", zorder=5)
    plane.set(xlabel=r"normal force $f_n$ (N)", ylabel=r"tangential force $|f_t|$ (N)")
    plane.set(xlim=(0.0, largest), ylim=(0.0, 0.8 * friction * largest))
    plane.legend(loc=(0.44, 0.06), title="a recording in hand", title_fontsize=7)
    return figure


def _sketch(axes: Axes, normal: float, tangential: float, friction: float) -> None:
    """A fingertip on a surface that it presses downwards; forces on the object, to one scale."""
    axes.set(xlim=(-1.35, 1.35), ylim=(-1.42, 1.15), aspect="equal")
    axes.set_axis_off()
    pen.ground(axes, np.array([[-1.3, 0.0], [1.3, 0.0]]), 1.35)
    axes.add_patch(Ellipse((0.0, 0.55), 0.8, 1.1, fc=pen.BODY, ec=DARK, lw=pen.NORMAL, zorder=1))
    reach = 1.2
    cone = np.array([(-friction * reach, -reach), (0.0, 0.0), (friction * reach, -reach)])
    axes.fill(*cone.T, fc=style.ACCENT, alpha=0.16, ec="none", zorder=1)
    axes.plot(*cone.T, color=style.ACCENT, lw=pen.NORMAL, ls="--", zorder=2)
    n, t = np.array([normal, tangential]) / np.hypot(normal, tangential)
    slip = t, -t / friction
    for end, colour, dash in (
        (slip, QUIET, "--"),
        ((0.0, -n), style.LINE, "-"),
        ((t, 0.0), style.SIMULATED, "-"),
        ((t, -n), style.RELEASE, "-"),
    ):
        pen.arrow(axes, (0.0, 0.0), end, colour, 1.5, mutation_scale=9, ls=dash)
    axes.plot([0.0, t, t], [-n, -n, 0.0], color=QUIET, lw=0.6, ls=":", zorder=3)
    pen.point_out(axes, slip, "slip, once $f_n$\nis lowered\nto here", (0.98, -0.3))
    normal_name, tangential_name = f"$f_n$\n{normal:.1f} N", f"$f_t$, {tangential:.1f} N"
    right, left = {"ha": "left"}, {"ha": "right"}
    pen.say(axes, (0.0, -0.62 * n), normal_name, (-3, 0), style.LINE, **left)
    pen.say(axes, (max(t, 0.33), 0.0), tangential_name, (4, 6), style.SIMULATED, **right)
    pen.say(axes, (t, -n), "$f$", (3, -5), style.RELEASE, **right)
    pen.say(axes, (-1.3, -1.35), "object", (2, 6), QUIET, **right)
    pen.say(axes, (0.0, 0.62), "fingertip")
    named = r"friction cone, $\arctan\,\mu$"
    pen.say(axes, (friction * reach, -reach), named, (2, -6), style.ACCENT, **left)


def draw_force_scale(data: pd.DataFrame) -> Figure:
    """Figure 9: the force at the wrist and at one fingertip for the same motion, to the same scale
    per newton.
    """
    sensors = list(dict.fromkeys(data["sensor"]))
    figure, panels = plt.subplots(
        3, len(sensors), figsize=(style.DOUBLE_COLUMN, 3.9), sharex=True, squeeze=False
    )
    for column, sensor in enumerate(sensors):
        for axes, component in zip(panels[:, column], _COMPONENT_LABELS, strict=True):
            rows = data[(data["sensor"] == sensor) & (data["component"] == component)]
            axes.plot(rows["t_s"], rows["reported_n"], color=style.MEASURED, lw=0.7)
            axes.plot(rows["t_s"], rows["true_n"], color=style.LINE, lw=1.2)
            axes.axhline(rows["squeeze_n"].iloc[0], color=style.RELEASE, lw=0.9, ls="--")
        title = (
            "force-torque sensor at the wrist"
            if sensor == "wrist"
            else f"fingertip in hand: {sensor}"
        )
        panels[0][column].set_title(title, loc="left")
        panels[-1][column].set_xlabel("time (s)")
    for row, (axes_row, label) in enumerate(zip(panels, _COMPONENT_LABELS.values(), strict=True)):
        axes_row[0].set_ylabel(f"{label} (N)")
        _same_span(axes_row, data[data["component"] == "xyz"[row]], sensors)
    handles: list[Any] = [
        Line2D([], [], color=style.LINE, lw=1.2, label="force on the object"),
        Line2D([], [], color=style.MEASURED, lw=0.9, label="as reported"),
        Line2D([], [], color=style.RELEASE, lw=0.9, ls="--", label="squeeze of the grip"),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3)
    return figure


def _same_span(panels: np.ndarray, rows: pd.DataFrame, sensors: list[str]) -> None:
    """Let panels show the same number of newtons, each around its own middle."""
    bounds = []
    for sensor in sensors:
        one = rows[rows["sensor"] == sensor]
        values = pd.concat([one["reported_n"], one["true_n"], one["squeeze_n"]])
        bounds.append((float(values.min()), float(values.max())))
    half = 0.55 * max(high - low for low, high in bounds)
    for axes, (low, high) in zip(panels, bounds, strict=True):
        axes.set_ylim((low + high) / 2 - half, (low + high) / 2 + half)
