"""A stream of recordings is written as the dataset that it makes in memory, and never held as a
whole.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.sources.left_out import joined, summary
from contactid.sources.motion import (
    BodyProperties,
    MotionStream,
    Recording,
    read_dataset,
    write_motion,
)
from contactid.tossing.readers.iam_archive import stream_iam_archive
from iam_files import body, poses, recording, write
from motion_in_memory import collect, validate_motion

RATE = 360.0


def recordings(sizes: list[int]) -> Iterator[Recording]:
    for number, size in enumerate(sizes):
        position, orientation = poses(number, size)
        yield Recording(
            f"r{number}",
            position,
            orientation,
            note=f"note {number}",
            surface_velocity=np.full(3, number),
        )


def stream(source: Iterator[Recording], of: BodyProperties | None = None) -> MotionStream:
    return MotionStream(
        of or body(), "Box", RATE, "test", "CC0-1.0", True, source, {"left_out": "{}"}
    )


@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(sizes=st.lists(st.sampled_from([3, 100, 4000, 16384, 17000]), min_size=1, max_size=4))
def test_the_written_dataset_is_the_one_in_memory(tmp_path: Path, sizes: list[int]) -> None:
    write_motion(stream(recordings(sizes)), tmp_path / "motion.nc", dataset="mine")
    written = read_dataset(tmp_path / "motion.nc")
    made = collect(stream(recordings(sizes)))
    assert written.equals(made)
    assert written.attrs == made.attrs | {"dataset": "mine"}
    assert all(written[name].attrs == made[name].attrs for name in made.variables)
    validate_motion(written)


def failing() -> Iterator[Recording]:
    yield from recordings([100])
    raise ContactIdError("the second recording is damaged")


def infinite() -> Iterator[Recording]:
    (one,) = recordings([100])
    one.position[7] = np.inf
    one.orientation[9] *= 2.0
    yield one


@pytest.mark.parametrize(
    ("source", "of", "said"),
    [
        (failing(), body(), "the second recording is damaged"),
        (
            infinite(),
            body(),
            "r0: NaN in 1 of 100 frames of the position (first: 7); quaternions that are not of unit",
        ),
        (iter([]), body(), "no usable recording of Box"),
        (
            recordings([9]),
            BodyProperties(np.zeros((8, 3)), -1.0, np.zeros((3, 3))),
            "measures 0 m, and lengths",
        ),
    ],
)
def test_a_failure_leaves_no_file(
    tmp_path: Path, source: Iterator[Recording], of: BodyProperties, said: str
) -> None:
    with pytest.raises(ContactIdError) as caught:
        write_motion(stream(source, of), tmp_path / "motion.nc")
    assert said in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_everything_wrong_with_a_body_is_said_at_once(tmp_path: Path) -> None:
    wrong = BodyProperties(1e3 * body().vertices, 0.0, np.diag([1.0, 1.0, 3.0]))
    with pytest.raises(
        ContactIdError, match=r"measures 205 m.*mass is 0 kg.*principal moments 1, 1 and 3 kg m2"
    ):
        write_motion(stream(recordings([9]), wrong), tmp_path / "motion.nc")


def test_memory_is_that_of_one_recording(tmp_path: Path) -> None:
    size, count = 60_000, 12
    one = size * (7 + 1) * 8  # bytes of a canonical recording

    def peak(n: int) -> int:
        tracemalloc.start()
        write_motion(stream(recordings([size] * n)), tmp_path / "motion.nc")
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    few, many = peak(2), peak(count)
    assert many < few + 0.3 * one
    assert many < 0.7 * count * one


def test_a_bad_file_of_a_folder_costs_only_itself(tmp_path: Path) -> None:
    write(tmp_path / "good.h5", recording(0))
    (tmp_path / "bad.h5").write_bytes(b"<html>404</html>")
    read = stream_iam_archive(tmp_path, object="Box006", surface="ConveyorPart001", licence="")
    assert collect(read).sizes["recording"] == 1
    assert read.attributes["left_out"] == '{"bad.h5": "a web page, not an HDF5 file"}'
    (tmp_path / "good.h5").write_bytes(b"")
    with pytest.raises(
        ContactIdError,
        match=r"none of the 2 recordings of Box006.*bad.h5: a web.*good.h5: the file",
    ):
        stream_iam_archive(tmp_path, object="Box006", surface="ConveyorPart001", licence="")


@given(st.integers(0, 40))
def test_messages_stay_short(count: int) -> None:
    problems = [f"problem {number}" for number in range(count)]
    assert len(joined(problems)) < 150 and (f"{count - 8} more" in joined(problems)) == (count > 8)
    text = summary({str(number): "reason" for number in range(count)})
    assert text.count("reason") == min(count, 3) and (f"{count - 3} more" in text) == (count > 3)
