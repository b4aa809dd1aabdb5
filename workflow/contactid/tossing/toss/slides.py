"""How hard a surface pushes sliding corners back, whatever the law of impact.

Friction bears at most mu times what the surface does, at every instant. So does its mean over time:
a second difference of the centre's path, less gravity, is a mean push per mass. Simulated tosses
reach that bound about as often as measured ones, if their friction is right. Corners that spring
back along the surface drive trajectories to too small a friction, and then measured pushes are
steeper than simulated ones.

Where friction falls with speed, slow slides are held back by more than fast ones; in simulated
tosses, which have one friction, they aren't.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from contactid.core import rotations
from contactid.sources.card import white_noise
from contactid.tossing.prepare.tosses import Problem, simulated
from contactid.tossing.simulate.box import ContactParameters
from contactid.tossing.simulate.sweep import MeasuredToss

# of the time in which a body falls half its length: 0.04 s on either side for 0.1 m, in which a
# camera's noise of half a millimetre is a tenth of the push
_REACH = 0.4
# weights: what a toss's pushes bear. Less is a body that lies, on a face that may have another
# friction than corners (the real cube: 0.24 and 0.16); more is a jolt that leaves no time to slide
_BORNE = 1.5, 3.0
# of friction: pushes of right ones are off by up to .03 (the real cube) and .08 (boxes on springs)
_MODEL = 0.05
_SURELY, _REFUTED = 2.0, 3.0  # standard errors: slides doubt trajectories' friction; no answer
_FEWEST = 5  # tosses with such pushes
# of the same time, shorter, since a slow slide soon ends; and weights that a sliding box bears, its
# corners in turn or a face
_SHORT_REACH, _SLIDING = 0.25, (0.7, 1.5)
_SLOW, _FAST = (0.08, 0.3), (0.45, np.inf)  # m/s: of speeds that are held against each other
_FEWEST_PUSHES = 4  # of a toss, slow and fast
# of friction: slow slides are on faces more than fast ones are, which may have another friction (the
# real cube's .07 more). With it none of ten sets of its tosses seems to have one that falls
_FACES = 0.07
_DRAWS = 5  # of a camera's noise
_ROUNDS = 4  # towards the friction that has the measured pushes, each several times nearer


@dataclass(frozen=True)
class SlideFriction:
    """The friction with which simulated slides are held back as measured ones are."""

    value: float
    interval: tuple[float, float]  # 95 %, and as far beyond as trajectories' friction is behind
    refutes: bool  # whether it leaves no answer by trajectories
    doubt: str  # of trajectories' friction, where it surely is another


def slide_friction(problem: Problem, parameters: ContactParameters) -> SlideFriction | None:
    """What slides say, whatever trajectories do; None where too few tosses slide.

    Of boxes on springs and on bristles it is half as far off as trajectories' friction, which is
    too small by a twelfth, and by a seventh where the centre of mass is off the middle.
    """
    first, error = steepness(problem, parameters)
    if not np.isfinite(first):
        return None
    mu, excess = parameters.friction_mu, first
    for _ in range(_ROUNDS):
        mu *= float(np.exp(excess))
        excess = steepness(problem, replace(parameters, friction_mu=mu))[0]
    errors, wide = abs(first) / np.hypot(error, _MODEL), float(np.exp(_SURELY * error))
    way = "corners spring back along the surface" if first > 0.0 else "hardly anything slides"
    doubt = (
        f"slides are held back as by a friction of {mu:.2f}, not {parameters.friction_mu:.2f} "
        f"({errors:.1f} standard errors): {way}, or friction isn't one number"
    )
    # trajectories are off twice as far, so what is true lies beyond
    beyond = mu / parameters.friction_mu
    interval = mu / wide * min(beyond, 1.0), mu * wide * max(beyond, 1.0)
    return SlideFriction(mu, interval, errors > _REFUTED, doubt if errors > _SURELY else "")


def steepness(problem: Problem, parameters: ContactParameters) -> tuple[float, float]:
    """By what share the steepest pushes of tosses are steeper than simulated ones, as a logarithm,
    and its error; NaN where fewer than five have some.
    """
    pairs = []
    for toss, made, turned in _seen(problem, parameters):
        measured = float(_steepest(problem, toss.position, toss.orientation))
        pairs.append((measured, _steepest(problem, made, turned).mean()))
    steep = np.array([pair for pair in pairs if np.isfinite(pair).all()])
    if len(steep) < _FEWEST:
        return np.nan, np.nan
    measured, made = steep.mean(axis=0)
    # of the logarithm of a ratio of means over the same tosses
    error = np.std(steep[:, 0] / measured - steep[:, 1] / made, ddof=1) / np.sqrt(len(steep))
    return float(np.log(measured / made)), float(error)


def friction_fall(problem: Problem, parameters: ContactParameters) -> tuple[float, list[str]]:
    """By how much one number may be off friction at another speed, 0 where none surely is; and what
    is to be said of it.
    """
    change, error = slow_less_fast(problem, parameters)
    if not change > _SURELY * np.hypot(error, _FACES * parameters.friction_mu):
        return 0.0, []
    said = (
        f"Friction falls with speed: below {_SLOW[1]:g} m/s slides are held back by {change:.2f} +- "
        f"{error:.2f} more than above {_FAST[0]:g} m/s, and friction's interval reaches as far"
    )
    return change + _SURELY * error, [said]


def slow_less_fast(problem: Problem, parameters: ContactParameters) -> tuple[float, float]:
    """By how much more slow slides are held back than fast ones, beyond what simulated ones are,
    and its error; NaN where fewer than five tosses slide slowly and fast.
    """
    changes = []
    for toss, made, turned in _seen(problem, parameters):
        measured = _slow_less_fast(problem, toss.position, toss.orientation)
        changes.append(measured - np.mean([_slow_less_fast(problem, one, turned) for one in made]))
    found = np.array(changes)[np.isfinite(changes)]
    if len(found) < _FEWEST:
        return np.nan, np.nan
    # medians, since a window may hold an impact; a median's error is 1.25 times a mean's, and 1.48
    # takes a median deviation to a standard one
    middle = float(np.median(found))
    spread = 1.4826 * float(np.median(np.abs(found - middle)))
    return middle, 1.25 * spread / float(np.sqrt(len(found)))


def _seen(
    problem: Problem, parameters: ContactParameters
) -> Iterator[tuple[MeasuredToss, np.ndarray, np.ndarray]]:
    """Each toss with its simulation: places (draw, n, 3) m with the camera's noise, which steepens
    pushes, and orientations (n, 4).
    """
    random = np.random.default_rng(0)
    noise = np.median([white_noise(item.toss.position) for item in problem.tosses])
    for item in problem.tosses:
        run = simulated(problem, item.toss, parameters)
        shaken = noise * random.normal(size=(_DRAWS, *run.position.shape))
        yield item.toss, run.position + shaken, run.orientation


def _slow_less_fast(problem: Problem, position: np.ndarray, orientation: np.ndarray) -> float:
    """Median push against the way over what is borne, of a toss's slow slides less its fast ones."""
    push, velocity, weight = _pushes(problem, position, orientation, _SHORT_REACH)
    sliding = (push[:, 2] > _SLIDING[0] * weight) & (push[:, 2] < _SLIDING[1] * weight)
    push, velocity = push[sliding], velocity[sliding]
    speed = np.linalg.norm(velocity[:, :2], axis=1)
    held = -(push[:, :2] * velocity[:, :2]).sum(axis=1) / np.maximum(speed, 1e-9) / push[:, 2]
    slow, fast = (held[(speed > low) & (speed < high)] for low, high in (_SLOW, _FAST))
    if min(len(slow), len(fast)) < _FEWEST_PUSHES:
        return np.nan
    return float(np.median(slow) - np.median(fast))


def _pushes(
    problem: Problem, position: np.ndarray, orientation: np.ndarray, share: float
) -> tuple[np.ndarray, np.ndarray, float]:
    """Mean pushes (..., m, 3) m/s2 and velocities (..., m, 3) m/s of poses (..., n, 3) and (n, 4),
    and the weight; a window reaches ``share`` of the fall's time to either side.
    """
    step, gravity = problem.options.time_step, np.array(problem.options.gravity)
    weight = float(np.linalg.norm(gravity))
    reach = max(2, round(share * np.sqrt(problem.length / weight) / step))
    center = position + rotations.matrices(orientation) @ problem.body.center_of_mass
    if center.shape[-2] <= 2 * reach:
        none = np.zeros((*center.shape[:-2], 0, 3))
        return none, none, weight
    first, last = center[..., : -2 * reach, :], center[..., 2 * reach :, :]
    bend = last - 2.0 * center[..., reach:-reach, :] + first
    return bend / (reach * step) ** 2 - gravity, (last - first) / (2 * reach * step), weight


def _steepest(problem: Problem, position: np.ndarray, orientation: np.ndarray) -> np.ndarray:
    """(...) largest mean push along the surface over what is borne, of poses (..., n, 3) and
    (n, 4); NaN without a push of the chosen size.
    """
    push, _, weight = _pushes(problem, position, orientation, _REACH)
    borne = push[..., 2]
    counts = (borne > _BORNE[0] * weight) & (borne < _BORNE[1] * weight)
    slopes = np.where(counts, np.linalg.norm(push[..., :2], axis=-1) / borne, -1.0)
    steepest = slopes.max(axis=-1, initial=-1.0)
    return np.where(steepest < 0.0, np.nan, steepest)
