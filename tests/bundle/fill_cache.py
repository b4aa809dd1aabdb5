"""Put a JSON-LD context into the validator's cache, so that it validates without a network.

Run with the validator's own Python: ``fill_cache.py CACHE CONTEXT.json``.
"""

import io
import sys
from pathlib import Path

from requests.adapters import HTTPAdapter
from requests_cache import CachedSession
from urllib3 import HTTPResponse


class FromFile(HTTPAdapter):
    """Answers every request with one file."""

    def __init__(self, content):
        super().__init__()
        self.content = content

    def send(self, request, **_):
        headers = {"Content-Type": "application/ld+json"}
        answer = HTTPResponse(
            io.BytesIO(self.content),
            headers,
            200,
            preload_content=False,
            request_url=request.url,
            request_method="GET",
        )
        return self.build_response(request, answer)


if __name__ == "__main__":
    cache, context = sys.argv[1:]
    session = CachedSession(
        cache_name=cache, backend="sqlite", expire_after=-1, allowable_methods=("GET",)
    )
    session.mount("https://", FromFile(Path(context).read_bytes()))
    session.get(
        "https://w3id.org/ro/crate/1.1/context",
        headers={"Accept": "application/ld+json, application/json"},
    )
