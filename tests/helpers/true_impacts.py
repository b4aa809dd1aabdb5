"""What is true of the impacts of synthetic drops: simulated again, step by step, from their known
releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.core import rotations
from contactid.sources.motion import BodyProperties
from contactid.tossing.impacts.sides import FEWEST_SAMPLES
from contactid.tossing.simulate.box import ContactParameters, SteppingOptions, Trajectory, simulate
from iam_tosses import SAMPLE_FREQUENCY, SUBSTEPS, box_model
from iam_twins import SURFACES, MocapNoise, TwinTruth
from motion_in_memory import read_iam_archive
from tosses_for_tests import prepare_tosses
from twin_truth import read_truth

EMBEDDED = Path(__file__).parents[2] / "workflow" / "resources" / "embedded"
BOXES = ("box004", "box005", "box006", "box007")
WINDOW = 5  # samples
_SLOWEST = 0.1  # m/s; what settles on the surface isn't listed


@dataclass(frozen=True)
class TrueImpact:
    """One corner's first step in contact, not slower than 0.1 m/s.

    Attributes
    ----------
    instant : samples from the beginning of the recording; the middle of the step
    vertex, speed : which corner, and its normal speed towards the surface just before, m/s
    alone : nothing else touches within five samples on either side, and the window lies in free
        flight
    pre_twist, post_twist : (6,) hybrid twists just before and after
    """

    instant: float
    vertex: int
    speed: float
    alone: bool
    pre_twist: np.ndarray
    post_twist: np.ndarray


@dataclass(frozen=True)
class TrueDrop:
    """One drop: every step of its free motion, the sample of its release, and its impacts in order
    of time.
    """

    fine: Trajectory
    release_sample: int
    impacts: list[TrueImpact]

    def normal_impulses(self, first: float, last: float) -> np.ndarray:
        """(vertex,) N s between two instants, samples from the beginning of the recording."""
        low, high = (max(round((end - self.release_sample) * SUBSTEPS), 0) for end in (first, last))
        return self.fine.impulses[low:high, :, 2].sum(axis=0)


@dataclass(frozen=True)
class Drops:
    """A twin of drops, prepared as the study does it, with its truth; ``drops`` by the recording's
    name.
    """

    prepared: xr.Dataset
    body: BodyProperties
    parameters: ContactParameters
    noise: MocapNoise
    drops: dict[str, TrueDrop]

    @property
    def speed_deviation(self) -> float:
        """Standard deviation (m/s) of a fitted corner's speed where the fewest samples are fitted."""
        spread = np.sqrt(FEWEST_SAMPLES * (FEWEST_SAMPLES**2 - 1) / 12.0) / SAMPLE_FREQUENCY
        arm = float(np.linalg.norm(self.body.vertices, axis=1).max())
        return float(
            np.hypot(self.noise.position_jitter, self.noise.orientation_jitter * arm) / spread
        )

    def matching(self, toss: str, vertex: int, instant: float) -> TrueImpact | None:
        """The true impact of a corner within one sample of an instant; the hardest where there are
        several.
        """
        near = [
            one
            for one in self.drops[toss].impacts
            if one.vertex == vertex and abs(one.instant - instant) < 1.0
        ]
        return max(near, key=lambda one: one.speed, default=None)


def prepared_drops(path: Path, last: int | None = None) -> xr.Dataset:
    """A twin's file (or only its last recordings), read and prepared."""
    truth = read_truth(path)
    motion = read_iam_archive(
        path, truth.object_name, surface_name=SURFACES, surface_height=0.0, licence="none"
    )
    if last is not None:
        sizes = motion["row_size"].values
        motion = motion.isel(
            recording=slice(-last, None), sample=slice(int(sizes[:-last].sum()), None)
        )
    return prepare_tosses(motion, require_usable=False)


def load_drops(path: Path, last: int | None = None) -> Drops:
    """A twin's file (or only its last recordings), prepared and simulated again."""
    truth, prepared = read_truth(path), prepared_drops(path, last)
    lengths = dict(
        zip(map(str, prepared["recording"].values), prepared["row_size"].values, strict=True)
    )
    body = box_model(truth.object_name).body
    drops = {name: _true_drop(truth, body, name, int(length)) for name, length in lengths.items()}
    return Drops(prepared, body, truth.parameters, truth.noise, drops)


def _true_drop(truth: TwinTruth, body: BodyProperties, name: str, n_samples: int) -> TrueDrop:
    recording = truth.recordings[name]
    step = 1.0 / (SAMPLE_FREQUENCY * SUBSTEPS)
    fine = simulate(
        body,
        recording.release,
        truth.parameters,
        SteppingOptions(step, gravity=recording.gravity),
        (n_samples - recording.release_sample - 1) * SUBSTEPS + 1,
        recording.surface_velocity,
    )
    # in the middle of a step half of its gravity has acted
    half = 0.5 * step * np.array([*recording.gravity, 0.0, 0.0, 0.0])
    twists = np.hstack([fine.linear_velocity, fine.angular_velocity])
    pushed = fine.impulses[:, :, 2] > 1e-12
    begun = pushed & ~np.vstack([np.zeros_like(pushed[:1]), pushed[:-1]])
    steps, vertices = np.nonzero(begun)
    arms = np.einsum(
        "nij,nj->ni", rotations.matrices(fine.orientation[steps]), body.vertices[vertices]
    )
    speeds = -(twists[steps] + half)[:, 2] - np.cross(twists[steps, 3:], arms)[:, 2]
    reach = WINDOW * SUBSTEPS
    impacts = [
        TrueImpact(
            instant=recording.release_sample + (at + 0.5) / SUBSTEPS,
            vertex=int(vertex),
            speed=float(speed),
            alone=at >= reach
            and at + reach < len(pushed)
            and pushed[at - reach : at + reach + 1].sum() == 1,
            pre_twist=twists[at] + half,
            post_twist=twists[at + 1] - half,
        )
        for at, vertex, speed in zip(steps, vertices, speeds, strict=True)
        if speed > _SLOWEST
    ]
    return TrueDrop(fine, recording.release_sample, impacts)
