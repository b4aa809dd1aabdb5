"""Requests that wait for a server which is busy, and say in one line why they failed.

429 and 5xx answers, refused and broken connections and timeouts are tried again, each time after twice as long a wait;
where the server names the wait (Retry-After), that one is taken.


How far a download is: a bar on a terminal, plain lines in a log.

Download one file so that an interrupted download goes on where it stopped, and nothing half-written is taken for it.

The bytes go into ``<partial>``, beside a small ``<partial>.json`` with what the server called that version of the file
(ETag, Last-Modified). Whoever comes next asks for the rest of *that* version (Range with If-Range); a server that can't
or that has another one by now answers with the whole file, which then replaces what was there. The file takes its final
name, in one step, after size and checksum have been compared."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import urlsplit

import requests
from requests.exceptions import ConnectionError as RequestConnectionError
from requests.exceptions import RequestException, SSLError, Timeout
from urllib3.exceptions import HTTPError, InvalidHeader
from urllib3.util import Retry

from contactid.core.atomic import write_text
from contactid.core.errors import ContactIdError
from contactid.sources.lockfile import Expected, mismatch
from contactid.sources.store import file_lock

_LOG = logging.getLogger(__name__)


_BUSY = frozenset({429, 500, 502, 503, 504})


_ATTEMPTS_FOR_500 = 3  # a file that the server has lost answers 500 for ever


USER_AGENT = "contactid/0.1 (reproducibility repository)"


@dataclass(frozen=True)
class Patience:
    """How long to try.

    Attributes
    ----------
    attempts : tries in a row without a single byte received
    first_wait, longest_wait : s; a server that asks for more than the longest ends the try
    connect_timeout, read_timeout : s without an answer, s without a byte
    """

    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 120.0
    connect_timeout: float = 20.0
    read_timeout: float = 60.0

    def wait_before(self, attempt: int) -> float:
        """Seconds before the try after the ``attempt``-th (from 1) failed one."""
        return float(min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1)))


PATIENT = Patience()


def check_address(url: str, key: str) -> str:
    """The address without a slash at the end.

    Raises
    ------
    ContactIdError
        Naming the configuration's key, for what is no ``http`` or ``https`` address.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ContactIdError(f"configuration: {key} is {url!r}, which is no web address", "Write https://host")
    return url.rstrip("/")


def new_session() -> requests.Session:
    """A session of our own name that takes bytes as they are: compressed ones can't be resumed."""
    session = requests.Session()
    session.headers.update({"User-Agent": USER_AGENT, "Accept-Encoding": "identity"})
    return session


def ask(
    session: requests.Session,
    url: str,
    *,
    what: str,
    patience: Patience,
    headers: Mapping[str, str] | None = None,
    json: Any = None,
    stream: bool = False,
) -> requests.Response:
    """GET, or POST where there is ``json``; the answer may still be an error that more tries don't change.

    Raises
    ------
    ContactIdError
        Where no answer came, naming ``what`` and the reason; where the server asks to wait too long.
    """
    for attempt in range(1, patience.attempts + 1):
        last = attempt == patience.attempts
        try:
            response = session.request(
                "GET" if json is None else "POST",
                url,
                headers=dict(headers or {}),
                json=json,
                stream=stream,
                timeout=(patience.connect_timeout, patience.read_timeout),
            )
        except RequestException as error:
            passing = isinstance(error, RequestConnectionError | Timeout) and not isinstance(error, SSLError)
            if last or not passing:
                raise unreachable(what, url, reason_of(error)) from None
            _pause(patience.wait_before(attempt), f"{what}: no answer ({reason_of(error)})")
            continue
        if response.status_code not in _BUSY or last or (response.status_code == 500 and attempt >= _ATTEMPTS_FOR_500):
            return response
        wait = _asked_wait(response, patience.wait_before(attempt))
        response.close()
        if wait > patience.longest_wait:
            raise ContactIdError(
                f"{what}: the server is busy (status {response.status_code}) and asks to wait {wait:.0f} s", "Try later"
            )
        _pause(wait, f"{what}: the server is busy (status {response.status_code})")
    raise AssertionError("attempts must be positive")


def _pause(wait: float, why: str) -> None:
    _LOG.info("%s; trying again in %.3g s", why, wait)
    time.sleep(wait)


def _asked_wait(response: requests.Response, otherwise: float) -> float:
    """Retry-After in s (a number or a date); ``otherwise`` where there is none."""
    try:
        asked = Retry().parse_retry_after(response.headers["Retry-After"])
    except (KeyError, InvalidHeader, ValueError, OverflowError):
        return otherwise
    return float(asked)


def unreachable(what: str, url: str, reason: str) -> ContactIdError:
    """The error for an address that gives no answer."""
    return ContactIdError(
        f"{what}: {url} cannot be had ({reason})",
        "Check the network, or name a folder that holds the data in data_mirror",
    )


def reason_of(error: BaseException) -> str:
    """The innermost reason of a network error, without the objects that libraries print."""
    inner: Any = error
    for _ in range(8):
        nested = getattr(inner, "reason", None)
        if not isinstance(nested, BaseException):
            nested = inner.args[0] if inner.args and isinstance(inner.args[0], BaseException) else None
        if nested is None:
            break
        inner = nested
    if "timed out" in str(inner).lower():
        return "timed out"
    return str(inner).rsplit(">: ", 1)[-1].rsplit("): ", 1)[-1] or type(inner).__name__


_BAR = 30


_BAR_EVERY = 0.2  # s


_LINE_EVERY = 10.0  # s


def readable(size: float) -> str:
    """A number of bytes as a person reads it, in powers of ten: ``5.0 MB``."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


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
        return f"{readable(self.done)} of {readable(self.total)} ({100 * self.done / self.total:.0f} %)"

    def _draw(self) -> None:
        filled = round(_BAR * min(1.0, self.done / self.total)) if self.total else 0
        print(f"\r[{'#' * filled:<{_BAR}}] {self.what}: {self._state()}\033[K", end="", file=self.terminal, flush=True)
        self._drawn = True


_CHUNK = 1 << 18


_CONTENT_RANGE = re.compile(r"^bytes (?:(\d+)-\d+|\*)/(\d+|\*)$")


_MOST_REQUESTS = 1000  # a server that sends a few bytes and hangs up, for ever, is given up


@dataclass(frozen=True)
class Wanted:
    """One file: its name for messages, where it is, what it has to be."""

    name: str
    url: str
    expected: Expected


@dataclass(frozen=True)
class _Origin:
    """Which version of which file the partial bytes belong to."""

    url: str
    etag: str = ""
    last_modified: str = ""

    @property
    def validator(self) -> str:
        """For If-Range: a strong ETag, else the date; empty where the server gave neither."""
        return self.etag if self.etag.startswith('"') else self.last_modified


def download(
    wanted: Wanted,
    target: Path,
    *,
    partial: Path,
    patience: Patience,
    session: requests.Session | None = None,
    terminal: TextIO | None = None,
) -> None:
    """Bring ``wanted`` to ``target``, going on with ``partial`` where that holds its beginning.

    Several processes may do this at once: one downloads, the others wait for it.

    Raises
    ------
    ContactIdError
        Where it can't be had, or isn't what was expected (both checksums are shown). What has come stays in ``partial``
        unless it is wrong.
    """
    with file_lock(partial.with_name(partial.name + ".lock"), wanted.name):
        if target.is_file() and not mismatch(target, wanted.expected):
            return
        try:
            partial.parent.mkdir(parents=True, exist_ok=True)
            _until_right(wanted, partial, session or new_session(), patience, terminal)
            target.parent.mkdir(parents=True, exist_ok=True)
            partial.replace(target)
        except OSError as error:
            raise ContactIdError(
                f"{wanted.name}: cannot be stored as {target} ({error.strerror or error})",
                "Check space and permissions",
            ) from error
        _origin_file(partial).unlink(missing_ok=True)


def _until_right(
    wanted: Wanted, partial: Path, session: requests.Session, patience: Patience, terminal: TextIO | None
) -> None:
    """Receive the file; bytes that were put together from several answers get a second chance from the beginning."""
    for _ in range(2):
        resumed = _receive(wanted, partial, session, patience, terminal)
        problem = mismatch(partial, wanted.expected)
        if not problem:
            return
        _discard(partial)
        if not resumed:
            break
        _LOG.warning("%s: the resumed file %s; fetching it from the beginning", wanted.name, problem)
    raise ContactIdError(
        f"{wanted.name}: what {wanted.url} gives {problem}",
        "It has changed there since it was locked, or was damaged on the way: fetch it again, or see make lock",
    )


def _receive(
    wanted: Wanted, partial: Path, session: requests.Session, patience: Patience, terminal: TextIO | None
) -> bool:
    """Fill ``partial`` up to its end; whether it was put together from more than one answer."""
    progress: Progress | None = None
    resumed, failures, wrong = False, 0, 0
    for _ in range(_MOST_REQUESTS):
        have = _usable(wanted, partial)
        if have and have == wanted.expected.size:
            return True
        response = ask(
            session, wanted.url, what=wanted.name, patience=patience, headers=_range(partial, have), stream=True
        )
        with response:
            start, total = _begin(wanted, response, partial, have)
            if start is None:  # the answer doesn't fit what is there, which is gone now
                wrong += 1
                if wrong >= patience.attempts:
                    raise unreachable(wanted.name, wanted.url, "its answers to range requests are wrong")
                continue
            resumed = resumed or start > 0
            progress = progress or Progress(wanted.name, total, terminal=terminal)
            progress.done = start
            if start:
                _LOG.info("%s: going on at %d of %s bytes", wanted.name, start, total or "unknown")
            broken = _store(response, partial, start, progress)
        size = partial.stat().st_size
        if not broken and (total is None or size >= total):
            progress.close()
            return resumed
        failures = 1 if size > start else failures + 1
        if failures >= patience.attempts:
            break
        wait = patience.wait_before(failures)
        _LOG.info("%s: broke off at %d bytes (%s); going on in %.3g s", wanted.name, size, broken or "too short", wait)
        time.sleep(wait)
    raise unreachable(wanted.name, wanted.url, f"it breaks off: {broken or 'too short'}")


def _usable(wanted: Wanted, partial: Path) -> int:
    """How many bytes of ``partial`` the next request can build on; what can't be used is removed."""
    have = partial.stat().st_size if partial.is_file() else 0
    origin = _origin_of(partial)
    known = origin is not None and origin.url == wanted.url and origin.validator
    too_long = wanted.expected.size is not None and have > wanted.expected.size
    if have and (not known or too_long):
        _LOG.info("%s: %d bytes of an earlier try can't be used", wanted.name, have)
        _discard(partial)
        return 0
    return have


def _range(partial: Path, have: int) -> dict[str, str]:
    origin = _origin_of(partial)
    if not have or origin is None:
        return {}
    return {"Range": f"bytes={have}-", "If-Range": origin.validator}


def _begin(wanted: Wanted, response: requests.Response, partial: Path, have: int) -> tuple[int | None, int | None]:
    """Where the answer's bytes begin and how many there are in all; no beginning where the partial file was wrong."""
    status = response.status_code
    if status == 200:
        length = response.headers.get("Content-Length", "")
        total = int(length) if length.isdigit() else None
        _check_total(wanted, response, total)
        if have:
            _LOG.info("%s: the server sends the whole file again", wanted.name)
        _discard(partial)
        headers = response.headers
        origin = _Origin(wanted.url, headers.get("ETag", ""), headers.get("Last-Modified", ""))
        write_text(_origin_file(partial), json.dumps(asdict(origin)))
        return 0, total
    if status in (206, 416):
        match = _CONTENT_RANGE.match(response.headers.get("Content-Range", ""))
        start, total = (
            (int(text) if text and text.isdigit() else None for text in match.groups()) if match else (None,) * 2
        )
        if status == 206 and start == have and total is not None:
            _check_total(wanted, response, total)
            return have, total
        if status == 416 and total == have:
            return have, total
        _LOG.warning(
            "%s: asked for bytes from %d, answered %d with Content-Range %r; starting over",
            wanted.name, have, status, response.headers.get("Content-Range", ""),
        )  # fmt: skip
        _discard(partial)
        return None, None
    raise refused(wanted, status)


def refused(wanted: Wanted, status: int) -> ContactIdError:
    """The error for an answer that isn't the file."""
    if status in (401, 403):
        return ContactIdError(
            f"{wanted.name}: {wanted.url} is not allowed or not known there (status {status})",
            "It may be restricted, under embargo or withdrawn: look at the dataset's page",
        )
    if status in (404, 410):
        return ContactIdError(
            f"{wanted.name}: {wanted.url} does not exist (status {status})",
            "It may have been withdrawn: look at the dataset's page, or name a mirror in data_mirror",
        )
    if status == 500:
        return ContactIdError(
            f"{wanted.name}: the server fails to read {wanted.url} (status 500)",
            "It may have lost the file: tell the repository, or name a mirror in data_mirror",
        )
    return ContactIdError(f"{wanted.name}: {wanted.url} answers with status {status}", "Try later")


def _check_total(wanted: Wanted, response: requests.Response, total: int | None) -> None:
    expected = wanted.expected.size
    if expected is None or total is None or total == expected:
        return
    if response.headers.get("Content-Type", "").startswith("text/html"):
        raise ContactIdError(
            f"{wanted.name}: {wanted.url} gives a web page instead of the file", "Does the network want you to log in?"
        )
    raise ContactIdError(
        f"{wanted.name}: {wanted.url} has {total} bytes, expected {expected}",
        "It has changed there since it was locked: see make lock",
    )


def _store(response: requests.Response, partial: Path, start: int, progress: Progress) -> str:
    """Append the answer's bytes from ``start`` on; the reason where the connection broke, else empty."""
    if response.status_code == 416:  # nothing is left to come
        return ""
    with partial.open("r+b" if start else "wb", buffering=0) as file:
        file.seek(start)
        try:
            for chunk in response.raw.stream(_CHUNK, decode_content=False):
                file.write(chunk)
                progress.advance(len(chunk))
        except HTTPError as error:
            return reason_of(error)
    return ""


def _origin_file(partial: Path) -> Path:
    return partial.with_name(partial.name + ".json")


def _origin_of(partial: Path) -> _Origin | None:
    try:
        return _Origin(**json.loads(_origin_file(partial).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def _discard(partial: Path) -> None:
    partial.unlink(missing_ok=True)
    _origin_file(partial).unlink(missing_ok=True)
