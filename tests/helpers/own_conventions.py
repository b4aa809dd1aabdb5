"""Recordings in wrong conventions, through the commands: ``python
tests/helpers/own_conventions.py`` writes the table.

Throws, impacts, recordings in hand and tosses of known truth, by the simulators of
:mod:`own_throws`,
:mod:`own_impacts` (MuJoCo, ``make peers``), :mod:`own_recordings` and :mod:`example_tosses`, are
    written as another
lab would: another order of quaternions, another axis upwards, other signs or units. An outcome is
``named`` (refused with the options that state the convention), ``right`` (answered within two
standard errors), ``wrong``, or ``refused`` without a name. The same kinds as the commands ask for
them tell how often a right recording is refused.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.spatial.transform import Rotation

from arm_for_tests import lwr4
from contactid.arm.own.explained import explained_impact
from contactid.arm.own.recordings import read_own
from contactid.core.errors import ContactIdError
from contactid.inhand.own.estimate import explained_recording
from contactid.inhand.readers.disturbances import DISTURBANCES
from contactid.output.tables import write_csv
from contactid.planar.own.body import read_own_body
from contactid.planar.own.explained import explained_throws
from contactid.sources.conventions import STATED
from contactid.sources.motion import read_data, read_dataset
from contactid.sources.registry import OWN, READERS, Dataset
from contactid.tossing.own.conventions import explained_motion
from contactid.tossing.readers.contactnets import HALF_WIDTH
from example_tosses import CUBE, write_cube
from own_impacts import KINDS as OF_ARMS
from own_impacts import simulated
from own_recordings import moved, write_own
from own_throws import KINDS, write_case

TABLE = Path(__file__).parents[2] / "workflow/resources/own_conventions.csv"
#: No rule or threshold of the conventions was chosen on these seeds.
SEED = 1800
AS_ASKED_FOR = "as asked for"
_GF = 9.80665e-3  # N in a gram-force

Change = Callable[[pd.DataFrame], pd.DataFrame]


def scaled(factor: float, *names: str) -> Change:
    """Columns whose names begin so, times a factor."""
    return lambda table: table.assign(
        **{one: factor * table[one] for one in table if str(one).startswith(names)}
    )


def posed(
    world: np.ndarray, order: str = "wxyz", signs: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)
) -> Change:
    """Poses in a world turned by (3, 3), the quaternions in another order and with other signs."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        places = [f"object_position_{axis}" for axis in "xyz"]
        turns = [f"object_orientation_{axis}" for axis in "wxyz"]
        rotations = Rotation.from_quat(table[turns].to_numpy(), scalar_first=True)
        mirror = np.diag([1.0, 1.0, np.linalg.det(world)])
        turned = Rotation.from_matrix(world @ rotations.as_matrix() @ mirror)
        quaternions = turned.as_quat(scalar_first=True) * signs
        written = quaternions[:, ["wxyz".index(axis) for axis in order]]
        found = table.copy()
        found[places], found[turns] = table[places].to_numpy() @ world.T, written
        return found

    return change


def forces_along_the_world(table: pd.DataFrame) -> pd.DataFrame:
    """Forces of all contacts along the world's axes."""
    turns = table[[f"object_orientation_{axis}" for axis in "wxyz"]].to_numpy()
    rotations = Rotation.from_quat(turns, scalar_first=True)
    written = table.copy()
    first = [str(name) for name in table if str(name).startswith("contact_force_")]
    for name in [name for name in first if name.endswith("_x") and "_sd_" not in name]:
        columns = [f"{name[:-1]}{axis}" for axis in "xyz"]
        written[columns] = rotations.apply(table[columns].to_numpy())
    return written


Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
Z_DOWN = np.diag([1.0, -1.0, -1.0])
X_UP = np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
CONJUGATE = (1.0, -1.0, -1.0, -1.0)

# kind, convention, change, and the words of a refusal that names it
THROWS: tuple[tuple[str, str, Change, str], ...] = (
    ("unknown radius", "theta clockwise", scaled(-1.0, "theta"), "theta=clockwise"),
    ("two throws", "theta clockwise", scaled(-1.0, "theta"), "theta=clockwise"),
    ("rectangle", "theta clockwise", scaled(-1.0, "theta"), "theta=clockwise"),
    ("ellipse", "theta clockwise", scaled(-1.0, "theta"), "theta=clockwise"),
    ("stated radius", "y down", scaled(-1.0, "y"), "up=-y"),
    (
        "misaligned",
        "image",
        lambda one: one.assign(y=0.4 - one["y"], theta=-one["theta"]),
        "up=-y,theta=clockwise",
    ),
    (
        "ellipse",
        "image",
        lambda one: one.assign(y=0.4 - one["y"], theta=-one["theta"]),
        "up=-y,theta=clockwise",
    ),
    ("two throws", "x up", lambda one: one.assign(x=one["y"], y=one["x"]), "up=x"),
    ("rectangle", "mm", scaled(1e3, "x", "y"), "=mm"),
    ("unknown radius", "degrees", scaled(180.0 / np.pi, "theta"), "=deg"),
    ("ellipse", "ms", lambda one: one.assign(t=1e3 * one["t"]), "=ms"),
    ("square, e_N varies", "theta clockwise", scaled(-1.0, "theta"), "theta=clockwise"),
    (
        "stated radius",
        "image, ms, mm",
        lambda one: one.assign(
            t=1e3 * one["t"], x=1e3 * one["x"], y=400.0 - 1e3 * one["y"], theta=-one["theta"]
        ),
        "up=-y,theta=clockwise --units time=ms,position=mm",
    ),
)
IN_HAND: tuple[tuple[str, str, str, Change, str], ...] = (
    ("box_2", "load share 0", "x y z w", posed(np.eye(3), "xyzw"), "=xyzw"),
    ("box_1", "preload relaxes in 1 s", "x y z w", posed(np.eye(3), "xyzw"), "=xyzw"),
    ("box_2", "preload relaxes in 1 s", "conjugate", posed(np.eye(3), "wxyz", CONJUGATE), "-inverse"),
    ("box_1", "load share 0", "x y z w, conjugate", posed(np.eye(3), "xyzw", CONJUGATE),
     "=xyzw-inverse"),
    ("box_3", "load share 0", "y up", posed(Y_UP), "up=y"),
    ("box_1", "preload relaxes in 1 s", "y up", posed(Y_UP), "up=y"),
    ("box_2", "load share 0", "z down", posed(Z_DOWN), "up=-z"),
    ("box_3", "preload relaxes in 1 s", "x up", posed(X_UP), "up=x"),
    ("box_1", "load share 0", "left-handed", posed(np.diag([1.0, 1.0, -1.0])), "mirror="),
    ("box_3", "load share 0", "force on finger", lambda one: one.assign(
        **{name: -one[name] for name in one if str(name).startswith("contact_force") and "_sd_" not in str(name)}
    ), "force=on-finger"),
    ("box_2", "load share 0", "forces along the world", forces_along_the_world, "axes=world"),
    ("box_1", "preload relaxes in 1 s", "forces along the world", forces_along_the_world,
     "axes=world"),
    ("box_2", "load share 0", "ms", scaled(1e3, "time"), "=ms"),
    ("box_1", "load share 0", "mm", scaled(1e3, "object_position", "contact_position"),
     "=mm"),
    ("box_3", "load share 0", "gram-force", scaled(1.0 / _GF, "contact_force"), "gf"),
    ("box_2", "load share 0", "y and z of positions swapped", lambda one: one.assign(
        object_position_y=one["object_position_z"], object_position_z=one["object_position_y"]
    ), "position_y"),
    ("box_1", "preload relaxes in 1 s", "x y z w, mm",
     lambda one: scaled(1e3, "object_position", "contact_position")(posed(np.eye(3), "xyzw")(one)),
     "quaternion=xyzw --units contact_position=mm,position=mm"),
)  # fmt: skip
ARM: tuple[tuple[str, str, Change, str], ...] = (
    ("elastic joints", "degrees", scaled(180.0 / np.pi, "q"), "=deg"),
    ("late switch", "ms", scaled(1e3, "t"), "=ms"),
    ("soft base", "joint 2's sign", scaled(-1.0, "q2"), "q2=-q2"),
    ("heavy motors", "joint 4's sign", scaled(-1.0, "q4"), "q4=-q4"),
    ("joint friction", "all joints' signs", scaled(-1.0, "q"), "=-q"),
    ("late switch", "joint 6's sign", scaled(-1.0, "q6"), "q6=-q6"),
)
TOSSES: tuple[tuple[str, np.ndarray, tuple[int, ...], tuple[float, ...], float, str], ...] = (
    ("x y z w", np.eye(3), (1, 2, 3, 0), (1.0, 1.0, 1.0, 1.0), 1.0, "=xyzw"),
    ("conjugate", np.eye(3), (0, 1, 2, 3), CONJUGATE, 1.0, "-inverse"),
    ("y up", Y_UP, (0, 1, 2, 3), (1.0, 1.0, 1.0, 1.0), 1.0, "up=y"),
    ("z down", Z_DOWN, (0, 1, 2, 3), (1.0, 1.0, 1.0, 1.0), 1.0, "up=-z"),
    ("x y z w, y up", Y_UP, (1, 2, 3, 0), (1.0, 1.0, 1.0, 1.0), 1.0, "quaternion=xyzw,up=y"),
    ("m", np.eye(3), (0, 1, 2, 3), (1.0, 1.0, 1.0, 1.0), HALF_WIDTH, "--units m"),
    ("x y z w, mm", np.eye(3), (1, 2, 3, 0), (1.0, 1.0, 1.0, 1.0), 1e3 * HALF_WIDTH,
     "quaternion=xyzw --units mm"),
    ("y of positions mirrored", np.diag([1.0, -1.0, 1.0]), (0, 1, 2, 3), (1.0, 1.0, 1.0, 1.0), 1.0,
     "position_y=-"),
)  # fmt: skip


def judged(
    case: dict[str, Any], named_by: str, run: Callable[[], tuple[float, float, float]]
) -> dict[str, Any]:
    """A row: ``run`` gives value, standard error and truth, or refuses."""
    begin = time.process_time()
    try:
        value, error, truth = run()
        right = abs(value - truth) <= 2.0 * error
        numbers = {"value": float(value), "error": float(error), "truth": float(truth)}
        row: dict[str, Any] = {"outcome": "right" if right else "wrong", **numbers, "note": ""}
    except ContactIdError as refusal:
        named = bool(named_by) and named_by in str(refusal)
        row = {
            "outcome": "named" if named else "refused",
            "note": str(refusal).rpartition(str(tempfile.gettempdir()))[2],
        }
    return case | row | {"seconds": round(time.process_time() - begin, 1)}


def throw_row(
    kind: str, seed: int, convention: str, change: Change, named_by: str
) -> dict[str, Any]:
    """J/m of a throw, mm2."""
    with tempfile.TemporaryDirectory() as folder:
        files, body, truth = write_case(Path(folder), kind, seed)
        for file in files:
            change(pd.read_csv(file)).to_csv(file, index=False)

        def run() -> tuple[float, float, float]:
            fit = explained_throws(read_own_body(body), files).fit
            return 1e6 * fit.inertia_ratio, 1e6 * fit.inertia_ratio_se, 1e6 * truth.ratio

        return judged(
            {"command": "identify", "kind": kind, "seed": seed, "convention": convention},
            named_by,
            run,
        )


def recording_row(
    name: str, kind: str, seed: int, convention: str, change: Change, named_by: str
) -> dict[str, Any]:
    """Mass of an object in hand, kg."""
    recording, truth = moved("in_hand_kinematic", name, seed, kind, 2.0)
    with tempfile.TemporaryDirectory() as folder:
        write_own(recording, Path(folder))
        files = [Path(folder) / file for file in ("recording.csv", "hull.csv", "noise.yaml")]
        change(pd.read_csv(files[0])).to_csv(files[0], index=False)

        def run() -> tuple[float, float, float]:
            fit = explained_recording(*files).fit
            return fit.body.mass, float(fit.errors[0]), truth.mass

        case = {
            "command": "estimate",
            "kind": f"{name}, {kind}",
            "seed": seed,
            "convention": convention,
        }
        return judged(case, named_by, run)


def impact_row(
    kind: str, seed: int, convention: str, change: Change, named_by: str
) -> dict[str, Any]:
    """v+ along the table, mm/s."""
    with tempfile.TemporaryDirectory() as folder:
        made = simulated(kind, seed, Path(folder))
        file = Path(folder) / "recording.csv"
        table = pd.DataFrame(made.recording.joint_position, columns=[f"q{k}" for k in range(1, 8)])
        change(table.assign(t=made.recording.time)).to_csv(file, index=False)

        def run() -> tuple[float, float, float]:
            [(name, recording)] = read_own([file], lwr4())[0].items()
            found = explained_impact(lwr4(), recording, name)
            return (
                1e3 * found.velocity[0],
                1e3 * found.half_width[0] / 1.96,
                1e3 * made.velocity_post[0],
            )

        return judged(
            {"command": "impact", "kind": kind, "seed": seed, "convention": convention},
            named_by,
            run,
        )


def cube_tosses(seed: int) -> xr.Dataset:
    """Six simulated tosses of the cube in the canonical form."""
    with tempfile.TemporaryDirectory() as folder:
        write_cube(Path(folder), seed)
        source, motion = str(Path(folder) / CUBE), str(Path(folder) / "motion.nc")
        read_data(
            READERS["contactnets"].read,
            vars(Dataset("tosses", OWN, "contactnets", source)),
            source,
            motion,
        )
        return read_dataset(motion).load()


def toss_row(
    seed: int, convention: str, world: np.ndarray, order: tuple[int, ...], signs: tuple[float, ...], length: float,
    named_by: str,
) -> dict[str, Any]:  # fmt: skip
    """Whether tosses of a cube are taken as they are meant; there is no number to judge. A mirror
    is of the positions alone.
    """
    motion = cube_tosses(seed)
    rotations = Rotation.from_quat(motion["orientation"].values, scalar_first=True)
    turn = world if np.linalg.det(world) > 0.0 else np.eye(3)
    written = (Rotation.from_matrix(turn) * rotations).as_quat(scalar_first=True) * signs
    positions = motion["position"].values @ world.T / HALF_WIDTH * length
    changed = motion.assign(
        position=(motion["position"].dims, HALF_WIDTH * positions),
        orientation=(motion["orientation"].dims, written[:, order]),
    )

    def run() -> tuple[float, float, float]:
        explained_motion(changed, STATED, placed=False, length=HALF_WIDTH)
        return float(convention != AS_ASKED_FOR), 0.0, 0.0

    return judged(
        {"command": "predict", "kind": "cube", "seed": seed, "convention": convention},
        named_by,
        run,
    )


def same(table: pd.DataFrame) -> pd.DataFrame:
    """As the commands ask for it."""
    return table


def rows(command: str) -> Iterator[dict[str, Any]]:
    """Every case of a command, wrong conventions first."""
    if command == "identify":
        for k, (kind, convention, change, named_by) in enumerate(THROWS):
            yield throw_row(kind, SEED + k, convention, change, named_by)
        for k, kind in enumerate(KINDS):
            for seed in (SEED + 20 + k, SEED + 40 + k):
                yield throw_row(kind, seed, AS_ASKED_FOR, same, "")
    if command == "estimate":
        for k, (name, kind, convention, change, named_by) in enumerate(IN_HAND):
            yield recording_row(name, kind, SEED + k, convention, change, named_by)
        for k, kind in enumerate(
            one for one, how in DISTURBANCES.items() if callable(how) or one == "load share 0"
        ):
            for seed in (SEED + 20 + k, SEED + 40 + k):
                yield recording_row(f"box_{1 + (k + seed) % 3}", kind, seed, AS_ASKED_FOR, same, "")
    if command == "impact":
        for k, (kind, convention, change, named_by) in enumerate(ARM):
            yield impact_row(kind, SEED + k, convention, change, named_by)
        for k, kind in enumerate(OF_ARMS):
            for seed in (SEED + 20 + k, SEED + 40 + k):
                yield impact_row(kind, seed, AS_ASKED_FOR, same, "")
    if command == "predict":
        for k, case in enumerate(TOSSES):
            yield toss_row(SEED + k, *case)
        for k in range(10):
            yield toss_row(
                SEED + 20 + k, AS_ASKED_FOR, np.eye(3), (0, 1, 2, 3), (1.0,) * 4, 1.0, ""
            )


if __name__ == "__main__":
    found = []
    for command in sys.argv[1:] or ("predict", "estimate", "impact", "identify"):
        for row in rows(command):
            found.append(row)
            print(row, flush=True)
    write_csv(pd.DataFrame(found), TABLE)
