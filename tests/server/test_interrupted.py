"""A large file from the real server: the client killed, the server killed, a byte flipped, two
clients at once.
"""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import BIG, BIG_SIZE, wait_until

from contactid.sources.download import Progress
from contactid.sources.fetch import fetch
from contactid.sources.fourtu_client import FourTuClient
from contactid.sources.lock import Locking, lock_archive
from contactid.sources.lockfile import LockedArchive, read_lock, write_lock
from contactid.sources.places import Patience, Sources
from contactid.sources.registry import Dataset
from contactid.sources.store import Store

PATIENCE = Patience(attempts=30, first_wait=0.2, longest_wait=1)
# reads slowly, so that there is time to kill it
CLIENT = """
import sys, time
from pathlib import Path
from contactid.sources.fetch import fetch
from contactid.sources.places import Sources
from contactid.sources.lockfile import read_lock
from contactid.sources.download import Progress
from contactid.sources.store import Store
from contactid.sources.places import Patience

lock, store, url, pause, attempts = sys.argv[1:]
advance = Progress.advance
def slowly(self, size):
    time.sleep(float(pause))
    advance(self, size)
Progress.advance = slowly
(archive,) = read_lock(lock).values()
patience = Patience(attempts=int(attempts), first_wait=0.2, longest_wait=1)
fetch(archive, Store(Path(store)), Sources([], False, url, patience))
"""


@pytest.fixture(scope="module")
def archive(server, tmp_path_factory) -> LockedArchive:
    folder = tmp_path_factory.mktemp("lock")
    how = Locking(
        FourTuClient(server.url, PATIENCE), Store(folder), Sources([], False, server.url, PATIENCE)
    )
    entry = lock_archive(Dataset("big", "4tu", "iam", BIG), None, how)
    (file,) = entry.files
    assert file.size == BIG_SIZE and file.md5 and file.sha256
    return entry


class Client:
    """A process that fetches; killed with the test at the latest."""

    def __init__(self, server, archive, folder, pause=0.02, attempts=60):
        write_lock(folder / "lock.json", {archive.name: archive})
        command = [
            sys.executable,
            "-c",
            CLIENT,
            folder / "lock.json",
            folder / "data",
            server.url,
            str(pause),
            str(attempts),
        ]
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "workflow")}
        self.process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)

    def finished(self):
        try:
            _, said = self.process.communicate(timeout=100)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return self.process.returncode, said


def paths(archive, folder):
    store = Store(folder / "data")
    (file,) = archive.files
    return store.partial(archive, file.name), store.folder(archive) / file.name


def size_of(path):
    return path.stat().st_size if path.exists() else 0


def received_by(archive, server, folder, monkeypatch):
    """Fetch in this process; the number of bytes that came."""
    received = []
    advance = Progress.advance
    monkeypatch.setattr(
        Progress, "advance", lambda self, size: (received.append(size), advance(self, size))[1]
    )
    fetch(archive, Store(folder / "data"), Sources([], False, server.url, PATIENCE))
    monkeypatch.undo()
    return sum(received)


def is_right(path, archive):
    return hashlib.sha256(path.read_bytes()).hexdigest() == archive.files[0].sha256


def test_a_client_killed_at_a_third_leaves_the_rest_to_the_next(
    server, archive, tmp_path, monkeypatch
):
    client = Client(server, archive, tmp_path)
    partial, target = paths(archive, tmp_path)
    assert wait_until(lambda: size_of(partial) >= 0.3 * BIG_SIZE)
    os.kill(client.process.pid, signal.SIGKILL)
    client.finished()
    there = size_of(partial)
    assert 0.3 * BIG_SIZE <= there < 0.9 * BIG_SIZE and not target.exists()
    assert received_by(archive, server, tmp_path, monkeypatch) == BIG_SIZE - there
    assert is_right(target, archive) and not partial.exists()


def test_a_server_killed_at_a_third_is_waited_for(server, archive, tmp_path):
    client = Client(server, archive, tmp_path)
    partial, target = paths(archive, tmp_path)
    assert wait_until(lambda: size_of(partial) >= 0.3 * BIG_SIZE)
    server.kill()
    # what is on its way still comes, then no more
    assert wait_until(
        lambda: (size := size_of(partial)) and not wait_until(lambda: size_of(partial) > size, 1.0)
    )
    there = size_of(partial)
    assert there < BIG_SIZE and client.process.poll() is None
    server.start()
    status, said = client.finished()
    assert status == 0, said
    assert is_right(target, archive)


def test_a_server_that_stays_away_is_one_line_and_the_bytes_stay(
    server, archive, tmp_path, monkeypatch
):
    partial, target = paths(archive, tmp_path)
    client = Client(server, archive, tmp_path, attempts=4)
    assert wait_until(lambda: size_of(partial) >= 0.3 * BIG_SIZE)
    server.kill()
    status, said = client.finished()
    there = size_of(partial)
    server.start()
    assert status != 0
    assert "ContactIdError" in said
    assert "cannot be had" in said.strip().splitlines()[-1]
    assert 0 < there < BIG_SIZE and not target.exists()
    assert received_by(archive, server, tmp_path, monkeypatch) == BIG_SIZE - there
    assert is_right(target, archive)


def test_a_corrupted_byte_is_found_and_the_file_fetched_again(
    server, archive, tmp_path, monkeypatch
):
    _, target = paths(archive, tmp_path)
    assert received_by(archive, server, tmp_path, monkeypatch) == BIG_SIZE
    assert received_by(archive, server, tmp_path, monkeypatch) == 0
    with target.open("r+b") as file:
        file.seek(BIG_SIZE // 3)
        byte = file.read(1)
        file.seek(BIG_SIZE // 3)
        file.write(bytes([byte[0] ^ 1]))
    assert not is_right(target, archive)
    assert received_by(archive, server, tmp_path, monkeypatch) == BIG_SIZE
    assert is_right(target, archive)


def test_a_corrupted_partial_file_is_found_too(server, archive, tmp_path, monkeypatch):
    partial, target = paths(archive, tmp_path)
    client = Client(server, archive, tmp_path)
    assert wait_until(lambda: size_of(partial) >= 0.3 * BIG_SIZE)
    os.kill(client.process.pid, signal.SIGKILL)
    client.finished()
    with partial.open("r+b") as file:
        file.write(b"?")
    assert received_by(archive, server, tmp_path, monkeypatch) > BIG_SIZE
    assert is_right(target, archive)


def test_two_clients_at_once_download_once(server, archive, tmp_path):
    clients = [Client(server, archive, tmp_path, pause=0.005) for _ in range(2)]
    assert [client.finished()[0] for client in clients] == [0, 0]
    _, target = paths(archive, tmp_path)
    assert is_right(target, archive)
    origins = Store(tmp_path / "data").origins(archive)
    assert origins["data.h5"]["from"].startswith(server.url)
    shutil.rmtree(tmp_path / "data/.partial")  # nothing else is needed
    assert read_lock(tmp_path / "lock.json") == {archive.name: archive}
