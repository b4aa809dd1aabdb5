"""Run a command that can write below one folder alone, without a network: Linux's namespaces, by
``unshare``.

In there everything else is read-only, sockets below /run are hidden, other processes can't be seen
or signalled, and nothing of that can be undone: all capabilities are dropped. What can be read
outside can be read in there.

Run by its path, in an isolated Python that has nothing else: ``unshare ... python -I sandbox.py
FOLDER COMMAND ...``
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

_NAMESPACES = ("--user", "--map-root-user", "--mount", "--net", "--ipc", "--uts", "--pid")
_HIDDEN = ("/run", "/dev/shm")
# a system call's number; Python has no name for it
_MOUNT_SETATTR = 442
# linux/fcntl.h and linux/mount.h
_HERE, _RECURSIVE, _READ_ONLY = -100, 0x8000, 1
_BIND, _NOSUID_NODEV = 0x1000, 0x6
# linux/prctl.h
_DROP_FROM_BOUNDS, _NO_NEW_PRIVILEGES = 24, 38
# numbers of capabilities that a kernel may have
_CAPABILITIES = 64
# bytes of the structure mount_attr: four numbers of 64 bits
_ATTRIBUTES = 32


def sandboxed(folder: Path) -> list[str]:
    """What to put before a command, so that it can write below that folder alone."""
    python = (sys.executable, "-I", str(Path(__file__).resolve()))
    return ["unshare", *_NAMESPACES, "--fork", "--kill-child", "--mount-proc", *python, str(folder)]


def why_not(folder: Path) -> str:
    """Why no sandbox starts here; empty where one does."""
    try:
        command = [*sandboxed(folder), sys.executable, "-c", ""]
        tried = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    if tried.returncode == 0:
        return ""
    lines = tried.stderr.strip().splitlines()
    return lines[-1] if lines else "no reason given"


def _enclose(folder: str) -> None:
    """Make everything but the folder read-only, for good."""
    libc = ctypes.CDLL(None, use_errno=True)

    def checked(status: int, what: str) -> None:
        if status:
            raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")

    def set_attributes(path: str, flags: int, added: int, removed: int) -> None:
        attributes = ctypes.byref((ctypes.c_uint64 * 4)(added, removed, 0, 0))
        status = libc.syscall(_MOUNT_SETATTR, _HERE, path.encode(), flags, attributes, _ATTRIBUTES)
        checked(status, f"making {path} {'read-only' if added else 'writable'}")

    set_attributes("/", _RECURSIVE, _READ_ONLY, 0)
    # an empty file system above what is there
    for hidden in filter(os.path.isdir, _HIDDEN):
        place = os.path.realpath(hidden).encode()
        checked(libc.mount(b"tmpfs", place, b"tmpfs", _NOSUID_NODEV, None), hidden)
    # a mount of its own, which alone can be written to
    place = folder.encode()
    checked(libc.mount(place, place, None, _BIND, None), folder)
    set_attributes(folder, 0, 0, _READ_ONLY)
    for capability in range(_CAPABILITIES):
        # those that this kernel hasn't are refused
        libc.prctl(_DROP_FROM_BOUNDS, capability, 0, 0, 0)
    checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "dropping privileges")
    # by its path again, now that another mount is there
    os.chdir(Path.cwd())


if __name__ == "__main__":
    try:
        _enclose(sys.argv[1])
    except OSError as failed:
        sys.exit(str(failed))
    os.execv(sys.argv[2], sys.argv[2:])
