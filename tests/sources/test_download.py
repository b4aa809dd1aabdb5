"""One file over a network that fails in every way it can: resumed, compared, and never half there."""

import fcntl
import hashlib
import json
import os
import random
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contactid.core.errors import ContactIdError
from contactid.sources.download import download
from contactid.sources.lockfile import LockedFile
from contactid.sources.store import file_lock
from fault_server import (
    IMPATIENT,
    Content,
    cut,
    flipped,
    ignored_range,
    no_length,
    page,
    serving,
    shifted,
    silent,
    status,
    whole,
)  # fmt: skip

BODY = random.Random(1).randbytes(300_000)
SHA = hashlib.sha256(BODY).hexdigest()
MD5 = hashlib.md5(BODY).hexdigest()


@pytest.fixture
def server():
    with serving(Content({"/a": BODY})) as content:
        yield content


def fetch(server, folder, expected=None, path="/a", patience=IMPATIENT):
    expected = {"size": len(BODY), "sha256": SHA} if expected is None else expected
    wanted = LockedFile("a.h5", url=server.url + path, **expected)
    download(wanted, folder / "out/a.h5", partial=folder / "part/a.h5", patience=patience)
    return (folder / "out/a.h5").read_bytes()


def test_a_file_comes_whole_and_nothing_else_stays(server, tmp_path):
    assert fetch(server, tmp_path) == BODY
    assert [file.name for file in (tmp_path / "part").iterdir()] == ["a.h5.lock"]
    assert server.ranges_asked() == [None]


def test_what_is_there_and_right_is_not_asked_for_again(server, tmp_path):
    fetch(server, tmp_path)
    fetch(server, tmp_path)
    assert len(server.requests) == 1


def test_a_broken_connection_goes_on_where_it_stopped(server, tmp_path):
    server.faults.extend([cut(100_000), cut(50_000)])
    assert fetch(server, tmp_path) == BODY
    assert server.ranges_asked() == [None, "bytes=100000-", "bytes=150000-"]
    assert [headers.get("If-Range") for _, headers in server.requests] == [None, '"one"', '"one"']
    assert server.sent == len(BODY)


@pytest.mark.parametrize("pieces", [2, 20])
def test_progress_renews_the_patience(server, tmp_path, pieces):
    server.faults.extend(
        [cut(len(BODY) // (pieces + 1))] * pieces
    )  # far more than the attempts without a byte
    assert fetch(server, tmp_path) == BODY
    assert server.sent == len(BODY)


def test_without_a_byte_it_gives_up_and_keeps_what_it_has(server, tmp_path):
    server.faults.extend([cut(100_000), *[cut(0)] * 20])
    with pytest.raises(
        ContactIdError, match=r"a\.h5: http.* cannot be had \(it breaks off: .*data_mirror"
    ):
        fetch(server, tmp_path)
    assert not (tmp_path / "out/a.h5").exists()
    server.faults.clear()
    server.sent = 0
    assert fetch(server, tmp_path) == BODY
    assert server.sent == len(BODY) - 100_000


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.integers(min_value=1, max_value=len(BODY)), min_size=1, max_size=6),
    st.sampled_from([True, False]),
)
def test_wherever_it_breaks_the_file_is_the_same(tmp_path_factory, cuts, ranges):
    folder = tmp_path_factory.mktemp("cuts")
    with serving(Content({"/a": BODY}, ranges=ranges)) as server:
        server.faults.extend([cut(size) for size in cuts])
        assert fetch(server, folder) == BODY
        # with ranges nothing is sent twice
        assert server.sent == len(BODY) or not ranges


def test_a_server_that_ignores_ranges_starts_over(server, tmp_path):
    server.faults.extend([cut(100_000), ignored_range])
    assert fetch(server, tmp_path) == BODY
    assert server.ranges_asked() == [None, "bytes=100000-"]


def test_a_file_that_changes_meanwhile_is_not_glued_together(server, tmp_path):
    server.faults.append(cut(100_000))
    with pytest.raises(ContactIdError):
        server.faults.extend([status(403)])
        fetch(server, tmp_path)
    other = BODY[::-1]
    server.files["/a"], server.etag = other, '"two"'
    assert fetch(server, tmp_path, {"size": len(other)}) == other
    with pytest.raises(
        ContactIdError,
        match=f"has the checksum {hashlib.sha256(other).hexdigest()}.*expected {SHA}",
    ):
        fetch(server, tmp_path / "locked")
    assert not list((tmp_path / "locked/out").glob("*"))


def test_a_wrong_content_range_is_not_believed(server, tmp_path):
    server.faults.extend([cut(100_000), shifted])
    assert fetch(server, tmp_path) == BODY
    server.faults.extend([cut(100_000), shifted, cut(100_000), shifted, cut(100_000), shifted])
    with pytest.raises(ContactIdError, match="its answers to range requests are wrong"):
        fetch(server, tmp_path / "always")


def test_past_the_end(server, tmp_path):
    """416: the whole file if its length is what is there, else it starts over."""
    for there, expected, sent in ((BODY, {}, 0), (BODY + b"x", {"sha256": SHA}, len(BODY))):
        folder = tmp_path / str(len(there))
        (folder / "part").mkdir(parents=True)
        (folder / "part/a.h5").write_bytes(there)
        (folder / "part/a.h5.json").write_text(
            json.dumps({"url": server.url + "/a", "etag": '"one"'})
        )
        server.sent = 0
        assert fetch(server, folder, expected) == BODY
        assert server.sent == sent


def test_a_complete_partial_file_needs_no_request(server, tmp_path):
    server.faults.append(cut(0))
    (tmp_path / "part").mkdir()
    (tmp_path / "part/a.h5").write_bytes(BODY)
    (tmp_path / "part/a.h5.json").write_text(
        json.dumps({"url": server.url + "/a", "etag": '"one"'})
    )
    assert fetch(server, tmp_path) == BODY
    assert not server.requests


@pytest.mark.parametrize(
    "origin", ["", "{", "[]", '{"url": "http://127.0.0.1:9/b", "etag": "\\"one\\""}', '{"x": 1}']
)
def test_a_partial_file_of_unknown_origin_is_not_built_on(server, tmp_path, origin):
    (tmp_path / "part").mkdir()
    (tmp_path / "part/a.h5").write_bytes(b"?" * 1000)
    if origin:
        (tmp_path / "part/a.h5.json").write_text(origin)
    assert fetch(server, tmp_path) == BODY
    assert server.ranges_asked() == [None]


def test_damaged_beginnings_are_found_and_fetched_again(server, tmp_path):
    (tmp_path / "part").mkdir()
    (tmp_path / "part/a.h5").write_bytes(b"?" + BODY[1:1000])
    (tmp_path / "part/a.h5.json").write_text(
        json.dumps({"url": server.url + "/a", "etag": '"one"'})
    )
    assert fetch(server, tmp_path) == BODY
    assert server.ranges_asked() == ["bytes=1000-", None]


def test_a_weak_etag_is_no_ground_to_resume_but_a_date_is(tmp_path):
    for etag, date, ranges in (
        ('W/"one"', "", [None, None]),
        ("", "", [None, None]),
        ('W/"one"', "Sat, 21 Nov 2026 10:00:00 GMT", [None, "bytes=1000-"]),
    ):
        content = Content({"/a": BODY}, etag=etag)
        content.last_modified = date
        with serving(content) as server:
            server.faults.append(cut(1000))
            assert fetch(server, tmp_path / f"{len(etag)}{len(date)}") == BODY
            assert server.ranges_asked() == ranges


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_a_busy_server_is_asked_again(server, tmp_path, code):
    server.faults.extend([status(code), status(code, Retry_After="0")])
    assert fetch(server, tmp_path) == BODY


def test_retry_after_is_kept_to_and_bounded(server, tmp_path, monkeypatch):
    waits = []
    monkeypatch.setattr("contactid.sources.web.time.sleep", waits.append)
    server.faults.extend([status(503, Retry_After="0.3"), status(429, Retry_After="rubbish")])
    fetch(server, tmp_path / "a")
    assert waits == [
        IMPATIENT.first_wait,
        2 * IMPATIENT.first_wait,
    ]  # neither is a whole number of seconds or a date
    waits.clear()
    server.faults.append(status(503, Retry_After="Sat, 01 Jan 2000 00:00:00 GMT"))
    fetch(server, tmp_path / "b")
    assert waits == [0]
    for asked in ("3600", "Sat, 01 Jan 2124 00:00:00 GMT"):
        server.faults.append(status(429, Retry_After=asked))
        with pytest.raises(
            ContactIdError,
            match=r"a\.h5: the server is busy \(status 429\) and asks to wait \d+ s\. ",
        ):
            fetch(server, tmp_path / "c")
    assert len(waits) == 1


def test_every_wait_is_longer_up_to_the_longest():
    waits = [IMPATIENT.wait_before(attempt) for attempt in range(1, 12)]
    assert waits == sorted(waits) and waits[0] == 0.01 and waits[-1] == IMPATIENT.longest_wait
    assert waits[2] == 4 * waits[0]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (status(403), r"is not allowed or not known there \(status 403\).*embargo or withdrawn"),
        (status(404), r"does not exist \(status 404\).*withdrawn"),
        (status(410), r"does not exist \(status 410\)"),
        (status(500), r"the server fails to read http.* \(status 500\).*lost the file"),
        (status(503), "answers with status 503. Try later"),
        (status(418), "answers with status 418"),
        (page, "gives a web page instead of the file.*log in"),
        (silent, r"cannot be had \(timed out\)"),
        (flipped, f"has the checksum [0-9a-f]{{64}} .sha256., expected {SHA}.*make lock"),
    ],
)
def test_what_goes_wrong_is_one_line_and_leaves_no_file(server, tmp_path, fault, message):
    server.faults.extend([fault] * 10)
    patience = replace(IMPATIENT, read_timeout=0.3) if fault is silent else IMPATIENT
    with pytest.raises(ContactIdError, match=message) as error:
        fetch(server, tmp_path, patience=patience)
    assert "\n" not in str(error.value) and str(error.value).startswith("a.h5: ")
    assert not (tmp_path / "out/a.h5").exists()


def test_other_sizes_and_checksums_show_both(server, tmp_path):
    with pytest.raises(ContactIdError, match="has 300000 bytes, expected 12"):
        fetch(server, tmp_path, {"size": 12})
    with pytest.raises(
        ContactIdError, match=rf"has the checksum {MD5} \(md5\), expected {'0' * 32}"
    ):
        fetch(server, tmp_path, {"md5": "0" * 32})
    assert fetch(server, tmp_path, {"size": len(BODY), "md5": MD5.upper()}) == BODY


def test_without_a_length(server, tmp_path):
    server.faults.append(no_length)
    assert fetch(server, tmp_path) == BODY


def test_without_a_length_it_stops_at_the_locked_size_and_nothing_stays(server, tmp_path):
    server.faults.append(no_length)
    with pytest.raises(ContactIdError, match="gives more than the expected 299999 bytes"):
        fetch(server, tmp_path, {"size": len(BODY) - 1})
    assert [file.name for file in tmp_path.rglob("*") if file.is_file()] == ["a.h5.lock"]


def test_no_server_at_all(tmp_path):
    content = Content({})
    with serving(content):
        pass
    with pytest.raises(ContactIdError, match=r"cannot be had \(.*refused.*\). Check the network"):
        fetch(content, tmp_path)


def test_a_folder_that_cannot_be_written_is_named(server, tmp_path):
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(ContactIdError, match=r"a\.h5: cannot be stored as .*out/a\.h5"):
        fetch(server, tmp_path)


def test_several_at_once_download_once(server, tmp_path):
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(fetch(server, tmp_path))) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [BODY] * 6
    assert len(server.requests) == 1


HOLDER = """
import sys, time
from pathlib import Path
from contactid.sources.store import file_lock
with file_lock(Path(sys.argv[1]), "x"):
    print("held", flush=True)
    time.sleep(600)
"""


def test_the_lock_of_a_killed_process_is_free(tmp_path):
    path = str(tmp_path / "lock")
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "workflow")}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdout=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout.readline() == b"held\n"
        with (tmp_path / "lock").open() as file, pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        process.kill()
    with file_lock(tmp_path / "lock", "x"):
        pass


def test_what_is_known_of_a_file_is_checked(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(BODY)
    for known in (("a",), ("a", len(BODY), MD5, SHA)):
        assert LockedFile(*known).mismatch(path) == ""
    assert (
        LockedFile("a", len(BODY), "0" * 32, SHA).mismatch(path) == ""
    )  # our own checksum is the stronger one
    assert "expected 5" in LockedFile("a", 5, MD5, SHA).mismatch(path)


def test_whole_is_the_default(server, tmp_path):
    server.faults.append(whole)
    assert fetch(server, tmp_path) == BODY
