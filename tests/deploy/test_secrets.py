"""No secret of a link is written down anywhere."""

import socket
from contextlib import closing, suppress

import pytest
from flask import Flask

from app.core.ids import new_id
from app.core.tokens import opaque_token
from tests.deploy.proxy import Proxy, Secure, read
from tests.deploy.upstreams import Mirrors

Mirrored = tuple[Proxy, Mirrors]
SECRET = {"token", "slug"}
# Of links that are yet to come: the mask knows them before the program does.
COMING = ["/unsubscribe/{}", "/r/{}", "/api/anything/{}/more", "/{}", "/a/b/{}/c?d=e"]


def links(app: Flask) -> list[str]:
    """Every address of the service with a place for a secret in it."""
    found = [rule.rule for rule in app.url_map.iter_rules() if SECRET & rule.arguments]
    addresses = [path.replace("<token>", "{}").replace("<slug>", "{}") for path in found]
    return sorted({address.replace("<slot_id>", new_id()).replace("<eventId>", new_id()) for address in addresses})


def test_no_link_is_written_down(application: Flask, mirrored: Mirrored) -> None:
    site, _ = mirrored
    known, secret = links(application), opaque_token()
    assert len(known) > 15
    before = len(site.written)
    with closing(Secure(site.secure)) as connection:
        for path in [address.format(secret) for address in [*known, *COMING]]:
            for asked in (
                path,
                "/" + path,
                path.replace("/", "//", 1),
                f"{path}?next={secret}",
                f"{path}/%2e%2e/{secret}",
            ):
                connection.request("GET", asked)
                read(connection.getresponse())
            connection.request("POST", path, headers={"Content-Length": "99000000"})
            # A page with an upload shows its form again.
            assert read(connection.getresponse()).status in (303, 413)
            connection.close()
    assert secret not in site.logs
    assert all("~" in item["path"] for item in site.written[before:])


def test_no_query_is_written_down(mirrored: Mirrored) -> None:
    site, _ = mirrored
    secret = opaque_token()
    site.ask(f"/reset-password?token={secret}", Referer=f"https://festival.example/claim/{secret}")
    site.ask(f"/api/events/public/discover?code={secret}", Authorization=f"Bearer {secret}", Cookie=f"a={secret}")
    assert [item["path"] for item in site.written[-2:]] == ["/reset-password", "/api/events/public/discover"]
    assert secret not in site.logs


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api/events",
        "/docs",
        "/docs/operations/events",
        "/activate/done",
        "/api/auth/password-reset/complete",
        "/api/events/6740f1c2a1b2c3d4e5f60718/inventory/items/6740f1c2a1b2c3d4e5f60719",
        "/static/pages.css",
    ],
)
def test_what_is_no_secret_can_be_read(mirrored: Mirrored, path: str) -> None:
    site, _ = mirrored
    site.ask(path + "?q=1")
    assert site.written[-1]["path"] == path


@pytest.mark.parametrize("trouble", ["gone", "late", "cut", "nonsense"])
def test_trouble_writes_no_link_down_either(proxied: type, trouble: str) -> None:
    """At its usual level the error log repeats the request."""
    secret = opaque_token()
    assert secret in _written(proxied, trouble, secret, {" alert;": " info;", "error.log warn;": "error.log info;"})
    assert secret not in _written(proxied, trouble, secret, {})


def _written(proxied: type, trouble: str, secret: str, changed: dict[str, str]) -> str:
    quicker = {
        name: f"{name.rpartition(' ')[0]} 1s" for name in ("proxy_read_timeout 35s", "proxy_next_upstream_timeout 4s")
    }
    with proxied(**quicker, **changed) as site:
        if trouble == "late":
            with socket.socket(socket.AF_UNIX) as deaf:
                deaf.bind(str(site.socket))
                deaf.listen(8)
                site.socket.chmod(0o666)
                assert site.ask(f"/pay/{secret}").status == 504
        elif trouble == "gone":
            assert site.ask(f"/pay/{secret}").status == 502
        else:
            head = f"POST /pay/{secret} HTTP/1.1\r\nHost: festival.example\r\n"
            rest = "Content-Length: 10\r\n\r\nab" if trouble == "cut" else "Content-Length: ten\r\n\r\n"
            connection = Secure(site.secure)
            connection.connect()
            connection.sock.sendall((head + rest).encode())
            if trouble == "nonsense":
                with suppress(OSError):
                    connection.sock.recv(1000)
            connection.close()
        return str(site.logs)
