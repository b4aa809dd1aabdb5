"""The two free motions that meet in one candidate impact, and what they say of it.

See :mod:`contactid.tossing.impacts.selection` for how candidates are found and judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from contactid.core import rotations
from contactid.sources.motion import BodyProperties
from contactid.tossing.impacts.free_motion import FreeMotion, PoseNoise, fit_free_motion
from contactid.tossing.impacts.impact import Impact, ImpactWindow, cross
from contactid.tossing.simulate.box import State

FEWEST_SAMPLES = 4  # on either side: two of them are used up by the fit
_BALANCE_NOISE = 3.0  # standard deviations of the momentum balance that are taken for noise
_ODD = 4.0  # standard deviations of a sample that doesn't belong to its side's free motion


@dataclass(frozen=True)
class Candidate:
    """One candidate, kept or not; what wasn't reached before it was dropped is NaN."""

    # toss, sample, vertex: where it is; the sample counts from 0
    toss: str
    sample: int
    vertex: int
    reason: str = ""  # why it was dropped; empty where it is kept
    # m/s towards the surface; of the fit, or of the raw heights where there is none
    normal_speed: float = np.nan
    instant: float = np.nan  # s from ``sample`` to the instant of impact
    # last_pre, first_post: samples relative to ``sample`` that end and begin the free motions (eq.
    # 17's -b and c, of poses; a central difference needs one sample more)
    last_pre: int | None = None
    first_post: int | None = None
    # misfit_pre, misfit_post: mean squared standardised residuals
    misfit_pre: float = np.nan
    misfit_post: float = np.nan
    # what curvature of the two motions would do to the corner's change of velocity, relative to it
    bend: float = np.nan
    imbalance: float = np.nan  # |I dw - r x m dv| beyond its noise, over |r x m dv|
    gap: float = np.nan  # m between the positions of both motions at the instant
    contact_height: float = np.nan  # m of the vertex over the surface at the instant
    # before, after: fitted motions
    before: FreeMotion | None = field(default=None, repr=False)
    after: FreeMotion | None = field(default=None, repr=False)
    # what the identification takes; None where dropped
    impact: ImpactWindow | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Recording:
    """A recording in C with what doesn't change from candidate to candidate; the plane's scatter is
    in m.
    """

    name: str
    split: str
    position: np.ndarray
    orientation: np.ndarray
    heights: np.ndarray
    gravity: np.ndarray
    surface_velocity: np.ndarray
    time_step: float
    plane_scatter: float
    body: BodyProperties


class Sides:
    """Free motions before and after one candidate, and the instant at which they meet."""

    def __init__(
        self, recording: Recording, sample: int, vertex: int, noise: PoseNoise, window: int
    ) -> None:
        self.recording, self.sample, self.vertex, self.noise = recording, sample, vertex, noise
        self.window = window
        self.pre_end, self.post_start = -1, 1  # relative to the sample, inclusive
        self.found = False
        self.fits: dict[tuple[int, int], FreeMotion] = {}
        self._settle()

    def _fit(self, first: int, last: int) -> FreeMotion:
        if (first, last) not in self.fits:
            rows = np.arange(self.sample + first, self.sample + last + 1)
            self.fits[first, last] = fit_free_motion(
                self.recording.body,
                (rows - self.sample) * self.recording.time_step,
                self.recording.position[rows],
                self.recording.orientation[rows],
                self.recording.gravity,
            )
        return self.fits[first, last]

    def _middle(self, first: int, last: int) -> float:
        """Reference time of a fit, s from the sample."""
        return 0.5 * (first + last) * self.recording.time_step

    def _settle(self) -> None:
        """Alternate between fitting both sides and finding the instant that parts them."""
        pre_end, post_start = -2, 2  # surely free, whatever happened between
        # instant and ends of both sides may go round in circles: then the last ones stand
        seen = set()
        for _ in range(8):
            if not self._use(pre_end, post_start):
                return
            if (pre_end, post_start) in seen:
                break
            seen.add((pre_end, post_start))
            # in samples: those before it belong to one side, those after it to the other
            instant = self.instant / self.recording.time_step
            pre_end, post_start = int(np.ceil(instant)) - 1, int(np.floor(instant)) + 1
            pre_end, post_start = min(max(pre_end, -3), 2), max(min(post_start, 3), -2)
        # an impact that lasts bends the samples next to it
        while self._odd(self.before, self.pre_end, -1):
            if not self._use(self.pre_end - 1, self.post_start):
                return
        while self._odd(self.after, self.post_start, 1):
            if not self._use(self.pre_end, self.post_start + 1):
                return
        self.found = True

    def _use(self, pre_end: int, post_start: int) -> bool:
        if (
            pre_end + self.window + 1 < FEWEST_SAMPLES
            or self.window - post_start + 1 < FEWEST_SAMPLES
        ):
            return False
        self.pre_end, self.post_start = pre_end, post_start
        self.before, self.after = (
            self._fit(-self.window, pre_end),
            self._fit(post_start, self.window),
        )
        self.instant = self._meeting()
        return True

    def _odd(self, motion: FreeMotion, nearest: int, away: int) -> bool:
        """Whether the sample next to the impact doesn't belong to the free motion of the others on
        its side.
        """
        n = len(motion.residuals)
        if n <= FEWEST_SAMPLES:
            return False
        # the fit without the sample in question, extrapolated to it
        rest = (-self.window, nearest + away) if away < 0 else (nearest + away, self.window)
        others = self._fit(*rest)
        time = nearest * self.recording.time_step - self._middle(*rest)
        position, turned = others.poses(np.array([time]))
        row = self.sample + nearest
        measured = rotations.as_rotation(self.recording.orientation[row])
        # of a prediction beyond the fitted samples
        spread = np.sqrt(1.0 + 1.0 / (n - 1) + time**2 / others.spread)
        shift = np.abs(self.recording.position[row] - position[0]).max() / self.noise.position
        turn = np.abs((turned[0].inv() * measured).as_rotvec()).max() / self.noise.rotation
        return bool(max(shift, turn) > _ODD * spread)

    def _meeting(self) -> float:
        """Instant (s from the sample) at which the centre of mass's two parabolas come closest."""
        to_pre = self._middle(-self.window, self.pre_end)
        to_post = self._middle(self.post_start, self.window)
        before, after = self.before, self.after
        # both have the same curvature, so their difference is linear in time; at the candidate's
        # sample, to which both motions are carried back
        velocity = (after.center_velocity - to_post * after.gravity) - (
            before.center_velocity - to_pre * before.gravity
        )
        start = (
            after.center - to_post * after.center_velocity + 0.5 * to_post**2 * after.gravity
        ) - (before.center - to_pre * before.center_velocity + 0.5 * to_pre**2 * before.gravity)
        limit = 2.5 * self.recording.time_step
        return float(np.clip(-(velocity @ start) / (velocity @ velocity), -limit, limit))

    def candidate(self) -> Candidate:
        """What is known of the candidate now, with the impact that it is if nothing speaks against
        it.
        """
        body = self.recording.body
        pre_time = self.instant - self._middle(-self.window, self.pre_end)
        post_time = self.instant - self._middle(self.post_start, self.window)
        position, turned = self.before.poses(np.array([pre_time]))
        other, other_turned = self.after.poses(np.array([post_time]))
        vertex = body.vertices[self.vertex]
        # the two motions hardly meet in one point, so all that is said of the instant is their mean
        height = 0.5 * (
            (position + turned.apply(vertex))[0, 2] + (other + other_turned.apply(vertex))[0, 2]
        )
        twist, post_twist = self.before.twist(pre_time), self.after.twist(post_time)
        speed = (
            twist[:3] + cross(twist[3:], turned.apply(vertex)[0]) - self.recording.surface_velocity
        )
        # half of the turn between both
        halfway = turned[0] * rotations.Rotation.from_rotvec(
            0.5 * (turned[0].inv() * other_turned[0]).as_rotvec()
        )
        impact = Impact(
            toss=self.recording.name,
            sample=self.sample,
            vertex=self.vertex,
            position=0.5 * (position[0] + other[0]),
            orientation=rotations.as_quaternions(halfway),
            pre_twist=twist,
            post_twist=post_twist,
            pre_covariance=self.before.twist_covariance(self.noise),
            post_covariance=self.after.twist_covariance(self.noise),
            surface_velocity=self.recording.surface_velocity,
        )
        return Candidate(
            toss=self.recording.name,
            sample=self.sample,
            vertex=self.vertex,
            normal_speed=float(-speed[2]),
            instant=self.instant,
            last_pre=self.pre_end,
            first_post=self.post_start,
            misfit_pre=self.before.misfit(self.noise),
            misfit_post=self.after.misfit(self.noise),
            bend=self._bend(turned[0], post_twist - twist, pre_time, post_time),
            imbalance=self._imbalance(turned[0], post_twist - twist),
            gap=float(np.linalg.norm(other[0] - position[0])),
            contact_height=float(height),
            before=self.before,
            after=self.after,
            impact=self._window(impact, float(height)),
        )

    def _bend(
        self, turned: rotations.Rotation, change: np.ndarray, pre_time: float, post_time: float
    ) -> float:
        """Velocity that the curvature of either side would give the corner, over the corner's
        change of velocity.
        """
        arm = turned.apply(self.recording.body.vertices[self.vertex])
        sides = [self.before.bend(pre_time), self.after.bend(post_time)]
        # of the corner: v + omega x arm
        largest = max(float(np.linalg.norm(side[:3] + cross(side[3:], arm))) for side in sides)
        return largest / max(float(np.linalg.norm(change[:3] + cross(change[3:], arm))), 1e-12)

    def _imbalance(self, turned: rotations.Rotation, change: np.ndarray) -> float:
        """Violation of the momentum balance of an impulse at the vertex beyond its noise, over the
        impulse's moment.
        """
        body, noise = self.recording.body, self.noise
        to_center = turned.apply(body.center_of_mass)
        arm = turned.apply(body.vertices[self.vertex]) - to_center
        # r x m dv of the centre of mass, the twist being of B's origin
        moment = cross(arm, body.mass * (change[:3] + cross(change[3:], to_center)))
        spin = turned.apply(body.inertia @ turned.inv().apply(change[3:]))
        spread = 1.0 / self.before.spread + 1.0 / self.after.spread
        # of r x m dv, by the two components of dv across the arm
        variance = 2.0 * (body.mass * noise.position) ** 2 * (arm @ arm)
        # of I dw, by all elements of the tensor
        variance += noise.rotation**2 * float((body.inertia**2).sum())
        excess = float(np.linalg.norm(spin - moment)) - _BALANCE_NOISE * np.sqrt(spread * variance)
        return max(excess, 0.0) / max(float(np.linalg.norm(moment)), 1e-12)

    def _window(self, impact: Impact, contact_height: float) -> ImpactWindow:
        """What a simulation of the window needs; the surface is put where the corner turned round."""
        # the paper's c is of central differences, which need one sample more than poses
        step, end = self.recording.time_step, self.post_start + 1
        start_time = -self.window * step - self._middle(-self.window, self.pre_end)
        position, turned = self.before.poses(np.array([start_time]))
        twist = self.before.twist(start_time)
        return ImpactWindow(
            impact=impact,
            split=self.recording.split,
            start=State(
                # a surface at the corner's height is the plane z = 0 of a body that is lowered by
                # it
                position[0] - np.array([0.0, 0.0, contact_height]),
                rotations.as_quaternions(turned[0]),
                twist[:3],
                twist[3:],
            ),
            n_steps=self.window + end,
            end_twist=self.after.twist(end * step - self._middle(self.post_start, self.window)),
            gravity=self.recording.gravity,
        )
