"""An S3-protocol server on loopback: objects of one bucket, by path, with signatures (AWS SigV4) verified.

It speaks what `app.clients.storage` needs: PUT, GET and HEAD of an object, a list of them, and POST to delete several.
With MOTO_SERVER naming the executable of moto's server, the same tests run against that one instead; the two cannot
share the service's environment, because botocore wants an older python-dateutil than the service has.
"""

import hashlib
import hmac
import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

import httpx

KEY, SECRET, BUCKET = "key", "se/cret", "covers"
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/]+)/(\d{8})/([^/]+)/s3/aws4_request, ?"
    r"SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})"
)


@contextmanager
def running() -> Iterator[str]:
    """The endpoint of a server that has the bucket."""
    executable = os.environ.get("MOTO_SERVER")
    with _moto(executable) if executable else own() as endpoint:
        yield endpoint


class _Objects(BaseHTTPRequestHandler):
    server: "_Server"

    def do_PUT(self) -> None:  # noqa: N802
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self._signed() or self.headers["x-amz-content-sha256"] not in _digests(body):
            return self._answer(403)
        self.server.objects[self.path] = (body, self.headers.get("Content-Type", ""))
        return self._answer(200, kind="application/xml")

    def do_GET(self) -> None:  # noqa: N802
        if not self._signed():
            return self._answer(403)
        if "list-type=2" in self.path:
            return self._list()
        body, kind = self.server.objects.get(self.path, (None, ""))
        return self._answer(404 if body is None else 200, body or b"", kind)

    def _list(self) -> None:
        prefix = unquote(parse_qs(urlsplit(self.path).query).get("prefix", [""])[0])
        names = [name.removeprefix(f"/{BUCKET}/") for name in self.server.objects]
        contents = "".join(
            f"<Contents><Key>{name}</Key><LastModified>2026-01-01T10:00:00.000Z</LastModified><ETag>&quot;a&quot;</ETag>"
            f"<Size>{len(self.server.objects[f'/{BUCKET}/{name}'][0])}</Size></Contents>"
            for name in sorted(names)
            if name.startswith(prefix)
        )
        found = f"<ListBucketResult><IsTruncated>false</IsTruncated>{contents}</ListBucketResult>"
        self._answer(200, found.encode(), "application/xml")

    def do_POST(self) -> None:  # noqa: N802
        """DeleteObjects: what is not there counts as deleted."""
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self._signed() or self.headers["x-amz-content-sha256"] not in _digests(body):
            return self._answer(403)
        names = re.findall(r"<Key>([^<]+)</Key>", body.decode())
        for name in names:
            self.server.objects.pop(f"/{BUCKET}/{name}", None)
        deleted = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in names)
        return self._answer(200, f"<DeleteResult>{deleted}</DeleteResult>".encode(), "application/xml")

    def _answer(self, status: int, body: bytes = b"", kind: str = "application/octet-stream") -> None:
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), "ETag": f'"{hashlib.md5(body).hexdigest()}"'}
        for name, value in {**headers, "Last-Modified": "Wed, 18 Nov 2026 10:00:00 GMT"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _signed(self) -> bool:
        found = _AUTHORIZATION.fullmatch(self.headers.get("Authorization", ""))
        if not found or found[1] != KEY:
            return False
        _, day, region, names, signature = found.groups()
        parts = urlsplit(self.path)
        headers = "".join(f"{name}:{' '.join(self.headers[name].split())}\n" for name in names.split(";"))
        payload = self.headers["x-amz-content-sha256"]
        query = parts.query if "=" in parts.query or not parts.query else f"{parts.query}="
        request = "\n".join([self.command, parts.path, query, headers, names, payload])
        scope = f"{day}/{region}/s3/aws4_request"
        to_sign = "\n".join(["AWS4-HMAC-SHA256", self.headers["x-amz-date"], scope, _sha(request.encode())])
        key = f"AWS4{SECRET}".encode()
        for part in (day, region, "s3", "aws4_request", to_sign):
            key = hmac.digest(key, part.encode(), "sha256")
        return hmac.compare_digest(key.hex(), signature)

    def log_message(self, *_: object) -> None:
        """Nothing to say."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Objects)
        self.objects: dict[str, tuple[bytes, str]] = {}


@contextmanager
def own() -> Iterator[str]:
    """The endpoint of the server in this file."""
    server = _Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@contextmanager
def _moto(executable: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [executable, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    endpoint = f"http://127.0.0.1:{port}"
    try:
        _wait_for(f"{endpoint}/{BUCKET}")
        yield endpoint
    finally:
        process.terminate()
        process.wait()


def _wait_for(bucket: str) -> None:
    for _ in range(200):
        try:
            httpx.put(bucket).raise_for_status()
            return
        except httpx.TransportError:
            time.sleep(0.1)
    raise TimeoutError(bucket)


def _digests(body: bytes) -> tuple[str, str]:
    return (_sha(body), "UNSIGNED-PAYLOAD")


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
