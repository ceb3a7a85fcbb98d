"""A body with malformed chunks or an early end is a 400 on every kind of route."""

import socket
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest
from flask import Flask

from app.core.ids import new_id
from tests.factories.events import create_event, create_organiser_client
from tests.http import Client
from tests.streams import Web, run_web

MALFORMED = {
    "no size": b"zz\r\n{}\r\n0\r\n\r\n",
    "negative size": b"-2\r\n{}\r\n0\r\n\r\n",
    "no end of chunk": b"2\r\n{}XX0\r\n\r\n",
    "bad extension": b"2;=\r\n{}\r\n0\r\n\r\n",
    "endless size": b"f" * 20000,
    "bad trailer": b"2\r\n{}\r\n0\r\nno colon\r\n\r\n",
}
CUT = {"within a chunk": b"ff\r\n{", "after a chunk": b"2\r\n{}\r\n", "within a size": b"2", "at once": b""}
BOUNDARY = "multipart/form-data; boundary=b"


def routes(token: str, event_id: str) -> dict[str, tuple[str, dict[str, str]]]:
    """A path and headers for each way in which a body is read."""
    bearer = {"Authorization": f"Bearer {token}"}
    stock = f"/api/events/{event_id}/inventory"
    return {
        "json": ("/api/auth/login", {"Content-Type": "application/json"}),
        "idempotent": ("/api/events", {**bearer, "Content-Type": "application/json", "Idempotency-Key": new_id()}),
        "upload": ("/api/events/upload-cover", {**bearer, "Content-Type": BOUNDARY}),
        "raw import": (f"{stock}/import", {**bearer, "Content-Type": "text/csv"}),
        "callback": ("/api/payrail/callbacks", {"Content-Type": "application/json"}),
        "page": ("/reset-password", {"Content-Type": "application/x-www-form-urlencoded"}),
    }


KINDS = list(routes("", ""))


@pytest.fixture(scope="module")
def service(application: Flask, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    folder: Path = tmp_path_factory.mktemp("web")
    with run_web(application, folder, WEB_WORKERS="1") as running:
        yield running


Connect = Callable[[], socket.socket]


def exchange(
    connect: Connect, path: str, headers: dict[str, str], framing: str, body: bytes, method: str = "POST"
) -> tuple[int, bytes]:
    """Status and body of the answer to a request that is sent as it stands, with nothing after it."""
    lines = [f"{method} {path} HTTP/1.1", "Host: festival.example", framing, *(f"{k}: {v}" for k, v in headers.items())]
    with connect() as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        if not isinstance(connection, ssl.SSLSocket):
            connection.shutdown(socket.SHUT_WR)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, content = answer.partition(b"\r\n\r\n")
    return int(head.split(b" ")[1]), content


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("broken", [*MALFORMED, *CUT])
def test_broken_chunks_are_400(service: Web, client: Client, kind: str, broken: str) -> None:
    owner = create_organiser_client(client)
    token = owner.headers["Authorization"].removeprefix("Bearer ")
    path, headers = routes(token, create_event(owner)["id"])[kind]
    body = {**MALFORMED, **CUT}[broken]
    status, content = exchange(direct(service), path, headers, "Transfer-Encoding: chunked", body)
    assert status == 400, content
    if kind != "page":
        assert orjson.loads(content)["shortMessage"] == "BODY_BROKEN"


@pytest.mark.parametrize("kind", KINDS)
def test_body_shorter_than_its_length_is_400(service: Web, client: Client, kind: str) -> None:
    owner = create_organiser_client(client)
    token = owner.headers["Authorization"].removeprefix("Bearer ")
    path, headers = routes(token, create_event(owner)["id"])[kind]
    status, content = exchange(direct(service), path, headers, "Content-Length: 400", b"{}")
    assert status == 400, content
    if kind != "page":
        assert orjson.loads(content)["shortMessage"] == "BODY_BROKEN"


def test_stream_does_not_read_the_body(service: Web, client: Client) -> None:
    """A GET answers without reading what came with it."""
    status, _ = exchange(direct(service), "/health", {}, "Transfer-Encoding: chunked", b"zz\r\n", method="GET")
    assert status in (200, 400)


def direct(service: Web) -> Connect:
    return lambda: socket.create_connection(("127.0.0.1", service.port), 20)
