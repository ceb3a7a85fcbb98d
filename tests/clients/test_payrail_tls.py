"""The rail over TLS: a valid certificate is required, and the handshake has a time limit."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask

from app.clients import http_connection
from app.clients.payrail import TransferOutcome
from tests.clients.certificates import certificate
from tests.clients.rail import client_of, journal_of, send_transfer, serving
from tests.timing import assert_in_time


@pytest.fixture(autouse=True)
def _fresh_trust() -> Iterator[None]:
    http_connection._build_ssl_context.cache_clear()
    yield
    http_connection._build_ssl_context.cache_clear()


def test_only_a_certificate_that_holds_is_believed(app: Flask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, context = certificate(tmp_path)
    with serving(tmp_path / "journal") as server:
        server._listener.socket = context.wrap_socket(server._listener.socket, server_side=True)
        url = server.url.replace("http:", "https:")
        assert send_transfer(client_of(app, url)) is TransferOutcome.UNKNOWN
        assert journal_of(tmp_path / "journal", "request") == []
        http_connection._build_ssl_context.cache_clear()
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        assert send_transfer(client_of(app, url)) is TransferOutcome.PAID


def test_a_handshake_that_never_ends_is_cut(app: Flask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}"
        begun = time.monotonic()
        assert send_transfer(client_of(app, url, connect=0.3, total=0.5)) is TransferOutcome.UNKNOWN
        assert_in_time(time.monotonic() - begun < 2.5)
