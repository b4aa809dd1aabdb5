"""A user's own tosses, matched with a body of a finished run, and prepared as the run did."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import xarray as xr

from contactid.core.errors import ContactIdError
from contactid.sources.conventions import STATED, Convention
from contactid.sources.left_out import joined
from contactid.sources.motion import (
    BodyProperties,
    body_of,
    iterate_recordings,
    read_dataset,
    some_recordings,
)
from contactid.tossing.own.conventions import explained_motion
from contactid.tossing.own.files import EXPERIMENT
from contactid.tossing.own.finished_run import FinishedRun, IdentifiedBody, size_of
from contactid.tossing.own.recordings import OwnMotion, Tosses, has_tables, read_own
from contactid.tossing.own.usable import (
    events_of,
    fall_of,
    levelled,
    recording_warnings,
    without_moving_tosses,
)
from contactid.tossing.prepare.poses import fit_plane
from contactid.tossing.prepare.preprocess import (
    IDENTIFICATION,
    RELEASED,
    TEST,
    preprocess,
    preprocess_on,
    toss_table,
)

_SAME = 0.02  # relative: sizes and masses of one body
_FLIGHT, _FALL = 8, 0.05  # samples; relative: a camera that isn't calibrated is 2 % off
_OFF_SURFACE = 2e-3  # m: bodies at rest farther from the run's surface lie on another one


@dataclass(frozen=True)
class OwnTosses:
    """Prepared tosses, and what of the run they go with."""

    name: str  # of the file or folder
    object: str  # what was tossed
    # as :func:`contactid.tossing.prepare.preprocess.preprocess` makes it. These tosses are its test
    # part, and its released one those that end in motion; where they lie on the run's own surface,
    # the run's identification tosses are its other part.
    prepared: xr.Dataset
    identified: tuple[IdentifiedBody, ...]  # the run's datasets of this body
    seen: frozenset[str]  # names of the tosses that the run identified on
    left_out: dict[str, str]  # reason by name, of recordings that can't be used
    # notes, warnings: sentences
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    def count(self, part: str) -> int:
        """Usable tosses of a part, ``TEST`` or ``RELEASED``."""
        return int(((self.prepared["split"] == part) & (self.prepared["reason"] == "")).sum())

    def description(self) -> str:
        """What was read, as a sentence."""
        n = self.count(TEST) + self.count(RELEASED)
        rate = float(self.prepared.attrs["sample_frequency"])
        return f"{self.name}: {n} tosses of {self.object} ({size_of(body_of(self.prepared))}), {rate:g} frames/s."


def read_tosses(
    tosses: Tosses,
    run: FinishedRun,
    object_name: str = "",
    surface: str = "",
    convention: Convention = STATED,
) -> OwnTosses:
    """Read tosses, find the run's datasets of the same body, and prepare the tosses as the run's
    test tosses were.

    Parameters
    ----------
    tosses : a folder, or files of one kind; poses in tables are of the run's body
    run : whose parameters are to be used
    object_name, surface : of an I.AM. archive: which box, and names of its planes, in order, with
        commas. By default the box that is there (of several the run's), and the plane that it comes
        to rest on.
    convention : in what frame and units the poses are

    Raises :class:`ContactIdError` where nothing there can be read or used, the run knows no such
    body, or another convention explains the poses.
    """
    own = _read(tosses, run, object_name, surface, convention)
    meant = explained_motion(own.motion, own.convention, placed=own.placed, length=own.length)
    motion = levelled(meant)
    identified, warnings = _of_this_body(motion, run)
    prepared, on_the_run_s, warning = _prepared(motion, run, identified)
    warnings += warning
    warnings += _of_the_fall(prepared)
    warnings += recording_warnings(prepared, size_doubted=bool(warning))
    table = toss_table(prepared, "")
    reasons = {
        str(name): str(reason)
        for name, reason in table[~table["used"]][["toss", "reason"]].to_numpy()
    }
    if reasons:
        name, reason = next(iter(reasons.items()))
        warnings.append(f"{len(reasons)} of {len(table)} recordings are left out; {name}: {reason}")
    notes = (
        []
        if on_the_run_s
        else ["The surface is fitted to the poses at rest of these tosses themselves."]
    )
    in_motion = int((prepared["split"] == RELEASED).sum())
    if in_motion:
        notes.append(
            f"{in_motion} recordings end in motion: they have faces and regions, but no losses."
        )
    if motion.attrs.get("assumed"):
        notes.append(f"Without {EXPERIMENT}: frame rate, mass and inertia are taken as published.")
    return OwnTosses(
        name=Path(motion.attrs["source"]).name,
        object=str(motion.attrs["object"]),
        prepared=_with_identified(prepared, run, identified) if on_the_run_s else prepared,
        identified=tuple(identified),
        seen=frozenset(_seen(motion, run, identified)),
        left_out=reasons,
        notes=tuple(notes),
        warnings=tuple(warnings),
    )


def _read(
    tosses: Tosses, run: FinishedRun, object_name: str, surface: str, convention: Convention
) -> OwnMotion:
    names = {one.object for one in run.bodies}
    if not has_tables(tosses):
        return read_own(tosses, None, convention, object_name, surface, names)
    chosen = {object_name} & names if object_name else names
    if len(chosen) != 1:
        raise ContactIdError(
            f"a table doesn't say what was tossed; {run.folder} identified {', '.join(sorted(names))}",
            "Name one of them: --object (make: OBJECT=)",
        )
    name = chosen.pop()
    body = next(one.body for one in run.bodies if one.object == name)
    own = read_own(tosses, body, convention)
    return replace(own, motion=own.motion.assign_attrs(object=name))


def _prepared(
    motion: xr.Dataset, run: FinishedRun, identified: Sequence[IdentifiedBody]
) -> tuple[xr.Dataset, bool, list[str]]:
    """Prepared tosses, whether they lie on the run's own surface, and what is to be said of that."""
    # these tosses' camera may be another one than the run's
    slow = max(run.block["events"]["rest_speed"], events_of(motion)["rest_speed"])
    settings = {
        "exclude_tumbling": run.block["exclude_tumbling"],
        "events": {**run.block["events"], "rest_speed": slow},
    }
    plane = next((one.plane for one in identified if one.plane is not None), None)
    known = (
        None
        # named surfaces have a frame for each recording, so that one plane doesn't fit all
        if plane is None or "surfaces" in motion.attrs
        else without_moving_tosses(preprocess_on(motion, plane, **settings))
    )
    if known is not None:
        height = _above_the_surface(known)
        # without a pose at rest there is nothing to fit a surface to, so the run's is taken
        released = np.isnan(height) and (known["split"] == RELEASED).any()
        if released or abs(height) <= _OFF_SURFACE:
            return known, True, []
    # no identification part: the surface is fitted to the tosses' own rest
    prepared = without_moving_tosses(
        preprocess(motion, share=0.0, seed=0, require_usable=True, **settings)
    )
    if known is None or plane is None:
        return prepared, False, []
    off = 1e3 * (prepared.attrs["plane_height"] - plane.height)
    said = (
        f"These tosses come to rest {off:+.1f} mm off the surface that the run found: the box's sides "
        f"are {2.0 * abs(off):.0f} mm {'longer' if off > 0.0 else 'shorter'} than the run's, or the "
        "surface is another one, fitted to their own poses at rest"
    )
    return prepared, False, [said]


# What of the run they go with


def _of_this_body(motion: xr.Dataset, run: FinishedRun) -> tuple[list[IdentifiedBody], list[str]]:
    """The run's datasets of the tosses' body, by its name or else by size and mass, and what
    differs.
    """
    name, body = str(motion.attrs["object"]), body_of(motion)
    # a name goes before size and mass
    named = [one for one in run.bodies if one.object.lower() == name.lower()]
    found = named or [one for one in run.bodies if _differences(body, one.body) == []]
    if not found:
        known = dict.fromkeys(f"{one.object} ({size_of(one.body)})" for one in run.bodies)
        raise ContactIdError(
            f"{motion.attrs['source']}: tosses of {name} ({size_of(body)}), but {run.folder} identified "
            f"{', '.join(known)}",
            "Name a finished run of this body",
        )
    warnings = []
    if not named:
        warnings.append(
            f"{name} is taken for the run's {found[0].object}, which has its size and mass"
        )
    for one in found:
        if differences := _differences(body, one.body):
            warnings.append(
                f"The body isn't that of {one.dataset}, on which the run identified: {joined(differences)}. "
                "Friction and restitution may hold for it, a calibrated body doesn't"
            )
    if all(one.synthetic for one in found) and not motion.attrs["synthetic"]:
        warnings.append(
            f"The run {run.name} identified on simulated tosses: its parameters are those of the simulation, whatever "
            "the real body's are"
        )
    return found, list(dict.fromkeys(warnings))


def _differences(body: BodyProperties, other: BodyProperties) -> list[str]:
    """In what two bodies differ by more than 2 %: size, mass, principal moments; the second is the
    run's.
    """
    sides, others = np.ptp(body.vertices, axis=0), np.ptp(other.vertices, axis=0)
    found = []
    if not np.allclose(sides, others, rtol=_SAME):
        found.append(f"it measures {size_of(body)} instead of {size_of(other)}")
    if not np.isclose(body.mass, other.mass, rtol=_SAME):
        found.append(f"its mass is {body.mass:.4g} kg instead of {other.mass:.4g} kg")
    # kg mm2, whatever the order of the axes
    moments, expected = (1e6 * np.linalg.eigvalsh(one.inertia) for one in (body, other))
    if not np.allclose(moments, expected, rtol=_SAME):
        told = (", ".join(f"{value:.4g}" for value in values) for values in (moments, expected))
        found.append("its principal moments are {} instead of {} kg mm2".format(*told))
    return found


def _seen(motion: xr.Dataset, run: FinishedRun, identified: Sequence[IdentifiedBody]) -> list[str]:
    """Names of the recordings whose very poses the run identified on, whatever they are called
    there.
    """
    known: set[bytes] = set()
    for one in identified:
        split = read_dataset(run.data(one, "tosses"))["split"].values
        recorded = _poses(read_dataset(run.data(one, "motion")))
        known |= {
            poses for poses, part in zip(recorded, split, strict=True) if part == IDENTIFICATION
        }
    named = zip(motion["recording"].values, _poses(motion), strict=True)
    return [str(name) for name, poses in named if poses in known]


def _poses(motion: xr.Dataset) -> list[bytes]:
    """The very bytes of each recording's poses."""
    poses = np.hstack([motion["position"].values, motion["orientation"].values])
    return [part.tobytes() for part in np.split(poses, np.cumsum(motion["row_size"].values)[:-1])]


def _above_the_surface(prepared: xr.Dataset) -> float:
    """Median height (m) of the resting faces of usable tosses above z = 0; NaN where none is
    usable.
    """
    used = (prepared["reason"].values == "") & (prepared["split"].values == TEST)
    resting = prepared["rest_position"].values[used], prepared["rest_orientation"].values[used]
    faces = [
        fit_plane(p[None], q[None], prepared["vertices"].values).height
        for p, q in zip(*resting, strict=True)
    ]
    return float(np.median(faces)) if faces else np.nan


def _of_the_fall(prepared: xr.Dataset) -> list[str]:
    """What to say where the tosses don't fall as bodies do: then time or lengths are others than
    stated.
    """
    found, step = [], 1.0 / float(prepared.attrs["sample_frequency"])
    for _, samples in iterate_recordings(prepared):
        flight = samples["position"].values[int(samples["release"]) : int(samples["contact"])]
        if not str(samples["reason"].values) and len(flight) >= _FLIGHT:
            gravity = samples["gravity"].values
            found.append(fall_of(flight, step)[:3] @ gravity / np.linalg.norm(gravity))
    if not found:
        return []
    fall, weight = float(np.median(found)), float(np.linalg.norm(prepared["gravity"].values[0]))
    error = 1.4826 * float(np.median(np.abs(np.array(found) - fall))) / np.sqrt(len(found))
    if abs(fall - weight) < max(_FALL * weight, 3.0 * error):
        return []
    return [
        f"In flight these tosses fall with {fall:.3g} m/s2: their frame rate ({1.0 / step:.4g}) or lengths are wrong"
    ]


def _with_identified(
    prepared: xr.Dataset, run: FinishedRun, identified: Sequence[IdentifiedBody]
) -> xr.Dataset:
    """The tosses with the run's identification tosses beside them: a calibrated body is put on
    these tosses' surface, as in the run."""
    # on the run's own surface there is one
    one = next(one for one in identified if one.plane is not None)
    theirs = read_dataset(run.data(one, "tosses"))
    theirs = some_recordings(theirs, theirs["split"].values == IDENTIFICATION)
    parts = [prepared, theirs]
    rows = xr.concat([part[_along(part, "recording")] for part in parts], "recording")
    samples = xr.concat([part[_along(part, "sample")] for part in parts], "sample")
    about = prepared.drop_dims(["recording", "sample"])
    return about.assign({**rows.variables, **samples.variables}).assign_attrs(prepared.attrs)


def _along(dataset: xr.Dataset, dimension: str) -> list[str]:
    return [str(name) for name in dataset.variables if dimension in dataset[name].dims]


def test_part(prepared: xr.Dataset, *also: str) -> xr.Dataset:
    """The tosses that are to be predicted, without the run's own; ``also`` names further parts."""
    return some_recordings(prepared, np.isin(prepared["split"].values.astype(str), [TEST, *also]))
