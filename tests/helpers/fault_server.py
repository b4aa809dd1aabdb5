"""A web server on 127.0.0.1 that misbehaves on request: one fault for each request, then it
behaves.

Faults are functions of the handler and the content; :func:`whole` is the well-behaved answer.
"""

import re
import threading
import time
from collections import deque
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from contactid.sources.places import Patience

IMPATIENT = Patience(
    attempts=3, first_wait=0.01, longest_wait=0.5, connect_timeout=20, read_timeout=20
)


class Content:
    """What the server has: bytes by path, their ETag, faults to come, and the requests it was
    asked.
    """

    def __init__(self, files, etag='"one"', ranges=True):
        self.files = dict(files)
        self.etag = etag
        self.last_modified = "Sat, 21 Nov 2026 10:00:00 GMT"
        self.ranges = ranges
        self.faults = deque()
        self.requests = []
        self.sent = 0
        self.url = ""

    def ranges_asked(self):
        return [headers.get("Range") for _, headers in self.requests]


def answer(handler, status, headers=(), body=b"", declared=None):
    handler.send_response(status)
    for name, value in dict(headers).items():
        handler.send_header(name, value)
    handler.send_header("Content-Length", str(len(body) if declared is None else declared))
    handler.end_headers()
    handler.content.sent += len(
        body
    )  # before they go, so that whoever has the last one finds it counted
    handler.wfile.write(body)


def validators(content):
    found = {"Content-Type": "application/octet-stream"}
    if content.etag:
        found["ETag"] = content.etag
    if content.last_modified:
        found["Last-Modified"] = content.last_modified
    return found


def asked_start(handler, content, size):
    match = re.match(r"bytes=(\d+)-$", handler.headers.get("Range", ""))
    same = handler.headers.get("If-Range") in (None, content.etag, content.last_modified)
    return int(match[1]) if match and content.ranges and same else None


def whole(handler, content, body, *, cut=None, shift=0, size_shift=0):
    """Range and If-Range as they should be; ``cut`` bytes only, or a wrong Content-Range."""
    start = asked_start(handler, content, len(body))
    headers = validators(content)
    if start is None:
        part = body if cut is None else body[:cut]
        return answer(handler, 200, headers, part, len(body))
    if start >= len(body):
        return answer(handler, 416, {"Content-Range": f"bytes */{len(body)}"})
    part = body[start:] if cut is None else body[start : start + cut]
    headers["Content-Range"] = f"bytes {start + shift}-{len(body) - 1}/{len(body) + size_shift}"
    return answer(handler, 206, headers, part, len(body) - start)


def cut(after):
    """Hang up after so many bytes."""
    return lambda handler, content, body: whole(handler, content, body, cut=after)


def status(code, **headers):
    """Nothing but a status; an underscore in a header's name stands for a dash."""
    plain = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda handler, content, body: answer(handler, code, plain)


def page(handler, content, body):
    """A web page in place of the file, as a login portal gives."""
    answer(
        handler, 200, {"Content-Type": "text/html; charset=utf-8"}, b"<html>please log in</html>"
    )


def ignored_range(handler, content, body):
    """The whole file whatever was asked for, as an older server with another storage does."""
    answer(handler, 200, validators(content), body)


def shifted(handler, content, body):
    """A Content-Range that isn't what was asked for."""
    whole(handler, content, body, shift=7)


def flipped(handler, content, body):
    """Right headers, one wrong byte at the end."""
    whole(handler, content, body[:-1] + bytes([body[-1] ^ 1]))


def silent(handler, content, body):
    """No answer for longer than anyone waits."""
    time.sleep(0.8)


def no_length(handler, content, body):
    """Chunked, without a length or anything to resume by."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    for first in range(0, len(body), 10_000):
        piece = body[first : first + 10_000]
        handler.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
    handler.wfile.write(b"0\r\n\r\n")


@contextmanager
def serving(content):
    """Serve it on a free port; ``content.url`` is the address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def end_headers(self):
            self.send_header(
                "Connection", "close"
            )  # as it will: a client that kept it would race with the hanging up
            super().end_headers()

        def do_GET(self):
            self.content = content
            content.requests.append((self.path, dict(self.headers)))
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            self.close_connection = True
            fault = content.faults.popleft() if content.faults else whole
            body = content.files.get(self.path)
            if body is None:
                return answer(self, 404, {}, b'{"message": "This resource does not exist."}')
            return fault(self, content, body)

        do_POST = do_GET

        def log_message(self, *arguments):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    content.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield content
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
