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
# a file that the server has lost answers 500 for ever
_ATTEMPTS_FOR_500 = 3
# errors within errors that are looked through: libraries nest two or three
_DEEPEST = 8
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
        is_last = attempt == patience.attempts
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
            # a certificate that is wrong stays wrong
            is_passing = isinstance(error, RequestConnectionError | Timeout)
            is_passing = is_passing and not isinstance(error, SSLError)
            if is_last or not is_passing:
                raise unreachable(what, url, reason_of(error)) from None
            _pause(patience.wait_before(attempt), f"{what}: no answer ({reason_of(error)})")
            continue
        status = response.status_code
        is_lost = status == 500 and attempt >= _ATTEMPTS_FOR_500
        if status not in _BUSY or is_last or is_lost:
            return response
        wait = _asked_wait(response, patience.wait_before(attempt))
        response.close()
        busy = f"{what}: the server is busy (status {status})"
        if wait > patience.longest_wait:
            raise ContactIdError(f"{busy} and asks to wait {wait:.0f} s", "Try later")
        _pause(wait, busy)
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
    for _ in range(_DEEPEST):
        # urllib3 has the cause in an attribute, requests as the first argument
        causes = [getattr(inner, "reason", None), *inner.args[:1]]
        nested = [cause for cause in causes if isinstance(cause, BaseException)]
        if not nested:
            break
        inner = nested[0]
    if "timed out" in str(inner).lower():
        return "timed out"
    # urllib3 begins with its object: "<HTTPSConnection(...)>: Failed to resolve"
    text = str(inner).rpartition(">: ")[2].rpartition("): ")[2]
    return text or type(inner).__name__
