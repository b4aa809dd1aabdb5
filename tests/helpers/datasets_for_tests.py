"""A small locked archive and where it may come from."""

import gzip
import hashlib
import io
import json
import tarfile

from contactid.sources.lockfile import LockedArchive, LockedFile
from fault_server import answer

FILES = {"tosses/0.pt": b"first", "tosses/1.pt": b"second", "params 1.json": b"{}"}


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def locked_archive(of=FILES, **changes):
    fields = {
        "name": "demo_set",
        "kind": "github",
        "source": "https://example.invalid/archive.tar.gz",
        "version": "abc",
        "licence": "MIT",
        "folder": "data",
        "files": tuple(
            LockedFile(name, len(content), sha256=sha256(content)) for name, content in of.items()
        ),
    }
    return LockedArchive(**{**fields, **changes})


def fourtu_archive(files, **changes):
    """As a 4TU dataset: addresses below the server's."""
    entries = tuple(
        LockedFile(name, len(content), md5=hashlib.md5(content).hexdigest(), url=f"file/c/{number}")
        for number, (name, content) in enumerate(files.items())
    )
    fields = {
        "name": "4tu_77",
        "kind": "4tu",
        "source": "10.4121/77.v2",
        "version": "2",
        "folder": "",
        "files": entries,
    }
    return locked_archive(**{**fields, **changes})


def mirror_with(folder, name="demo_set", files=FILES):
    for file, content in files.items():
        (folder / name / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / file).write_bytes(content)
    return str(folder)


def repository_archive(prefix="repo-abc/data/", extra=()):
    """Bytes of a tar archive as GitHub makes them."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        for name, content in [
            *((prefix + name, content) for name, content in FILES.items()),
            *extra,
        ]:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def tar_with_a_long_header(size):
    """A tar archive whose first header says of itself that it goes on for so many bytes."""
    member = tarfile.TarInfo("x")
    member.type, member.size = tarfile.XHDTYPE, size
    return gzip.compress(member.tobuf(tarfile.USTAR_FORMAT) + bytes(size))


def contents(folder):
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file()
    }


def reply(content):
    """An answer in JSON, as the repository's API gives it."""
    body = json.dumps(content).encode()
    return lambda handler, _content, _body: answer(
        handler, 200, {"Content-Type": "application/json"}, body
    )
