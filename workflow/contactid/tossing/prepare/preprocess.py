"""From canonical motion to tosses: surface frame, events, rest poses, and why a toss is left out.

The result is the canonical dataset with its poses expressed in C (the plane corrected by the bodies
at rest, so that z = 0 is the surface) and, per recording:

=================== ============== ===================================================================================
release             sample         first sample of free flight (eq. 18's k_rel)
contact             sample         first sample after which the motion is no free fall
rest                sample         first sample at rest (eq. 18's k_rest)
rest_position       m              mean over the rest
rest_orientation    1              Karcher mean over the rest
tumbled             0 or 1         the upper face at rest is not the one at first contact
reason              text           why the recording is left out; empty where it is used
split               text           ``identification`` or ``test``; ``released``, see :func:`preprocess_on`
events              text           the rule that release and rest are by, ``data_driven`` or ``authors``
=================== ============== ===================================================================================

Sample indices count from 0 within the recording; -1 where there is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from contactid.core import rotations
from contactid.core.errors import ContactIdError
from contactid.output.tables import write_csv
from contactid.sources.motion import (
    BodyProperties,
    body_of,
    iterate_recordings,
    read_dataset,
    write_dataset,
)
from contactid.tossing.prepare.events import (
    IN_MOTION,
    Events,
    as_authors,
    find_events,
    find_flight,
    find_rest,
)
from contactid.tossing.prepare.poses import PlaneCorrection, fit_plane, in_surface_frame

IDENTIFICATION, TEST = "identification", "test"
RELEASED = "released"  # ends in motion; predicted, never held against a rest pose
_REST_MEAN_SECONDS = 101 / 360  # the authors average 101 samples at 360 Hz
_GRAVITY = 9.81


def split_of(names: np.ndarray, share: float, seed: int) -> np.ndarray:
    """``identification`` or ``test`` for each name, by a seeded permutation of the sorted names.

    Exactly ``round(share n)`` of them are for identification, whatever their order in the source.
    """
    order = np.argsort(names.astype(str))
    shuffled = np.random.default_rng(seed).permutation(len(names))
    parts = np.full(len(names), TEST, dtype=object)
    # of sorted names, so that the split doesn't depend on the order of files
    parts[order[shuffled[: round(share * len(names))]]] = IDENTIFICATION
    return parts


def upper_face(orientation: np.ndarray) -> np.ndarray:
    """Which face looks up: +-1, +-2, +-3 for the body axis nearest to z_C; ``orientation`` (..., 4)
    of R_CB.
    """
    upward = rotations.matrices(orientation)[..., 2, :]
    axis = np.argmax(np.abs(upward), axis=-1)
    return (axis + 1) * np.sign(
        np.take_along_axis(upward, axis[..., None], axis=-1)[..., 0]
    ).astype(int)


def preprocess(
    motion: xr.Dataset,
    *,
    share: float,
    seed: int,
    exclude_tumbling: bool,
    require_usable: bool,
    events: Mapping[str, Any],
) -> xr.Dataset:
    """Prepare all recordings of a canonical dataset; see the module's docstring for what is added.

    Each plane of the data is fitted to the rest poses of the identification part alone, so that
    test tosses contribute to nothing they are tested on; where there are no others, the test
    tosses' own rest poses are used.

    Parameters
    ----------
    share, seed : share of the recordings that is kept for identification, and the seed of that
        split; the rest is the test part
    exclude_tumbling : leave out tosses that change their upper face, as the paper does
    require_usable : refuse a dataset without a usable toss; drops, of which only impacts are used,
        need none
    events : ``rule`` (``data_driven`` or ``authors``) and the thresholds of :func:`find_events`.
        The authors' constants are known for identification alone, and a toss that they don't fit
        keeps the events that the data give.

    Raises :class:`ContactIdError` where no toss can be used and one is required.
    """
    body = body_of(motion)
    time_step = 1.0 / motion.attrs["sample_frequency"]
    split = split_of(motion["recording"].values, share, seed)
    tosses = _tosses_of(motion)
    surfaces = _surfaces(motion)
    # each surface by itself: markers of different planes have different heights
    planes = {
        name: _surface_from_rest(
            [toss for toss, other in zip(tosses, surfaces, strict=True) if other == name],
            split[surfaces == name], body, time_step, events["rest_speed"],
        )
        for name in np.unique(surfaces)
    }  # fmt: skip
    for toss, name, part in zip(tosses, surfaces, split, strict=True):
        toss.correct(planes[name])
        # the authors' constants for validation aren't known
        rule = events["rule"] if part == IDENTIFICATION else toss.rule
        toss.judge(body, time_step, exclude_tumbling, {**events, "rule": rule})
    if require_usable and all(toss.reason for toss in tosses):
        raise ContactIdError(
            f"{motion.attrs['source']}: none of its {len(tosses)} recordings is usable (the first: {tosses[0].reason})",
            "Check the data or the event thresholds",
        )
    # attributes have one plane; of several it is the one with most recordings
    commonest = max(planes, key=lambda name: np.count_nonzero(surfaces == name))
    return _assemble(motion, tosses, split, planes[commonest])


def preprocess_on(
    motion: xr.Dataset, plane: PlaneCorrection, *, exclude_tumbling: bool, events: Mapping[str, Any]
) -> xr.Dataset:
    """Prepare all recordings as test tosses on a surface that is known, with the same result as
    :func:`preprocess`.

    ``motion`` has one surface, which ``plane`` corrects; nothing is fitted. No toss need be usable.
    A recording that ends in motion is of the part ``RELEASED``: its rest pose is NaN, its ``rest``
    the last sample, and its ``contact`` behind that where it ends in flight.
    """
    body, tosses = body_of(motion), _tosses_of(motion)
    time_step, parts = 1.0 / motion.attrs["sample_frequency"], []
    for toss in tosses:
        toss.correct(plane)
        toss.judge(body, time_step, exclude_tumbling, {**events, "rule": toss.rule})
        parts.append(RELEASED if _released(toss, body, time_step, events) else TEST)
    return _assemble(motion, tosses, np.array(parts, dtype=object), plane)


def _released(
    toss: _Toss, body: BodyProperties, time_step: float, events: Mapping[str, Any]
) -> bool:
    """Whether a toss ends in motion after a flight, whose events it then has."""
    # any other reason is a flaw of the recording
    if toss.reason != IN_MOTION:
        return False
    flight = find_flight(
        toss.position, toss.orientation, body.vertices, body.center_of_mass, time_step,
        gravity=toss.gravity, surface_velocity=toss.belt,
        rest_speed=events["rest_speed"], fall_tolerance=events["fall_tolerance"],
    )  # fmt: skip
    if flight.reason:
        return False
    # motion at the end is no flaw of a toss that is only predicted
    toss.events, toss.reason = flight, ""
    return True


def _tosses_of(motion: xr.Dataset) -> list[_Toss]:
    """Its recordings, their poses in the frame of the surface as it was measured."""
    tosses = []
    for _, samples in iterate_recordings(motion):
        frame = samples["surface_position"].values, samples["surface_orientation"].values
        position, orientation = in_surface_frame(
            samples["position"].values, samples["orientation"].values, *frame
        )
        # a surface that leans has gravity aslant in its own frame
        gravity = rotations.as_rotation(frame[1]).inv().apply([0.0, 0.0, -_GRAVITY])
        belt = samples["surface_velocity"].values.astype(float)
        tosses.append(_Toss(position, rotations.continuous(orientation), belt, gravity))
    return tosses


def _surfaces(motion: xr.Dataset) -> np.ndarray:
    """Name of each recording's surface (recording,): an archive may have several, each with its
    markers' own height.
    """
    named = json.loads(motion.attrs.get("surfaces", "{}"))
    return np.array([named.get(str(name), "") for name in motion["recording"].values])


class _Toss:
    """One recording while it is prepared."""

    def __init__(
        self, position: np.ndarray, orientation: np.ndarray, belt: np.ndarray, gravity: np.ndarray
    ) -> None:
        self.position, self.orientation, self.belt, self.gravity = (
            position,
            orientation,
            belt,
            gravity,
        )
        self.events, self.rule = Events(reason="not judged yet"), "data_driven"
        self.reason = ""
        self.tumbled = False
        self.rest_position = np.full(3, np.nan)
        self.rest_orientation = np.full(4, np.nan)

    def mean_pose_from(self, first: int, time_step: float) -> tuple[np.ndarray, np.ndarray]:
        """Mean pose of the rest that begins at a sample; the belt's travel since then is taken out."""
        end = min(first + max(1, round(_REST_MEAN_SECONDS / time_step)), len(self.position))
        # on a belt the body at rest moves with it
        travel = np.arange(end - first)[:, None] * time_step * self.belt
        return (self.position[first:end] - travel).mean(axis=0), rotations.karcher_mean(
            self.orientation[first:end]
        )

    def correct(self, plane: PlaneCorrection) -> None:
        """Move the poses to the plane's frame."""
        self.position, self.orientation = plane.apply(self.position, self.orientation)
        self.gravity = plane.rotation.inv().apply(self.gravity)

    def judge(
        self,
        body: BodyProperties,
        time_step: float,
        exclude_tumbling: bool,
        events: Mapping[str, Any],
    ) -> None:
        """Find events and rest pose, and say why the toss can't be used where it can't."""
        self.events = find_events(
            self.position, self.orientation, body.vertices, body.center_of_mass, time_step,
            gravity=self.gravity, surface_velocity=self.belt,
            rest_speed=events["rest_speed"], fall_tolerance=events["fall_tolerance"],
        )  # fmt: skip
        if events["rule"] == "authors":
            theirs = as_authors(
                self.events,
                self.position,
                self.orientation,
                body.vertices,
                time_step,
                self.belt,
                events["rest_speed"],
            )
            if not theirs.reason:
                self.events, self.rule = theirs, "authors"
        self.reason = self.events.reason
        if self.reason:
            return
        self.rest_position, self.rest_orientation = self.mean_pose_from(self.events.rest, time_step)
        self.tumbled = bool(
            # the face at first contact, since a body may turn over in flight
            upper_face(self.orientation[self.events.contact]) != upper_face(self.rest_orientation)
        )
        heights = (
            self.rest_position[2] + rotations.matrices(self.rest_orientation)[2] @ body.vertices.T
        )
        # a face touches with four vertices: the fourth lowest one is high on an edge or a corner
        if np.sort(heights)[3] > 0.1 * np.ptp(body.vertices[:, 2]):
            self.reason = "at rest on something else than a face"
        elif self.tumbled and exclude_tumbling:
            self.reason = "tumbles onto another face"


def _surface_from_rest(
    tosses: list[_Toss],
    split: np.ndarray,
    body: BodyProperties,
    time_step: float,
    rest_speed: float,
) -> PlaneCorrection:
    """The plane under the bodies at rest of the identification part (of all where there is none)."""
    resting = []
    for toss, part in zip(tosses, split, strict=True):
        if part == IDENTIFICATION or not (split == IDENTIFICATION).any():
            rest = find_rest(
                toss.position, toss.orientation, body.vertices, time_step, toss.belt, rest_speed
            )
            # 0: it lay there all the time and was never tossed
            if rest > 0:
                resting.append(toss.mean_pose_from(rest, time_step))
    if not resting:
        # nothing at rest: the data's own plane
        return PlaneCorrection(0.0, np.zeros(2), 0.0, 0)
    positions, orientations = map(np.stack, zip(*resting, strict=True))
    return fit_plane(positions, orientations, body.vertices)


def _assemble(
    motion: xr.Dataset, tosses: list[_Toss], split: np.ndarray, plane: PlaneCorrection
) -> xr.Dataset:
    def stacked(name: str) -> np.ndarray:
        return np.stack([getattr(toss, name) for toss in tosses])

    columns: dict[str, tuple[Any, ...]] = {
        "position": (
            ("sample", "xyz"),
            np.concatenate([toss.position for toss in tosses]),
            {"units": "m"},
        ),
        "orientation": (
            ("sample", "wxyz"),
            np.concatenate([toss.orientation for toss in tosses]),
            {"units": "1"},
        ),
        "gravity": (("recording", "xyz"), stacked("gravity"), {"units": "m/s2"}),
    }
    for name in ("release", "contact", "rest"):
        values = np.array([getattr(toss.events, name) for toss in tosses], dtype="int64")
        columns[name] = ("recording", values, {"units": "1"})
    columns |= {
        "rest_position": (("recording", "xyz"), stacked("rest_position"), {"units": "m"}),
        "rest_orientation": (("recording", "wxyz"), stacked("rest_orientation"), {"units": "1"}),
        "tumbled": ("recording", stacked("tumbled").astype("int64")),
        "reason": ("recording", np.array([toss.reason for toss in tosses], dtype=object)),
        "split": ("recording", split),
        "events": ("recording", np.array([toss.rule for toss in tosses], dtype=object)),
    }
    prepared = motion.drop_vars(["surface_position", "surface_orientation"]).assign(columns)
    return prepared.assign_attrs(
        plane_height=plane.height,
        plane_slope_x=float(plane.slope[0]),
        plane_slope_y=float(plane.slope[1]),
        plane_scatter=plane.scatter,
        plane_tosses=plane.n_tosses,
    )


def toss_table(prepared: xr.Dataset, dataset: str) -> pd.DataFrame:
    """One row per toss of the source, those that the reader left out included, with the reason
    where one isn't used.
    """
    reasons = prepared["reason"].values.astype(object)
    # of the reader: what it cut off may be behind the reason
    remarks = json.loads(prepared.attrs.get("remarks", "{}"))
    for index, name in enumerate(prepared["recording"].values.astype(str)):
        if reasons[index] and "cut off" in remarks.get(name, ""):
            reasons[index] = f"{reasons[index]} ({remarks[name]})"
    table = pd.DataFrame(
        {
            "dataset": dataset,
            "toss": prepared["recording"].values.astype(str),
            "split": prepared["split"].values.astype(str),
            "used": reasons == "",
            "reason": reasons,
            "tumbled": prepared["tumbled"].values.astype(bool),
            "samples": prepared["row_size"].values,
            **{
                f"{event}_sample": prepared[event].values
                for event in ("release", "contact", "rest")
            },
            "events": prepared["events"].values.astype(str),
        }
    )
    unread = json.loads(prepared.attrs.get("left_out", "{}"))
    rows = {
        "dataset": dataset,
        "toss": list(unread),
        "split": "",
        "used": False,
        "reason": list(unread.values()),
    }
    return pd.concat([table, pd.DataFrame(rows)], ignore_index=True) if unread else table


def prepare(
    motion: str,
    dataset: str,
    share: float,
    seed: int,
    exclude_tumbling: bool,
    require_usable: bool,
    events: dict[str, Any],
    prepared: str,
    table: str,
) -> None:
    """Prepare the tosses of a canonical dataset; write :func:`preprocess`'s ``prepared`` and
    :func:`toss_table`.
    """
    tosses = preprocess(
        read_dataset(motion),
        share=share,
        seed=seed,
        exclude_tumbling=exclude_tumbling,
        require_usable=require_usable,
        events=events,
    )
    write_dataset(tosses, prepared)
    write_csv(toss_table(tosses, dataset), table)
