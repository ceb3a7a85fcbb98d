"""What the proxy says itself, and what it lets through."""

import re
import socket
import ssl
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from app.core.errors import AppError
from app.web.middleware import SECURITY_HEADERS
from tests.deploy.proxy import NAME, SHIPPED, Answer, Proxy, Secure
from tests.deploy.upstreams import Mirrors, mirrors

Mirrored = tuple[Proxy, Mirrors]
KEYS = ["status", "success", "statusCode", "message", "shortMessage", "timestamp", "requestId", "data"]
BIG = 1024 * 1024 + 1


def told(answer: Answer, status: int, code: str) -> None:
    """It is the envelope, with what the catalogue says of that code."""
    body = answer.json
    assert (answer.status, list(body), body["shortMessage"]) == (status, KEYS, code)
    assert (body["status"], body["success"], body["data"]) == ("error", False, {})
    assert body["statusCode"] == str(AppError.catalogue[code].number)
    assert body["message"] == AppError.catalogue[code].message
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["timestamp"])
    assert body["requestId"] == answer.headers["x-request-id"] and len(body["requestId"]) >= 8
    assert answer.headers["content-type"].startswith("application/json")


def test_a_program_gets_the_envelope(mirrored: Mirrored) -> None:
    site, _ = mirrored
    told(site.ask("/api/events", "POST", b"x" * BIG), 413, "PAYLOAD_TOO_LARGE")
    told(site.ask("/api/events/public/discover?q=" + "x" * 4000), 414, "URI_TOO_LONG")
    told(site.ask("/api/../metrics", source="127.0.0.2"), 404, "NOT_FOUND")
    told(site.ask("/api/%zz"), 400, "BAD_REQUEST")
    told(site.ask("/api/auth/login", "POST", Transfer_Encoding="gzip"), 400, "BAD_REQUEST")


def test_every_answer_of_the_proxy_is_in_the_catalogue() -> None:
    written = (SHIPPED / "http.conf").read_text()
    codes = re.search(r"map \$status \$error_code \{(.*?)\}", written, re.S)
    messages = re.search(r"map \$status \$error_message \{(.*?)\}", written, re.S)
    assert codes and messages
    found = dict(re.findall(r"(\w+) (\w+);", codes[1]))
    assert dict(re.findall(r'(\w+) "(.*)";', messages[1])) == {
        status: AppError.catalogue[code].message for status, code in found.items()
    }
    for status, code in found.items():
        assert status in ("default", str(AppError.catalogue[code].status))
        assert AppError.catalogue[code].number % 100 == 0


def test_people_get_a_page(mirrored: Mirrored) -> None:
    site, _ = mirrored
    answer = site.ask("/documents/a/fresh", "POST", b"x" * BIG, X_Request_Id="ours-1234")
    assert answer.status == 413 and answer.headers["content-type"].startswith("text/html")
    page = answer.body.decode()
    assert "<h1>That is too large</h1>" in page and "PAYLOAD_TOO_LARGE" in page and "ours-1234" in page
    assert "<!--" not in page and "nginx" not in page


def test_nobody_there_is_told_with_a_time_to_come_again(proxied: type) -> None:
    with proxied() as site:
        answer = site.ask("/api/events", "POST", b"{}")
        told(answer, 502, "NO_ANSWER")
        assert answer.headers["retry-after"] == "2"
        page = site.ask("/claim/of-somebody-with-their-own-token")
        assert page.status == 502 and b"Away for a moment" in page.body
        assert site.ask("/static/pages.css").status == 200


def test_too_late_is_told(mirrored: Mirrored) -> None:
    site, server = mirrored
    server.seen.clear()
    answer = site.ask("/silent/health")
    assert answer.status == 504 and b"ANSWER_TOO_LATE" in answer.body
    assert server.seen == [("GET", "/silent/health")], "what took too long is not asked again"


@contextmanager
def hole() -> Iterator[int]:
    """A port where nobody takes a connection and nobody refuses one, as that of a machine that is gone."""
    with ExitStack() as stack:
        listener = stack.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(4):
            full = stack.enter_context(socket.socket())
            full.setblocking(False)
            full.connect_ex(listener.getsockname())
        yield int(listener.getsockname()[1])


@pytest.mark.parametrize("words", ["error timeout", "error"])
def test_a_machine_that_is_gone_is_not_waited_for(proxied: type, words: str) -> None:
    """Even a POST is asked of another one, because the first never got it. The control: without the word, a 504."""
    with hole() as port:
        lost = f"upstream event_commerce {{\n    server 127.0.0.1:{port} max_fails=0;"
        changed = {
            "upstream event_commerce {": lost,
            "proxy_next_upstream error timeout;": f"proxy_next_upstream {words};",
        }
        changed |= {
            "proxy_connect_timeout 2s": "proxy_connect_timeout 200ms",
            "worker_processes auto": "worker_processes 1",
        }
        with proxied(**changed) as site, mirrors(site.socket):
            answer = site.ask("/api/events", "POST", b"{}")
    assert answer.status == (200 if "timeout" in words else 504)


def test_too_often_is_told(proxied: type) -> None:
    with proxied(**{"rate=200r/s": "rate=1r/m", "burst=400": "burst=2"}) as site:
        answers = [site.ask("/api/events") for _ in range(4)]
        assert [response.status for response in answers] == [502, 502, 502, 429]
        told(answers[-1], 429, "RATE_LIMITED")
        assert answers[-1].headers["retry-after"] == "2"
        assert site.ask("/api/events", source="127.0.0.3").status == 502, "another client has their own count"


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/static/pages.css"), ("GET", "/static/none"), ("GET", "/dev/mail"), ("POST", "/static/pages.css")],
)
def test_its_answers_carry_the_headers_of_the_program(mirrored: Mirrored, method: str, path: str) -> None:
    answer = mirrored[0].ask(path, method)
    for name, value in SECURITY_HEADERS:
        if name not in ("Cache-Control", "Content-Security-Policy"):
            assert answer.headers[name.lower()] == value, name
    assert answer.headers["content-security-policy"].startswith("default-src 'none'")
    assert answer.headers["cache-control"] in ("no-cache", "no-store")
    assert answer.headers["strict-transport-security"].startswith("max-age=31536000")
    assert answer.headers["server"] == "nginx"


def test_a_good_request_id_is_kept_and_a_bad_one_replaced(mirrored: Mirrored) -> None:
    site, _ = mirrored
    assert site.ask("/x", X_Request_Id="till-7.morning").json["headers"]["x-request-id"] == "till-7.morning"
    made = site.ask("/x", X_Request_Id="a b<script>").json["headers"]["x-request-id"]
    assert re.fullmatch(r"[0-9a-f]{32}", made)
    assert [item["request_id"] for item in site.written[-2:]] == ["till-7.morning", made]


def test_clients_cannot_set_their_own_address(mirrored: Mirrored) -> None:
    site, _ = mirrored
    forged = {
        "X_Forwarded_For": "1.2.3.4",
        "X_Forwarded_Proto": "http",
        "X_Forwarded_Host": "evil.example",
        "X_Forwarded_Prefix": "/evil",
        "X_Real_IP": "1.2.3.4",
        "Forwarded": "for=1.2.3.4",
        "Proxy": "http://evil",
        "Connection": "close, X-Forwarded-For",
        "Upgrade": "h2c",
    }
    seen = site.ask("/x", source="127.0.0.9", **forged).json["headers"]
    assert (seen["x-forwarded-for"], seen["x-forwarded-proto"], seen["x-forwarded-host"]) == (
        "127.0.0.9",
        "https",
        NAME,
    )
    assert not {"x-forwarded-prefix", "x-forwarded-port", "x-real-ip", "forwarded", "proxy", "upgrade"} & set(seen)


def test_another_name_gets_nothing(mirrored: Mirrored) -> None:
    site, server = mirrored
    server.seen.clear()
    with closing(Secure(site.secure, name="evil.example")) as other, pytest.raises(ssl.SSLError):
        other.request("GET", "/")
    with closing(Secure(site.secure)) as known:
        known.request("GET", "/", headers={"Host": "evil.example"})
        with pytest.raises((OSError, ValueError)):
            known.getresponse()
    with socket.create_connection(("127.0.0.1", site.plain), 5) as plain:
        plain.sendall(b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            plain.recv(100)
    assert server.seen == []


def test_plain_http_leads_to_tls_and_serves_challenges(mirrored: Mirrored) -> None:
    site, _ = mirrored
    answer = site.ask_plainly("/claim/abc?x=1")
    assert (answer.status, answer.headers["location"]) == (308, f"https://{NAME}/claim/abc?x=1")
    challenge = site.folder / "acme/.well-known/acme-challenge/abc"
    challenge.parent.mkdir(parents=True)
    challenge.write_text("proof")
    assert site.ask_plainly("/.well-known/acme-challenge/abc").body == b"proof"


def test_figures_stay_inside_the_machine(mirrored: Mirrored) -> None:
    site, server = mirrored
    server.seen.clear()
    assert site.ask("/metrics").status == 200
    assert site.ask("/metrics", source="127.0.0.2").status == 404
    assert [site.ask(path).status for path in ("/dev", "/dev/mail", "/dev/mail.json", "//dev/mail")] == [404] * 4
    assert server.seen == [("GET", "/metrics")]


def test_old_tls_is_refused(mirrored: Mirrored) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    there = ("127.0.0.1", mirrored[0].secure)
    with (
        socket.create_connection(there, 5) as plain,
        context.wrap_socket(plain, server_hostname=NAME) as secure,
    ):
        assert (secure.version(), secure.selected_alpn_protocol()) == ("TLSv1.3", "h2")
    context.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore"):
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
    with socket.create_connection(there, 5) as plain, pytest.raises(ssl.SSLError):
        context.wrap_socket(plain, server_hostname=NAME)


@pytest.mark.parametrize(("method", "status", "times"), [("GET", 200, 2), ("POST", 502, 1), ("PATCH", 502, 1)])
def test_only_what_may_be_repeated_is_repeated(mirrored: Mirrored, method: str, status: int, times: int) -> None:
    """The proxy takes the connection that it has kept, and the server leaves it without a word."""
    site, server = mirrored
    site.ask("/gone/warm")
    server.seen.clear()
    answer = site.ask("/gone/asked", method)
    assert (answer.status, server.seen) == (status, [(method, "/gone/asked")] * times)
