"""Scenes: a body thrown over a straight ground, as the configuration describes it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from contactid.core.errors import ContactIdError
from contactid.planar.simulate.bodies import (
    PlanarBody,
    PlanarLaw,
    PlanarMotion,
    refuse_start_inside,
    simulate,
)
from contactid.planar.simulate.geometry import Ellipse, Ground, Polygon


@dataclass(frozen=True)
class Scene:
    """What to simulate: every law from one start state.

    Attributes
    ----------
    position : q = (x, y, theta) at the start, m and rad
    velocity : v at the start, m/s and rad/s
    duration, time_step : s
    laws : friction changes slowest
    """

    name: str
    body: PlanarBody
    ground: Ground
    position: tuple[float, float, float]
    velocity: tuple[float, float, float]
    duration: float
    time_step: float
    laws: tuple[PlanarLaw, ...]

    def run(
        self, law: PlanarLaw, *, time_step: float | None = None, duration: float | None = None
    ) -> PlanarMotion:
        """Simulate under one law; another time step or duration replaces the scene's own."""
        h = self.time_step if time_step is None else time_step
        steps = max(1, round((self.duration if duration is None else duration) / h))
        return simulate(
            self.body, self.ground, law, self.position, self.velocity, time_step=h, steps=steps
        )


def scene_of(block: Mapping[str, Any], name: str) -> Scene:
    """The scene of a name in the study's block of the configuration.

    Raises
    ------
    ContactIdError
        Names the key: a scene or body that isn't there, a body that starts inside the ground, a
        shape that is none.
    """
    key = f"planar.scenes.{name}"
    scene = block["scenes"][name]
    body, ground = thrown(block, scene, key)
    duration, time_step = float(scene["duration"]), float(scene["time_step"])
    if duration < time_step:
        raise ContactIdError(
            f"configuration: {key}.duration is {duration:g} s, shorter than its time_step of {time_step:g} s",
            "Give at least one step",
        )
    x, y, theta = map(float, scene["position"])
    v_x, v_y, omega = map(float, scene["velocity"])
    laws = tuple(
        PlanarLaw(float(mu), float(e_n), float(scene["restitution_e_t"]), float(block["gravity"]))
        for mu, e_n in itertools.product(scene["friction_mu"], scene["restitution_e_n"])
    )
    return Scene(name, body, ground, (x, y, theta), (v_x, v_y, omega), duration, time_step, laws)


def thrown(
    block: Mapping[str, Any], throw: Mapping[str, Any], key: str
) -> tuple[PlanarBody, Ground]:
    """The body and the ground of a throw that the configuration has at ``key``; it starts outside
    the ground.
    """
    body = body_of(block, throw["body"], key)
    ground = Ground(float(throw["ground"]["slope"]), *map(float, throw["ground"]["start"]))
    try:
        refuse_start_inside(body.shape, ground, throw["position"])
    except ContactIdError as error:
        raise ContactIdError(
            f"configuration: {key}.position: {error.problem}", error.remedy
        ) from None
    return body, ground


def body_of(block: Mapping[str, Any], name: str, asked_by: str) -> PlanarBody:
    """A body of the study's block by its name."""
    if name not in block["bodies"]:
        known = ", ".join(block["bodies"])
        raise ContactIdError(
            f"configuration: {asked_by}.body is {name!r}, which is no body", f"Use one of {known}"
        )
    body, key = block["bodies"][name], f"planar.bodies.{name}"
    if ("semi_axes" in body) == ("vertices" in body):
        raise ContactIdError(
            f"configuration: {key} needs either semi_axes (an ellipse) or vertices (a polygon)",
            "Give exactly one",
        )
    try:
        shape = (
            Ellipse(*map(float, body["semi_axes"]))
            if "semi_axes" in body
            else Polygon(tuple((float(x), float(y)) for x, y in body["vertices"]))
        )
    except ContactIdError as error:
        raise ContactIdError(f"configuration: {key}: {error.problem}", error.remedy) from None
    return PlanarBody(shape, float(body["mass"]), float(body["inertia"]))


def check_scenes(block: Mapping[str, Any]) -> None:
    """Raise :class:`ContactIdError` for the first scene that can't be simulated."""
    for name in block["scenes"]:
        scene_of(block, name)
