"""Whatever bytes a reader gets, it reads them or refuses them: nothing but the project's own error
escapes.

Files are changed byte by byte, and archives also by their structure. HDF5 files of random bytes are
read in a process of their own, because what reads them is a C library; so are no others. A search
draws new ones for as long as is asked, a minute per reader by default, and tells how many::

    FUZZ_SECONDS=20 pytest -rs --hypothesis-profile=search tests/sources/test_reader_fuzz.py
"""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contactid.arm.own.recordings import read_own_table
from contactid.arm.readers.mat import read_arm_mat
from contactid.core.errors import ContactIdError
from contactid.inhand.own.files import read_hull, read_noise, read_table
from contactid.planar.own.body import read_own_body
from contactid.planar.readers.csv_throws import read_own_throw, read_square_throws
from contactid.planar.readers.impacts import read_ellipse_impacts
from motion_in_memory import read_contactnets, read_iam_archive
from small_files import NAME, POSITION, TIME, own_file, save, save_v73, turning
from spoil_planar_and_arm import good_impacts, good_throws
from spoil_tosses import good_archive, good_tosses

SEARCH = not settings.default.derandomize
SECONDS = float(os.environ.get("FUZZ_SECONDS", "60"))  # of a search
EXAMPLES = 1_000_000 if SEARCH else 40
BOUNDS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
_PATIENCE = 20.0  # s
_HEADROOM = 1 << 29  # bytes
REFUSED, ELSE = 3, 4  # exit statuses


@pytest.fixture
def tried(request: pytest.FixtureRequest) -> Callable[[], None]:
    """To be called with each input: a search ends when its time is over, as a skipped test that
    tells their number.
    """
    begin, count = time.monotonic(), 0

    def one_more() -> None:
        nonlocal count
        count += 1
        if SEARCH and time.monotonic() - begin > SECONDS:
            pytest.skip(
                f"{request.node.name}: {count - 1} inputs in {SECONDS:g} s, all read or refused"
            )

    return one_more


EDIT = st.tuples(
    st.sampled_from(["set", "insert", "delete", "copy", "truncate"]),
    st.floats(0.0, 1.0, exclude_max=True),
    st.one_of(
        st.binary(min_size=1, max_size=8),
        st.sampled_from(
            [
                b"\xff" * 4,
                b"\xff" * 8,
                b"\x00" * 8,
                b"\x7f" * 8,
                b"nan",
                b"1e999",
                b"-",
                b'"',
                b"\n",
                b",",
            ]
        ),
    ),
)
EDITS = st.lists(EDIT, min_size=1, max_size=6)


def edited(content: bytes, edits: list[tuple[str, float, bytes]]) -> bytes:
    for kind, place, new in edits:
        at = int(place * len(content))
        if kind == "set":
            content = content[:at] + new + content[at + len(new) :]
        elif kind == "insert":
            content = content[:at] + new + content[at:]
        elif kind == "delete":
            content = content[:at] + content[at + len(new) :]
        elif kind == "copy":
            content = content[:at] + content[at : at + 16 * len(new)] + content[at:]
        else:
            content = content[:at]
    return content


def tolerated(read: Callable[[], object]) -> str | None:
    """The refusal, None where the file was read; any other error escapes."""
    try:
        read()
    except ContactIdError as error:
        assert "\n" not in str(error) and len(str(error)) < 3000
        return str(error)
    return None


def throw_of_own(folder: Path) -> Path:
    own_file(folder / "mine.csv", *turning())
    return folder


def recording_of_an_arm(folder: Path) -> Path:
    return save(folder / "raw").parent


def zip_of_an_arm(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "all.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(save(folder), NAME)
    return folder


def texts(folder: Path) -> Path:
    """What describes a body, a noise, a hull and a grasp."""
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


AXES = [f"object_position_{a}" for a in "xyz"] + [f"object_orientation_{a}" for a in "wxyz"]
AXES += [f"contact_{kind}_a_{a}" for kind in ("force", "position") for a in "xyz"]
TEXTS = {
    "body.yaml": "shape: {polygon: [[-0.03, -0.03], [0.03, -0.03], [0, 0.03]], corner_radius: 0.001}\nmass: 0.1 # kg\n"
    "noise:\n  position: 1.0e-3\n  orientation: 1.0e-3\n",
    "noise.yaml": "position_sd: 5.0e-5\norientation_sd: 2.0e-4\ncontact_position_sd: 1.0e-3\n",
    "hull.csv": "x,y,z\n0,0,0\n0.1,0,0\n0,0.1,0\n0,0,0.1\n",
    "grasp.csv": f"time,{','.join(AXES)}\n"
    + "".join(f"{k / 100},0,0,0,1,0,0,0,0,0,1,0,0,0\n" for k in range(9)),
    "arm.csv": "t,q1,q2,q3,q4,q5,q6,q7\n"
    + "".join(f"{k / 1000},0,0,0,1,0,0,0.5\n" for k in range(9)),
}
SMALL_FILES: dict[str, tuple[Callable[[Path], Path], str, Callable[[Path], object]]] = {
    "toss": (good_tosses, "tosses_processed/0.pt", lambda raw: read_contactnets(raw, licence="")),
    "experiment": (
        good_tosses,
        "params_processed/experiment.json",
        lambda raw: read_contactnets(raw, licence=""),
    ),
    "square": (good_throws, "traj_1.csv", lambda raw: read_square_throws(raw, licence="")),
    "own throw": (throw_of_own, "mine.csv", lambda raw: read_own_throw(raw / "mine.csv")),
    "impacts": (
        good_impacts,
        "data_ellipse.mat",
        lambda raw: read_ellipse_impacts(raw, licence=""),
    ),
    "predictions": (
        good_impacts,
        "v_models.mat",
        lambda raw: read_ellipse_impacts(raw, licence=""),
    ),
    "arm": (recording_of_an_arm, NAME, lambda raw: read_arm_mat(raw, licence="")),
    "zip": (
        zip_of_an_arm,
        "all.zip",
        lambda raw: read_arm_mat(raw / "all.zip", licence=""),
    ),
    "arm's table": (texts, "arm.csv", lambda raw: read_own_table(raw / "arm.csv")),
    "body": (texts, "body.yaml", lambda raw: read_own_body(raw / "body.yaml")),
    "noise": (texts, "noise.yaml", lambda raw: read_noise(raw / "noise.yaml")),
    "hull": (texts, "hull.csv", lambda raw: read_hull(raw / "hull.csv")),
    "grasp": (texts, "grasp.csv", lambda raw: read_table(raw / "grasp.csv")),
}


@pytest.mark.parametrize("kind", SMALL_FILES)
@BOUNDS
@given(edits=EDITS)
def test_any_bytes_are_read_or_refused(
    tmp_path: Path, tried: Callable[[], None], kind: str, edits: list[tuple[str, float, bytes]]
) -> None:
    tried()
    make, name, read = SMALL_FILES[kind]
    raw = make(fresh(tmp_path))
    file = raw / name
    file.write_bytes(edited(file.read_bytes(), edits))
    tolerated(lambda: read(raw))


@pytest.mark.parametrize("kind", SMALL_FILES)
@BOUNDS
@given(content=st.binary(max_size=300))
def test_anything_else_is_refused(
    tmp_path: Path, tried: Callable[[], None], kind: str, content: bytes
) -> None:
    tried()
    make, name, read = SMALL_FILES[kind]
    raw = make(fresh(tmp_path))
    (raw / name).write_bytes(content)
    assert tolerated(lambda: read(raw))


# HDF5


def v73_of(folder: Path) -> Path:
    save_v73(folder / NAME, **{"run/q": POSITION, "run/time": TIME[:, None]})
    return folder / NAME


PLANE_NAME = "ConveyorPart001"
HDF5_FILES: dict[str, tuple[Callable[[Path], Path], Callable[[Path], object]]] = {
    "archive": (
        good_archive,
        lambda path: read_iam_archive(path, "Box006", licence="", surface_name=PLANE_NAME),
    ),
    "v7.3": (v73_of, lambda path: read_arm_mat(path, licence="")),
}


@pytest.mark.parametrize("kind", HDF5_FILES)
@BOUNDS
@given(edits=EDITS)
def test_any_hdf5_bytes_are_read_or_refused(
    tmp_path: Path, tried: Callable[[], None], kind: str, edits: list[tuple[str, float, bytes]]
) -> None:
    tried()
    make, read = HDF5_FILES[kind]
    path = make(fresh(tmp_path))
    path.write_bytes(edited(path.read_bytes(), edits))
    process = multiprocessing.get_context("fork").Process(target=_read_apart, args=(read, path))
    process.start()
    process.join(_PATIENCE)
    if process.is_alive():
        process.kill()
        process.join()
    assert process.exitcode in (0, REFUSED), process.exitcode


def _read_apart(read: Callable[[Path], object], path: Path) -> None:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + _HEADROOM, used + _HEADROOM))
    try:
        refusal = tolerated(lambda: read(path))
    except BaseException as error:
        print(f"{type(error).__name__}: {error}")
        raise SystemExit(ELSE) from error
    raise SystemExit(REFUSED if refusal else 0)


VALUES = st.one_of(
    st.floats(width=32),
    st.integers(-(2**31), 2**31 - 1),
    st.binary(min_size=1, max_size=4).map(np.void),
    st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=4),
    st.sampled_from([np.nan, np.inf, 1e300, 2**63 - 1, -1, 0]),
)
CHANGE = st.tuples(
    st.integers(0, 10**6),  # which node
    st.sampled_from(["delete", "value", "shape", "entry", "attribute", "link", "unset", "declare"]),
    VALUES,
    st.lists(st.integers(0, 5), max_size=4),
)


@BOUNDS
@given(changes=st.lists(CHANGE, min_size=1, max_size=5))
def test_any_structure_of_an_archive_is_read_or_refused(
    tmp_path: Path, tried: Callable[[], None], changes: list[tuple]
) -> None:
    tried()
    path = good_archive(fresh(tmp_path))
    with h5py.File(path, "r+") as file:
        for number, kind, value, shape in changes:
            _change(file, number, kind, value, shape)
    tolerated(lambda: HDF5_FILES["archive"][1](path))


def _change(file: h5py.File, number: int, kind: str, value: object, shape: list[int]) -> None:
    names: list[str] = []
    file.visit(names.append)
    if not names:
        return
    name = names[number % len(names)]
    node = file[name]
    if kind == "delete":
        del file[name]
    elif kind == "link":
        del file[name]
        file[name] = h5py.SoftLink(f"/{names[-1]}")
    elif kind == "unset":
        for key in list(node.attrs):
            del node.attrs[key]
    elif kind == "attribute":
        for key in [*node.attrs, "surface_velocity"]:
            node.attrs[key] = value
    elif (
        kind == "entry" and isinstance(node, h5py.Dataset) and node.dtype.kind == "f" and node.size
    ):
        values = node[()].reshape(-1)
        values[number % len(values)] = value if isinstance(value, float) else 1e30
        node[...] = values.reshape(node.shape)
    elif kind in ("value", "shape", "declare"):
        attributes = dict(node.attrs)
        del file[name]
        if kind == "declare":
            made = file.create_dataset(name, shape=(4, 4, 10**10), dtype="f8")
        elif kind == "value":
            made = file.create_dataset(name, data=value)
        else:
            made = file.create_dataset(name, data=np.zeros(shape))
        for key, kept in attributes.items():
            made.attrs[key] = kept


def fresh(folder: Path) -> Path:
    """An empty folder for one example."""
    inner = folder / "example"
    shutil.rmtree(inner, ignore_errors=True)
    inner.mkdir()
    return inner
