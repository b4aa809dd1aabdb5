"""Put a JSON-LD context into the validator's cache, so that it validates without a network.

Run with the validator's own Python: ``fill_cache.py CACHE CONTEXT.json``.
"""

import sys
from pathlib import Path

from requests import Response
from requests.adapters import BaseAdapter
from requests_cache import CachedSession


class FromFile(BaseAdapter):
    """Answers every request with one file."""

    def __init__(self, content):
        super().__init__()
        self.content = content

    def send(self, request, **_):
        response = Response()
        response.status_code, response.url, response.request = 200, request.url, request
        response.headers["Content-Type"] = "application/ld+json"
        response._content = self.content
        return response

    def close(self):
        """Nothing is open."""


if __name__ == "__main__":
    cache, context = sys.argv[1:]
    session = CachedSession(cache_name=cache, backend="sqlite", expire_after=-1, allowable_methods=("GET",))
    session.mount("https://", FromFile(Path(context).read_bytes()))
    session.get("https://w3id.org/ro/crate/1.1/context", headers={"Accept": "application/ld+json, application/json"})
