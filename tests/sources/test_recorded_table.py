"""One reader for every kind of table: the same numbers, whatever holds them."""

import numpy as np
import pandas as pd
import pytest
import scipy.io
import xarray as xr

import contactid
from contactid.core.errors import ContactIdError
from contactid.sources.conventions import Convention
from contactid.sources.recorded_table import SUFFIXES, RecordedTable

POSE = [f"position_{axis}" for axis in "xyz"] + [f"orientation_{axis}" for axis in "wxyz"]
RANDOM = np.random.default_rng(1)
TIME = np.arange(20) / 100
QPOS = RANDOM.normal(size=(20, 7))
NAMED = pd.DataFrame(
    np.column_stack([TIME, QPOS]), columns=["t", "x", "y", "z", "qw", "qx", "qy", "qz"]
)
ARRAYS = {"time": TIME, "pos": QPOS[:, :3], "quat": QPOS[:, 3:], "mass": np.array(0.3)}


def written(folder, suffix):
    path = folder / f"recording{suffix}"
    if suffix in (".csv", ".txt"):
        NAMED.to_csv(path, index=False)
    elif suffix == ".tsv":
        NAMED.to_csv(path, index=False, sep="\t")
    elif suffix == ".parquet":
        pytest.importorskip("pyarrow")
        NAMED.to_parquet(path)
    elif suffix == ".npz":
        np.savez(path, **ARRAYS)
    elif suffix == ".mat":
        scipy.io.savemat(path, ARRAYS)
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            for name, values in ARRAYS.items():
                file[f"log/{name}"] = values
    return path


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_any_file_gives_the_same_pose(tmp_path, suffix):
    table = RecordedTable.read(written(tmp_path, suffix))
    np.testing.assert_allclose(table.values(POSE), QPOS, rtol=1e-12)
    np.testing.assert_allclose(table.values(["time"])[:, 0], TIME, rtol=1e-12)


def test_frames_and_datasets_are_tables_too():
    dataset = xr.Dataset(
        {"pos": (("time", "xyz"), QPOS[:, :3]), "quat": (("time", "wxyz"), QPOS[:, 3:])},
        {"time": TIME},
    )
    for source in (NAMED, dataset):
        np.testing.assert_array_equal(RecordedTable.read(source).values(POSE), QPOS)


def test_a_log_of_mujoco_is_a_pose_or_joints(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, time=TIME, qpos=QPOS)
    np.testing.assert_array_equal(RecordedTable.read(path).values(POSE), QPOS)
    joints = RecordedTable.read(path, free_body=False)
    np.testing.assert_array_equal(joints.values([f"joint_{k}" for k in range(1, 8)]), QPOS)


def test_names_of_ros_are_joints():
    names = [f"panda_joint{k}" for k in range(1, 8)]
    table = RecordedTable.read(pd.DataFrame(QPOS, columns=names).assign(timestamp_ms=1e3 * TIME))
    np.testing.assert_array_equal(table.values([f"joint_{k}" for k in range(1, 8)]), QPOS)
    np.testing.assert_allclose(table.values(["time"])[:, 0], TIME)


def test_columns_and_units_are_as_stated(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, time=1e3 * TIME, p=1e3 * QPOS[:, :3], quat=QPOS[:, 3:])
    convention = Convention(units={"s": "ms", "m": "mm"})
    table = RecordedTable.read(path, convention)
    np.testing.assert_allclose(table.values(POSE), QPOS)
    np.testing.assert_allclose(table.values(["time"])[:, 0], TIME)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not readable as arrays"),
        (b"PK\x03\x04 and no more", "not readable as arrays"),
        (None, "no arrays of numbers"),
    ],
)
def test_what_is_no_table_is_refused_in_a_line(tmp_path, content, said):
    path = tmp_path / "log.npz"
    if content is None:
        np.savez(path, mass=np.array(0.3))
    else:
        path.write_bytes(content)
    with pytest.raises(ContactIdError, match=said):
        RecordedTable.read(path)


def test_nothing_is_unpickled(tmp_path):
    path = tmp_path / "log.npz"
    np.savez(path, time=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ContactIdError, match="not readable as arrays"):
        RecordedTable.read(path)


def test_missing_columns_are_named_with_what_is_there():
    table = RecordedTable.read(NAMED.drop(columns=["qw", "z"]))
    with pytest.raises(
        ContactIdError, match=r"no column position_z, orientation_w .*its header is t, x"
    ):
        table.refuse_without(POSE, "Name them")


def test_a_row_that_a_logger_wrote_twice_counts_once():
    twice = NAMED.iloc[[0, 1, 1, 2, 3, 3, *range(4, 20)]]
    twice = twice.assign(x=twice["x"].where(twice["t"] != TIME[3]))
    table = RecordedTable.read(twice)
    np.testing.assert_array_equal(table.values(["time"])[:, 0], TIME)
    dataset = contactid.read(twice.assign(label="a"))
    assert dataset.sizes["row"] == len(dataset["label"]) == len(TIME)


def test_samples_at_rest_under_a_coarse_clock_all_count():
    still = NAMED.assign(t=np.floor(TIME * 50) / 50)
    still.loc[10:11, still.columns[1:]] = still.loc[10, still.columns[1:]].to_numpy()
    assert len(RecordedTable.read(still).numbers) == len(TIME)
    without_time = NAMED.drop(columns="t").iloc[[0, 0, *range(1, 20)]]
    assert len(RecordedTable.read(without_time).numbers) == len(TIME) + 1


def test_a_clock_that_stands_still_is_not_mended():
    stopped = NAMED.iloc[[*range(10), *[9] * 10]]
    assert len(RecordedTable.read(stopped).numbers) == len(stopped)


PLANAR = pd.DataFrame({"t": TIME, "x": QPOS[:, 0], "y": QPOS[:, 1], "theta": QPOS[:, 2]})


@pytest.mark.parametrize(
    "write",
    [
        lambda path: PLANAR.to_csv(path, index=False, encoding="utf-16"),
        lambda path: PLANAR.to_csv(path, index=False, sep=" "),
        lambda path: path.write_text("# rig 3\n# 100 Hz\n" + PLANAR.to_csv(index=False)),
        lambda path: np.savetxt(path, PLANAR.to_numpy(), header="t x y theta", fmt="%.17g"),
        lambda path: path.write_bytes(
            PLANAR.assign(theta=np.rad2deg(QPOS[:, 2]))
            .rename(columns={"theta": "theta [°]"})
            .to_csv(index=False)
            .encode("latin-1")
        ),
        lambda path: (
            PLANAR.assign(t=TIME * 1e6).rename(columns={"t": "t [µs]"}).to_csv(path, index=False)
        ),
    ],
    ids=["UTF-16", "blanks", "remarks", "savetxt", "Latin-1 and degrees", "microseconds"],
)
def test_text_as_loggers_and_spreadsheets_write_it(tmp_path, write):
    write(tmp_path / "log.csv")
    read = contactid.read(tmp_path / "log.csv")
    for name, column in (("time", "t"), ("position_x", "x"), ("theta", "theta")):
        np.testing.assert_allclose(read[name], PLANAR[column], rtol=1e-9, atol=1e-12)


def test_fields_of_a_structured_array_are_columns(tmp_path):
    np.savez(tmp_path / "log.npz", rows=PLANAR.to_records(index=False))
    np.testing.assert_array_equal(contactid.read(tmp_path / "log.npz")["theta"], QPOS[:, 2])


def test_a_lost_value_may_be_a_dash(tmp_path):
    text = PLANAR.astype(str)
    text.loc[3, "x"] = "-"
    text.to_csv(tmp_path / "log.csv", index=False)
    lost = np.isnan(contactid.read(tmp_path / "log.csv")["position_x"])
    assert np.flatnonzero(lost).tolist() == [3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t,x,y,theta\ns,mm,mm,deg\n0,1,2,3\n", "row 1, column t is 's'"),
        ("t,x,y,theta\n2023-11-14 22:13:20,1,2,3\n", "column t is '2023-11-14 22:13:20'"),
        ("0,1,2,3\n0.1,1,2,3\n", "no line names the columns"),
        ("", "no line names the columns"),
        ("a,b\n1,2\n", "no column is one that a command reads"),
    ],
)
def test_read_names_what_it_cannot_take(tmp_path, text, said):
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(ContactIdError, match=said):
        contactid.read(tmp_path / "log.csv")


def test_arrays_without_a_meaning_or_of_another_length_are_not_guessed(tmp_path):
    np.savez(tmp_path / "log.npz", data=PLANAR.to_numpy())
    with pytest.raises(ContactIdError, match="its header is data_1, data_2"):
        contactid.read(tmp_path / "log.npz")
    columns = {name: PLANAR[name].to_numpy() for name in PLANAR}
    np.savez(tmp_path / "log.npz", **columns | {"y": columns["y"][:-3]})
    with pytest.raises(ContactIdError, match="y has 17 numbers where most arrays have 20"):
        contactid.read(tmp_path / "log.npz")


def test_a_table_without_rows_is_read_as_such():
    assert contactid.read(PLANAR.iloc[:0]).sizes["row"] == 0


def test_a_name_that_looks_like_a_number_s_part_is_a_name(tmp_path):
    (tmp_path / "log.csv").write_text("e1,e2\n0,1\n0.1,2\n")
    read = contactid.read(tmp_path / "log.csv", columns={"t": "e1", "x": "e2"})
    assert read["time"].values.tolist() == [0.0, 0.1]


def test_lines_end_where_files_end_them_and_nowhere_else(tmp_path):
    rows = PLANAR.assign(note="a\u2028b").to_csv(index=False).replace("\n", "\r")
    (tmp_path / "log.csv").write_bytes(rows.encode())
    read = contactid.read(tmp_path / "log.csv")
    np.testing.assert_allclose(read["theta"], PLANAR["theta"], rtol=1e-12)
    assert set(read["note"].values) == {"a\u2028b"}
