"""Find the impacts of single corners in measured motion, without a human (section IV-A1 and 2, tossing paper).

A *candidate* is a local minimum in the height of a vertex near the surface that the vertex approached. It is kept where
the paper's three conditions hold (window within the recording, one corner only, fast enough), where the motion on both
sides is as free as the same data's free flight is, and where the change of spin is the one that an impulse at that
vertex gives, ``I (w+ - w-) = r x m (v+ - v-)``: this needs no contact law, and fails where a second corner hit.

The authors chose the pre- and post-impact indices by fitting a logistic curve and looking at it. Here they follow from
physics: free motions are fitted on both sides (:mod:`contactid.tossing.free_motion`); the impact happened when the two
meet; samples before that instant belong to the pre-impact motion, samples after it to the post-impact motion; and
samples next to it that don't fit their side are left out one by one, which measures the impact's duration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
import xarray as xr
from scipy.signal import find_peaks

from contactid import rotations
from contactid.datasets.motion import BodyProperties, body_of, iterate_recordings
from contactid.errors import ContactIdError
from contactid.simulate.box import State
from contactid.tossing.free_motion import FreeMotion, PoseNoise, fit_free_motion
from contactid.tossing.impact import Impact, ImpactWindow, cross
from contactid.tossing.preprocess import IDENTIFICATION
from contactid.tossing.surface import vertex_positions

_SLOWEST_CANDIDATE = 0.1  # m/s: slower dips are noise of a body that slides or rests
_NEAR = 0.005  # m, the authors' height; the way of half a sample is added, because the turning point isn't sampled
_FEWEST_SAMPLES = 4  # on either side: two of them are used up by the fit
_OFF_THE_SURFACE = 0.01  # m
_CROWDED = "another corner touches in the window"
_FEWEST_HEIGHTS = 10  # kept candidates that tell at which height corners turn round
_LARGEST_BEND = 0.06  # of the corner's change of velocity
_BALANCE_NOISE = 3.0  # standard deviations of the momentum balance that are taken for noise
_ODD = 4.0  # standard deviations of a sample that doesn't belong to its side's free motion


@dataclass(frozen=True)
class SelectionOptions:
    """Thresholds of the selection.

    Attributes
    ----------
    window : samples on either side of k_im that are looked at; 5 in the paper
    slowest : smallest normal speed of an impact, m/s; 0.3 in the paper
    largest_misfit : largest mean squared residual of a free motion, in units of the median free flight's
    largest_imbalance : largest |I dw - r x m dv| over |r x m dv|; as large as the body's inertia is uncertain
    """

    window: int = 5
    slowest: float = 0.3
    largest_misfit: float = 2.5
    largest_imbalance: float = 0.04

    def __post_init__(self) -> None:
        if self.window < _FEWEST_SAMPLES or not min(self.slowest, self.largest_misfit, self.largest_imbalance) > 0:
            raise ContactIdError(
                "the selection of impacts has a window below four samples or a threshold that isn't positive",
                "Check tossing.velocity in the configuration",
            )


@dataclass(frozen=True)
class Yardstick:
    """What the data themselves say about their noise and their surface.

    Attributes
    ----------
    noise : of one pose; scaled so that the median free flight has a misfit of 1
    clearance : m over the surface that every other vertex must keep in the window: the median height at which corners
        were seen to turn round (a rounded corner or a wrong scale lets it be below the surface)
    """

    noise: PoseNoise
    clearance: float = 0.0


@dataclass(frozen=True)
class Candidate:
    """One candidate, kept or not; what wasn't reached before it was dropped is NaN.

    Attributes
    ----------
    toss, sample, vertex : where it is; the sample counts from 0
    reason : why it was dropped; empty where it is kept
    normal_speed : m/s towards the surface; of the fit, or of the raw heights where there is none
    instant : s from ``sample`` to the instant of impact
    last_pre, first_post : samples relative to ``sample`` that end and begin the free motions (eq. 17's -b and c, of
        poses; a central difference needs one sample more)
    misfit_pre, misfit_post : mean squared standardised residuals
    bend : what curvature of the two motions would do to the corner's change of velocity, relative to it
    imbalance : |I dw - r x m dv| beyond its noise, over |r x m dv|
    gap : m between the positions of both motions at the instant
    contact_height : m of the vertex over the surface at the instant
    before, after : fitted motions
    impact : what the identification takes; None where dropped
    """

    toss: str
    sample: int
    vertex: int
    reason: str = ""
    normal_speed: float = np.nan
    instant: float = np.nan
    last_pre: int | None = None
    first_post: int | None = None
    misfit_pre: float = np.nan
    misfit_post: float = np.nan
    bend: float = np.nan
    imbalance: float = np.nan
    gap: float = np.nan
    contact_height: float = np.nan
    before: FreeMotion | None = field(default=None, repr=False)
    after: FreeMotion | None = field(default=None, repr=False)
    impact: ImpactWindow | None = field(default=None, repr=False)


@dataclass(frozen=True)
class _Recording:
    """A recording in C with what doesn't change from candidate to candidate."""

    name: str
    split: str
    position: np.ndarray
    orientation: np.ndarray
    heights: np.ndarray
    gravity: np.ndarray
    surface_velocity: np.ndarray
    time_step: float
    body: BodyProperties


def pose_noise(prepared: xr.Dataset) -> PoseNoise:
    """Sample-to-sample noise of the poses, from third differences of the samples off the surface.

    Motion is smooth there on the scale of four samples, so the third differences are noise (their variance is 20 times
    a sample's). Samples on the surface don't count: trackers smooth what doesn't move.
    """
    position, rotation = [], []
    vertices = prepared["vertices"].values
    for _, samples in iterate_recordings(prepared):
        place, turned = samples["position"].values, samples["orientation"].values
        lowest = vertex_positions(place, turned, vertices)[:, :, 2].min(axis=1)
        free = np.lib.stride_tricks.sliding_window_view(lowest, 4).min(axis=1) > _OFF_THE_SURFACE
        measured = rotations.as_rotation(turned)
        steps = (measured[:-1].inv() * measured[1:]).as_rotvec()
        position.append(np.diff(place, n=3, axis=0)[free])
        rotation.append(np.diff(steps, n=2, axis=0)[free])
    if not sum(map(len, position)):
        raise ContactIdError(f"{prepared.attrs['source']}: no sample is off the surface", "Check the surface's pose")
    return PoseNoise(_robust_deviation(np.concatenate(position)), _robust_deviation(np.concatenate(rotation)))


def _robust_deviation(third_differences: np.ndarray) -> float:
    return float(1.4826 * np.median(np.abs(third_differences)) / np.sqrt(20.0))


def find_impacts(prepared: xr.Dataset, options: SelectionOptions | None = None) -> list[Candidate]:
    """All candidates of a prepared dataset, kept or dropped.

    Noise and clearance are taken from the identification part alone (where there is one), so that what is tested on
    doesn't shape the selection.

    Raises
    ------
    ContactIdError
        Where the recordings hold no candidate at all.
    """
    options = options or SelectionOptions()
    recordings = list(_recordings(prepared))
    places = [(recording, *place) for recording in recordings for place in _candidates(recording)]
    if not places:
        raise ContactIdError(f"{prepared.attrs['source']}: no impact found", "Check the surface's pose in the data")
    known = [item for item in recordings if item.split == IDENTIFICATION] or recordings
    yardstick = Yardstick(_flight_noise(known, pose_noise(prepared), options.window))
    found = [_judge(*place, yardstick, options) for place in places]
    names = {item.name for item in known}
    heights = [item.contact_height for item in found if item.impact is not None and item.toss in names]
    if len(heights) < _FEWEST_HEIGHTS:
        return found
    yardstick = replace(yardstick, clearance=min(float(np.median(heights)), 0.0))
    return [
        _judge(*place, yardstick, options) if candidate.reason == _CROWDED else candidate
        for place, candidate in zip(places, found, strict=True)
    ]


def _flight_noise(recordings: list[_Recording], noise: PoseNoise, window: int) -> PoseNoise:
    """The noise scaled so that windows in free flight, off the surface, have a median misfit of 1.

    What third differences don't see (drag, a tracker's own filter) shows in the misfit of a longer window.
    """
    misfits = []
    for recording in recordings:
        free = recording.heights.min(axis=1) > _OFF_THE_SURFACE
        times = np.arange(window) * recording.time_step
        for first in range(0, len(free) - window, window):
            rows = slice(first, first + window)
            if free[rows].all():
                motion = fit_free_motion(
                    recording.body, times, recording.position[rows], recording.orientation[rows], recording.gravity
                )
                misfits.append(motion.misfit(noise))
    lowest = np.sort(misfits)[: max(len(misfits) // 2, 1)]  # a hand that carries the body off the surface isn't flight
    scale = np.sqrt(max(float(np.median(lowest)) if len(misfits) else 1.0, 1.0))
    return PoseNoise(noise.position * scale, noise.rotation * scale)


def _recordings(prepared: xr.Dataset) -> Iterator[_Recording]:
    body = body_of(prepared)
    for name, samples in iterate_recordings(prepared):
        position, orientation = samples["position"].values, samples["orientation"].values
        yield _Recording(
            name=name,
            split=str(samples["split"].values),
            position=position,
            orientation=orientation,
            heights=vertex_positions(position, orientation, body.vertices)[:, :, 2],
            gravity=samples["gravity"].values,
            surface_velocity=samples["surface_velocity"].values.astype(float),
            time_step=1.0 / float(prepared.attrs["sample_frequency"]),
            body=body,
        )


def _candidates(recording: _Recording) -> list[tuple[int, int, float]]:
    """(sample, vertex, speed of approach in m/s) in order of time."""
    found = []
    for vertex, heights in enumerate(recording.heights.T):
        for sample in map(int, find_peaks(-heights)[0]):
            first = max(sample - 4, 0)
            if sample - 1 <= first:
                continue
            speed = (heights[first] - heights[sample - 1]) / ((sample - 1 - first) * recording.time_step)
            if speed >= _SLOWEST_CANDIDATE and heights[sample] <= _NEAR + 0.5 * speed * recording.time_step:
                found.append((sample, vertex, float(speed)))
    return sorted(found)


def _judge(
    recording: _Recording, sample: int, vertex: int, speed: float, yardstick: Yardstick, options: SelectionOptions
) -> Candidate:
    """Apply the conditions in turn."""
    bare = Candidate(recording.name, sample, vertex, normal_speed=speed)
    window = options.window
    if sample - window < 2 or sample + window > len(recording.position) - 2:
        return replace(bare, reason="too near an end of the recording")
    others = np.delete(recording.heights[sample - window : sample + window + 1], vertex, axis=1)
    if others.min() <= yardstick.clearance:
        return replace(bare, reason=_CROWDED)
    if speed < 0.5 * options.slowest:  # too slow whatever a fit would say
        return replace(bare, reason=f"slower than {options.slowest:g} m/s")
    sides = _Sides(recording, sample, vertex, yardstick.noise, options)
    if not sides.found:
        return replace(bare, reason="no free motion on both sides")
    candidate = sides.candidate()
    if candidate.normal_speed < options.slowest:
        reason = f"slower than {options.slowest:g} m/s"
    elif max(candidate.misfit_pre, candidate.misfit_post) > options.largest_misfit or candidate.bend > _LARGEST_BEND:
        reason = "the motion around it is not free"
    elif candidate.imbalance > options.largest_imbalance:
        reason = "the impulse is not that of one corner"
    else:
        return sides.kept(candidate)
    return replace(candidate, reason=reason)


class _Sides:
    """Free motions before and after one candidate, and the instant at which they meet."""

    def __init__(
        self, recording: _Recording, sample: int, vertex: int, noise: PoseNoise, options: SelectionOptions
    ) -> None:
        self.recording, self.sample, self.vertex, self.noise = recording, sample, vertex, noise
        self.window = options.window
        self.pre_end, self.post_start = -1, 1  # relative to the sample, inclusive
        self.found = False
        self.fits: dict[tuple[int, int], FreeMotion] = {}
        self._settle()

    def _fit(self, first: int, last: int) -> FreeMotion:
        if (first, last) not in self.fits:
            self.fits[first, last] = self._fit_anew(first, last)
        return self.fits[first, last]

    def _fit_anew(self, first: int, last: int) -> FreeMotion:
        rows = np.arange(self.sample + first, self.sample + last + 1)
        return fit_free_motion(
            self.recording.body,
            (rows - self.sample) * self.recording.time_step,
            self.recording.position[rows],
            self.recording.orientation[rows],
            self.recording.gravity,
        )

    def _middle(self, first: int, last: int) -> float:
        """Reference time of a fit, s from the sample."""
        return 0.5 * (first + last) * self.recording.time_step

    def _settle(self) -> None:
        """Alternate between fitting both sides and finding the instant that parts them."""
        pre_end, post_start = -2, 2  # surely free, whatever happened between
        seen = set()
        for _ in range(8):
            if not self._use(pre_end, post_start):
                return
            if (pre_end, post_start) in seen:
                break
            seen.add((pre_end, post_start))
            instant = self.instant / self.recording.time_step
            pre_end, post_start = int(np.ceil(instant)) - 1, int(np.floor(instant)) + 1
            pre_end, post_start = min(max(pre_end, -3), 2), max(min(post_start, 3), -2)
        while self._odd(self.before, self.pre_end, -1):
            if not self._use(self.pre_end - 1, self.post_start):
                return
        while self._odd(self.after, self.post_start, 1):
            if not self._use(self.pre_end, self.post_start + 1):
                return
        self.found = True

    def _use(self, pre_end: int, post_start: int) -> bool:
        if pre_end + self.window + 1 < _FEWEST_SAMPLES or self.window - post_start + 1 < _FEWEST_SAMPLES:
            return False
        self.pre_end, self.post_start = pre_end, post_start
        self.before, self.after = self._fit(-self.window, pre_end), self._fit(post_start, self.window)
        self.instant = self._meeting()
        return True

    def _odd(self, motion: FreeMotion, nearest: int, away: int) -> bool:
        """Whether the sample next to the impact doesn't belong to the free motion of the others on its side."""
        n = len(motion.residuals)
        if n <= _FEWEST_SAMPLES:
            return False
        rest = (-self.window, nearest + away) if away < 0 else (nearest + away, self.window)
        others = self._fit(*rest)
        time = nearest * self.recording.time_step - self._middle(*rest)
        position, turned = others.poses(np.array([time]))
        row = self.sample + nearest
        measured = rotations.as_rotation(self.recording.orientation[row])
        spread = np.sqrt(1.0 + 1.0 / (n - 1) + time**2 / others.spread)  # of a prediction beyond the fitted samples
        shift = np.abs(self.recording.position[row] - position[0]).max() / self.noise.position
        turn = np.abs((turned[0].inv() * measured).as_rotvec()).max() / self.noise.rotation
        return bool(max(shift, turn) > _ODD * spread)

    def _meeting(self) -> float:
        """Instant (s from the sample) at which the centre of mass's two parabolas come closest."""
        to_pre = self._middle(-self.window, self.pre_end)
        to_post = self._middle(self.post_start, self.window)
        before, after = self.before, self.after
        # both have the same curvature, so their difference is linear in time
        velocity = (after.center_velocity - to_post * after.gravity) - (
            before.center_velocity - to_pre * before.gravity
        )
        start = (after.center - to_post * after.center_velocity + 0.5 * to_post**2 * after.gravity) - (
            before.center - to_pre * before.center_velocity + 0.5 * to_pre**2 * before.gravity
        )
        limit = 2.5 * self.recording.time_step
        return float(np.clip(-(velocity @ start) / (velocity @ velocity), -limit, limit))

    def candidate(self) -> Candidate:
        """What is known of the candidate now."""
        body = self.recording.body
        pre_time = self.instant - self._middle(-self.window, self.pre_end)
        post_time = self.instant - self._middle(self.post_start, self.window)
        position, turned = self.before.poses(np.array([pre_time]))
        other, other_turned = self.after.poses(np.array([post_time]))
        vertex = body.vertices[self.vertex]
        height = 0.5 * ((position + turned.apply(vertex))[0, 2] + (other + other_turned.apply(vertex))[0, 2])
        twist = self.before.twist(pre_time)
        speed = twist[:3] + cross(twist[3:], turned.apply(vertex)[0]) - self.recording.surface_velocity
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
            bend=self._bend(turned[0], self.after.twist(post_time) - twist, pre_time, post_time),
            imbalance=self._imbalance(turned[0], self.after.twist(post_time) - twist),
            gap=float(np.linalg.norm(other[0] - position[0])),
            contact_height=float(height),
            before=self.before,
            after=self.after,
        )

    def _bend(self, turned: rotations.Rotation, change: np.ndarray, pre_time: float, post_time: float) -> float:
        """Velocity that the curvature of either side would give the corner, over the corner's change of velocity."""
        arm = turned.apply(self.recording.body.vertices[self.vertex])
        sides = [self.before.bend(pre_time), self.after.bend(post_time)]
        largest = max(float(np.linalg.norm(side[:3] + cross(side[3:], arm))) for side in sides)
        return largest / max(float(np.linalg.norm(change[:3] + cross(change[3:], arm))), 1e-12)

    def _imbalance(self, turned: rotations.Rotation, change: np.ndarray) -> float:
        """Violation of the momentum balance of an impulse at the vertex beyond its noise, over the impulse's moment."""
        body, noise = self.recording.body, self.noise
        to_center = turned.apply(body.center_of_mass)
        arm = turned.apply(body.vertices[self.vertex]) - to_center
        moment = cross(arm, body.mass * (change[:3] + cross(change[3:], to_center)))
        spin = turned.apply(body.inertia @ turned.inv().apply(change[3:]))
        spread = 1.0 / self.before.spread + 1.0 / self.after.spread
        variance = 2.0 * (body.mass * noise.position) ** 2 * (arm @ arm)
        variance += noise.rotation**2 * float((body.inertia**2).sum())
        excess = float(np.linalg.norm(spin - moment)) - _BALANCE_NOISE * np.sqrt(spread * variance)
        return max(excess, 0.0) / max(float(np.linalg.norm(moment)), 1e-12)

    def kept(self, candidate: Candidate) -> Candidate:
        """The candidate with its impact."""
        pre_time = self.instant - self._middle(-self.window, self.pre_end)
        post_time = self.instant - self._middle(self.post_start, self.window)
        position, turned = self.before.poses(np.array([pre_time]))
        other, other_turned = self.after.poses(np.array([post_time]))
        halfway = turned[0] * rotations.Rotation.from_rotvec(0.5 * (turned[0].inv() * other_turned[0]).as_rotvec())
        impact = Impact(
            toss=self.recording.name,
            sample=self.sample,
            vertex=self.vertex,
            position=0.5 * (position[0] + other[0]),
            orientation=rotations.as_quaternions(halfway),
            pre_twist=self.before.twist(pre_time),
            post_twist=self.after.twist(post_time),
            pre_covariance=self.before.twist_covariance(self.noise, pre_time),
            post_covariance=self.after.twist_covariance(self.noise, post_time),
            surface_velocity=self.recording.surface_velocity,
        )
        return replace(candidate, impact=self._window(impact, candidate.contact_height))

    def _window(self, impact: Impact, contact_height: float) -> ImpactWindow:
        """What a simulation of the window needs; the surface is put where the corner turned round."""
        step, end = self.recording.time_step, self.post_start + 1
        start_time = -self.window * step - self._middle(-self.window, self.pre_end)
        position, turned = self.before.poses(np.array([start_time]))
        twist = self.before.twist(start_time)
        return ImpactWindow(
            impact=impact,
            split=self.recording.split,
            start=State(
                position[0] - np.array([0.0, 0.0, contact_height]),
                rotations.as_quaternions(turned[0]),
                twist[:3],
                twist[3:],
            ),
            n_steps=self.window + end,
            end_twist=self.after.twist(end * step - self._middle(self.post_start, self.window)),
            gravity=self.recording.gravity,
        )


def candidate_table(candidates: list[Candidate], dataset: str) -> pd.DataFrame:
    """One row per candidate: where, how fast, kept or why not, and the quality of the fits."""
    return pd.DataFrame(
        [
            {
                "dataset": dataset,
                "toss": item.toss,
                "sample": item.sample,
                "vertex": item.vertex + 1,  # p_1 to p_8, as the paper counts
                "normal_speed": item.normal_speed,
                "kept": item.impact is not None,
                "reason": item.reason,
                "instant_ms": 1e3 * item.instant,
                "last_pre": item.last_pre,
                "first_post": item.first_post,
                "misfit_pre": item.misfit_pre,
                "misfit_post": item.misfit_post,
                "bend": item.bend,
                "imbalance": item.imbalance,
                "gap_mm": 1e3 * item.gap,
                "contact_height_mm": 1e3 * item.contact_height,
            }
            for item in candidates
        ]
    )
