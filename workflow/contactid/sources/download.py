"""Download one file so that an interrupted download goes on where it stopped, and nothing
half-written is taken for it.

The bytes go into ``<partial>``, beside a small ``<partial>.json`` with what the server called that
version of the file (ETag, Last-Modified). Whoever comes next asks for the rest of *that* version
(Range with If-Range); a server that can't or that has another one by now answers with the whole
file, which then replaces what was there. The file takes its final name, in one step, after size and
checksum have been compared. Meanwhile a terminal shows a bar, and the log has lines.
"""

from __future__ import annotations

import json
import logging
import re
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

import requests
from urllib3.exceptions import HTTPError

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.sources.lockfile import LockedFile, readable
from contactid.sources.places import Patience
from contactid.sources.store import file_lock
from contactid.sources.web import ask, new_session, reason_of, unreachable

_LOG = logging.getLogger(__name__)
# bytes that are written at once
_CHUNK = 1 << 18
# RFC 9110: "bytes 0-499/1234"; a star stands for what the server doesn't know
_CONTENT_RANGE = re.compile(r"^bytes (?:(\d+)-\d+|\*)/(\d+|\*)$")
# bytes of a file whose size nobody knows
_MOST = 20_000_000_000
# a server that sends a few bytes and hangs up, for ever, is given up
_MOST_REQUESTS = 1000
_BAR = 30  # characters
_BAR_EVERY = 0.2  # s
_LINE_EVERY = 10.0  # s


@dataclass
class Progress:
    """Told of every byte, it says something now and then.

    Attributes
    ----------
    what : named in every line
    total : bytes; None where the server doesn't say
    done : bytes there already
    terminal : where a bar is drawn if it is one; the log gets its lines either way
    """

    what: str
    total: int | None
    done: int = 0
    terminal: TextIO | None = None
    _bar_due: float = field(default=0.0, init=False)
    _line_due: float = field(default_factory=lambda: time.monotonic() + _LINE_EVERY, init=False)
    _drawn: bool = field(default=False, init=False)

    def advance(self, size: int) -> None:
        """``size`` more bytes have come."""
        self.done += size
        now = time.monotonic()
        if now >= self._line_due:
            self._line_due = now + _LINE_EVERY
            _LOG.info("%s: %s", self.what, self._state())
        if now >= self._bar_due and self.terminal is not None and self.terminal.isatty():
            self._bar_due = now + _BAR_EVERY
            self._draw()

    def close(self) -> None:
        """Finish the bar and leave a line in the log."""
        if self._drawn and self.terminal is not None:
            self._draw()
            print(file=self.terminal, flush=True)
        _LOG.info("%s: %s", self.what, self._state())

    def _state(self) -> str:
        if not self.total:
            return readable(self.done)
        percent = 100 * self.done / self.total
        return f"{readable(self.done)} of {readable(self.total)} ({percent:.0f} %)"

    def _draw(self) -> None:
        share = min(1.0, self.done / self.total) if self.total else 0.0
        bar = "#" * round(_BAR * share)
        # the escape sequence clears what a longer line before has written
        line = f"\r[{bar:<{_BAR}}] {self.what}: {self._state()}\033[K"
        print(line, end="", file=self.terminal, flush=True)
        self._drawn = True


def download(
    wanted: LockedFile,
    target: Path,
    *,
    partial: Path,
    patience: Patience,
    terminal: TextIO | None = None,
) -> None:
    """Bring ``wanted`` to ``target``, going on with ``partial`` where that holds its beginning.

    Several processes may do this at once: one downloads, the others wait for it. Messages name
    ``wanted.name``. No more bytes are taken than it is known to have, whatever the server says; of
    a file of unknown size at most 20 GB.

    Raises
    ------
    ContactIdError
        Where it can't be had, or isn't what was expected (both checksums are shown). What has come
        stays in ``partial`` unless it is wrong.
    """
    with file_lock(partial.with_name(partial.name + ".lock"), wanted.name):
        # whoever held the lock has brought it
        if target.is_file() and not wanted.mismatch(target):
            return
        try:
            partial.parent.mkdir(parents=True, exist_ok=True)
            _until_right(wanted, partial, patience, terminal)
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.replace(target)
        except OSError as error:
            raise ContactIdError(
                f"{wanted.name}: cannot be stored as {target} ({error.strerror or error})",
                "Check space and permissions",
            ) from error
        _origin_file(partial).unlink(missing_ok=True)


def _until_right(
    wanted: LockedFile, partial: Path, patience: Patience, terminal: TextIO | None
) -> None:
    """Receive the file; bytes that were put together from several answers get a second chance from
    the beginning.
    """
    for _ in range(2):
        resumed = _receive(wanted, partial, patience, terminal)
        problem = wanted.mismatch(partial)
        if not problem:
            return
        _discard(partial)
        # what came in one piece would come again as it is
        if not resumed:
            break
        _LOG.warning(
            "%s: the resumed file %s; fetching it from the beginning", wanted.name, problem
        )
    raise ContactIdError(
        f"{wanted.name}: what {wanted.url} gives {problem}",
        "It has changed there since it was locked, or was damaged on the way: fetch it again, or see make lock",
    )


def _receive(
    wanted: LockedFile, partial: Path, patience: Patience, terminal: TextIO | None
) -> bool:
    """Fill ``partial`` up to its end; whether it was put together from more than one answer."""
    session = new_session()
    progress: Progress | None = None
    resumed, failures, wrong = False, 0, 0
    for _ in range(_MOST_REQUESTS):
        have, headers = _usable(wanted, partial)
        if have and have == wanted.size:
            return True
        response = ask(session, wanted.url, what=wanted.name, patience=patience, headers=headers)
        with response:
            start, total = _begin(wanted, response, partial, have)
            # the answer doesn't fit what is there, which is gone now
            if start is None:
                wrong += 1
                if wrong >= patience.attempts:
                    raise unreachable(
                        wanted.name, wanted.url, "its answers to range requests are wrong"
                    )
                continue
            resumed = resumed or start > 0
            progress = progress or Progress(wanted.name, total, terminal=terminal)
            progress.done = start
            if start:
                _LOG.info("%s: going on at %d of %s bytes", wanted.name, start, total or "unknown")
            broken = _store(wanted, response, partial, start, progress)
        size = partial.stat().st_size
        if not broken and (total is None or size >= total):
            progress.close()
            return resumed
        # patience is for tries in a row that brought nothing
        failures = 1 if size > start else failures + 1
        if failures >= patience.attempts:
            break
        wait = patience.wait_before(failures)
        _LOG.info(
            "%s: broke off at %d bytes (%s); going on in %.3g s",
            wanted.name,
            size,
            broken or "too short",
            wait,
        )
        time.sleep(wait)
    raise unreachable(wanted.name, wanted.url, f"it breaks off: {broken or 'too short'}")


def _usable(wanted: LockedFile, partial: Path) -> tuple[int, dict[str, str]]:
    """How many bytes of ``partial`` the next request builds on, and what it says of them; useless
    ones are removed.
    """
    have = partial.stat().st_size if partial.is_file() else 0
    if not have:
        return 0, {}
    try:
        recorded = json.loads(_origin_file(partial).read_text(encoding="utf-8"))
        validator = recorded.get("etag", "")
        # If-Range takes no weak one (RFC 9110, 13.1.5)
        if not validator.startswith('"'):
            validator = recorded.get("last_modified", "")
        unchanged = recorded["url"] == wanted.url and validator
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        unchanged = False
    if not unchanged or (wanted.size is not None and have > wanted.size):
        _LOG.info("%s: %d bytes of an earlier try can't be used", wanted.name, have)
        _discard(partial)
        return 0, {}
    return have, {"Range": f"bytes={have}-", "If-Range": validator}


def _begin(
    wanted: LockedFile, response: requests.Response, partial: Path, have: int
) -> tuple[int | None, int | None]:
    """Where the answer's bytes begin and how many there are in all; no beginning where the partial
    file was wrong.
    """
    status = response.status_code
    if status == 200:
        total = _number(response.headers.get("Content-Length"))
        _check_total(wanted, response, total)
        if have:
            _LOG.info("%s: the server sends the whole file again", wanted.name)
        _discard(partial)
        record = {
            "etag": response.headers.get("ETag", ""),
            "last_modified": response.headers.get("Last-Modified", ""),
        }
        write_text(_origin_file(partial), json.dumps({"url": wanted.url, **record}))
        return 0, total
    if status in (206, 416):
        content_range = response.headers.get("Content-Range", "")
        match = _CONTENT_RANGE.match(content_range)
        start, total = (_number(text) for text in match.groups()) if match else (None, None)
        if status == 206 and start == have and total is not None:
            _check_total(wanted, response, total)
            return have, total
        # nothing comes after what is there: it is the whole file
        if status == 416 and total == have:
            return have, total
        _LOG.warning(
            "%s: asked for bytes from %d, answered %d with Content-Range %r; starting over",
            wanted.name,
            have,
            status,
            content_range,
        )
        _discard(partial)
        return None, None
    raise _refused(wanted, status)


def _number(text: str | None) -> int | None:
    """A number of bytes in a header; None where the server says none."""
    return int(text) if text and text.isdigit() else None


def _refused(wanted: LockedFile, status: int) -> ContactIdError:
    """The error for an answer that isn't the file."""
    match status:
        case 401 | 403:
            problem = f"{wanted.url} is not allowed or not known there"
            remedy = "It may be restricted, under embargo or withdrawn: look at the dataset's page"
        case 404 | 410:
            problem = f"{wanted.url} does not exist"
            remedy = "It may have been withdrawn: look at the dataset's page, or name a mirror in data_mirror"
        case 500:
            problem = f"the server fails to read {wanted.url}"
            remedy = (
                "It may have lost the file: tell the repository, or name a mirror in data_mirror"
            )
        case _:
            return ContactIdError(
                f"{wanted.name}: {wanted.url} answers with status {status}", "Try later"
            )
    return ContactIdError(f"{wanted.name}: {problem} (status {status})", remedy)


def _check_total(wanted: LockedFile, response: requests.Response, total: int | None) -> None:
    if total is None or total == wanted.size or (wanted.size is None and total <= _MOST):
        return
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise ContactIdError(
            f"{wanted.name}: {wanted.url} gives a web page instead of the file",
            "Does the network want you to log in?",
        )
    raise ContactIdError(
        f"{wanted.name}: {wanted.url} has {total} bytes, expected {_expected(wanted)}",
        "It has changed there since it was locked: see make lock",
    )


def _store(
    wanted: LockedFile, response: requests.Response, partial: Path, start: int, progress: Progress
) -> str:
    """Append the answer's bytes from ``start`` on; the reason where the connection broke, else
    empty.

    Raises :class:`ContactIdError` where more come than the file has; none of them stays.
    """
    # nothing remains to come
    if response.status_code == 416:
        return ""
    remaining = (_MOST if wanted.size is None else wanted.size) - start
    # unbuffered: what has come survives a process that is killed
    with partial.open("r+b" if start else "wb", buffering=0) as file:
        file.seek(start)
        try:
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
                remaining -= len(chunk)
                if remaining < 0:
                    break
                file.write(chunk)
                progress.advance(len(chunk))
        except HTTPError as error:
            return reason_of(error)
    if remaining < 0:
        _discard(partial)
        raise ContactIdError(
            f"{wanted.name}: {wanted.url} gives more than the expected {_expected(wanted)} bytes",
            "It has changed there since it was locked: see make lock",
        )
    return ""


def _expected(wanted: LockedFile) -> str:
    return f"at most {_MOST}" if wanted.size is None else str(wanted.size)


def _origin_file(partial: Path) -> Path:
    return partial.with_name(partial.name + ".json")


def _discard(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    _origin_file(partial).unlink(missing_ok=True)
