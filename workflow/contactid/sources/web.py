"""Requests that wait for a server which is busy, and say in one line why they failed.

429 and 5xx answers, refused and broken connections and timeouts are tried again, each time after
twice as long a wait; where the server names the wait (Retry-After), that one is taken.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any

import requests
from requests.exceptions import ConnectionError as RequestConnectionError
from requests.exceptions import RequestException, SSLError, Timeout
from urllib3.exceptions import InvalidHeader
from urllib3.util import Retry

from contactid.core.errors import ContactIdError
from contactid.sources.places import Patience

_LOG = logging.getLogger(__name__)
_BUSY = frozenset({429, 500, 502, 503, 504})
_ATTEMPTS_FOR_500 = 3  # a file that the server has lost answers 500 for ever
USER_AGENT = "contactid (reproducibility repository)"


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
) -> requests.Response:
    """GET, or POST where there is ``json``; the answer, whose body is still to be read, may be an
    error that stays.

    Raises
    ------
    ContactIdError : where no answer came, naming ``what`` and the reason; where the server asks to
        wait too long
    """
    for attempt in range(1, patience.attempts + 1):
        last = attempt == patience.attempts
        try:
            response = session.request(
                "GET" if json is None else "POST",
                url,
                headers=dict(headers or {}),
                json=json,
                stream=True,
                timeout=(patience.connect_timeout, patience.read_timeout),
            )
        except RequestException as error:
            passing = isinstance(error, RequestConnectionError | Timeout) and not isinstance(
                error, SSLError
            )
            if last or not passing:
                raise unreachable(what, url, reason_of(error)) from None
            _pause(patience.wait_before(attempt), f"{what}: no answer ({reason_of(error)})")
            continue
        if (
            response.status_code not in _BUSY
            or last
            or (response.status_code == 500 and attempt >= _ATTEMPTS_FOR_500)
        ):
            return response
        wait = _asked_wait(response, patience.wait_before(attempt))
        response.close()
        if wait > patience.longest_wait:
            raise ContactIdError(
                f"{what}: the server is busy (status {response.status_code}) and asks to wait {wait:.0f} s",
                "Try later",
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
            nested = (
                inner.args[0] if inner.args and isinstance(inner.args[0], BaseException) else None
            )
        if nested is None:
            break
        inner = nested
    if "timed out" in str(inner).lower():
        return "timed out"
    return str(inner).rsplit(">: ", 1)[-1].rsplit("): ", 1)[-1] or type(inner).__name__
