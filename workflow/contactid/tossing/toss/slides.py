"""How hard a surface pushes sliding corners back, whatever the law of impact.

Friction bears at most mu times what the surface does, at every instant. So does its mean over time:
a second difference of the centre's path, less gravity, is a mean push per mass. Simulated tosses
reach that bound about as often as measured ones, if their friction is right. Corners that spring
back along the surface drive trajectories to too small a friction, and then measured pushes are
steeper than simulated ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from contactid.core import rotations
from contactid.sources.card import white_noise
from contactid.tossing.prepare.tosses import Problem, simulated
from contactid.tossing.simulate.box import ContactParameters

# of the time in which a body falls half its length: 0.04 s on either side for 0.1 m, in which a
# camera's noise of half a millimetre is a tenth of the push
_REACH = 0.4
# weights: what a toss's pushes bear. Less is a body that lies, on a face that may have another
# friction than corners (the real cube: 0.24 and 0.16); more is a jolt that leaves no time to slide
_BORNE = 1.5, 3.0
# of friction: pushes of right ones are off by up to .03 (the real cube) and .08 (boxes on springs)
_MODEL = 0.05
_SURELY, _REFUTED = 2.0, 3.0  # standard errors: an interval reaches what slides ask for; no answer
_FEWEST = 5  # tosses with such pushes
_DRAWS = 5  # of a camera's noise, which steepens the steepest push
_ROUNDS = 4  # towards the friction that has the measured pushes, each several times nearer


@dataclass(frozen=True)
class Steepness:
    """By what share measured pushes are steeper than simulated ones, as a logarithm, and its error."""

    excess: float
    error: float

    @property
    def z_score(self) -> float:
        """The excess in standard errors, the model's among them."""
        return float(self.excess / np.hypot(self.error, _MODEL))


@dataclass(frozen=True)
class AskedFriction:
    """A larger friction than trajectories', which simulated slides need to be held back as measured
    ones are.
    """

    value: float
    high: float  # of 95 %
    refutes: bool  # whether it leaves no answer by trajectories
    said: str


def asked_friction(problem: Problem, parameters: ContactParameters) -> AskedFriction | None:
    """What slides ask for, where that is surely more than what trajectories say."""
    seen = steepness(problem, parameters)
    if not seen.z_score > _SURELY:
        return None
    mu, excess = parameters.friction_mu, seen.excess
    for _ in range(_ROUNDS):
        mu *= float(np.exp(excess))
        excess = steepness(problem, replace(parameters, friction_mu=mu)).excess
    said = (
        f"slides are held back as by a friction of {mu:.2f}, not {parameters.friction_mu:.2f} "
        f"({seen.z_score:.1f} standard errors): corners spring back along the surface, or friction "
        "isn't one number"
    )
    high = mu * float(np.exp(2.0 * seen.error))
    return AskedFriction(mu, high, seen.z_score > _REFUTED, said)


def steepness(problem: Problem, parameters: ContactParameters) -> Steepness:
    """Of the steepest pushes of tosses; NaN where fewer than five have some."""
    random, pairs = np.random.default_rng(0), []
    noise = np.median([white_noise(item.toss.position) for item in problem.tosses])
    for item in problem.tosses:
        run = simulated(problem, item.toss, parameters)
        shaken = noise * random.normal(size=(_DRAWS, *run.position.shape))
        made = _steepest(problem, run.position + shaken, run.orientation).mean()
        pairs.append((float(_steepest(problem, item.toss.position, item.toss.orientation)), made))
    steep = np.array([pair for pair in pairs if np.isfinite(pair).all()])
    if len(steep) < _FEWEST:
        return Steepness(np.nan, np.nan)
    measured, made = steep.mean(axis=0)
    # of the logarithm of a ratio of means over the same tosses
    error = np.std(steep[:, 0] / measured - steep[:, 1] / made, ddof=1) / np.sqrt(len(steep))
    return Steepness(float(np.log(measured / made)), float(error))


def _steepest(problem: Problem, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
    """(...) largest mean push along the surface over what is borne, of poses (..., n, 3) and
    (n, 4); NaN without a push of the chosen size.
    """
    step, gravity = problem.options.time_step, np.array(problem.options.gravity)
    weight = float(np.linalg.norm(gravity))
    reach = max(2, round(_REACH * np.sqrt(problem.length / weight) / step))
    center = position + rotations.matrices(orientation) @ problem.body.center_of_mass
    if center.shape[-2] <= 2 * reach:
        return np.full(center.shape[:-2], np.nan)
    bend = center[..., 2 * reach :, :] - 2.0 * center[..., reach:-reach, :]
    push = (bend + center[..., : -2 * reach, :]) / (reach * step) ** 2 - gravity
    borne = push[..., 2]
    counts = (borne > _BORNE[0] * weight) & (borne < _BORNE[1] * weight)
    slopes = np.where(counts, np.linalg.norm(push[..., :2], axis=-1) / borne, -1.0)
    steepest = slopes.max(axis=-1)
    return np.where(steepest < 0.0, np.nan, steepest)
