"""The published keys of a provider: when they are fetched, when not, and what an outage does to sign-ins."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from pytest_httpserver import HTTPServer

from app.clients.identity import IdentityRejected, IdentityVerifier, KeyCache, KeysUnavailable
from tests.clients.bad_tokens import DEEP, segment, with_header
from tests.clients.identity_provider import Clock, IdentityProvider, public_jwk, signing_key
from tests.timing import assert_in_time

MINUTE, HOUR = 60, 3600


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def google(httpserver: HTTPServer, clock: Clock) -> IdentityProvider:
    return IdentityProvider(httpserver, clock=clock)


@pytest.fixture
def verifier(google: IdentityProvider, clock: Clock) -> IdentityVerifier:
    return IdentityVerifier(google.provider(), clock=clock)


def reason(verifier: IdentityVerifier, token: str) -> str:
    with pytest.raises(IdentityRejected) as rejected:
        verifier.verify(token)
    return rejected.value.reason


def test_keys_are_fetched_once(verifier: IdentityVerifier, google: IdentityProvider) -> None:
    for _ in range(20):
        verifier.verify(google.token())

    assert google.fetches == 1


@pytest.mark.parametrize(
    ("cache_control", "lifetime"),
    [
        (None, HOUR),
        ("public, max-age=1200, must-revalidate", 1200),
        ("Max-Age=1200", 1200),
        ("max-age=0", 5 * MINUTE),
        ("max-age=99999999999999999999", 24 * HOUR),
        ("s-maxage=600, max-age=banana", HOUR),
    ],
)
def test_keys_are_kept_as_long_as_the_provider_says_within_bounds(
    google: IdentityProvider, clock: Clock, cache_control: str | None, lifetime: int
) -> None:
    google.cache_control = cache_control
    keys = KeyCache(google.jwks_url, clock=clock)

    keys.find(google.kid)
    clock.advance(lifetime - 1)
    keys.find(google.kid)
    assert google.fetches == 1
    clock.advance(1)
    keys.find(google.kid)
    assert google.fetches == 2


def test_a_clock_that_was_set_back_fetches_again(google: IdentityProvider, clock: Clock) -> None:
    keys = KeyCache(google.jwks_url, clock=clock)
    keys.find(google.kid)

    clock.advance(-24 * HOUR)
    keys.find(google.kid)

    assert google.fetches == 2


def test_a_rotated_key_is_accepted_at_once(verifier: IdentityVerifier, google: IdentityProvider) -> None:
    verifier.verify(google.token())
    old = google.token()

    google.rotate()

    assert verifier.verify(google.token()).subject == "subject-1"
    assert reason(verifier, old) == "unknown_key"
    assert google.fetches == 2


def test_a_rotation_after_somebodys_inventions_waits_five_minutes_at_most(
    verifier: IdentityVerifier, google: IdentityProvider, clock: Clock
) -> None:
    verifier.verify(google.token())
    reason(verifier, google.sign({}, kid="invented"))
    google.rotate()

    clock.advance(5 * MINUTE - 1)
    assert reason(verifier, google.token()) == "unknown_key"
    clock.advance(1)
    assert verifier.verify(google.token()).subject == "subject-1"
    assert google.fetches == 3


@pytest.mark.parametrize("warm", [True, False], ids=["warm", "cold"])
def test_a_thousand_unknown_keys_cost_one_fetch(
    verifier: IdentityVerifier, google: IdentityProvider, warm: bool
) -> None:
    if warm:
        verifier.verify(google.token())
    before = google.fetches
    token = google.token()

    with ThreadPoolExecutor(8) as threads:
        inventions = [with_header(token, {"alg": "RS256", "kid": f"invented-{n}"}) for n in range(1000)]
        assert set(threads.map(lambda item: reason(verifier, item), inventions)) == {"unknown_key"}

    assert google.fetches - before == 1


def test_kept_keys_survive_an_outage(verifier: IdentityVerifier, google: IdentityProvider, clock: Clock) -> None:
    verifier.verify(google.token())
    google.down()

    clock.advance(2 * HOUR)
    for _ in range(20):
        assert verifier.verify(google.token()).subject == "subject-1"
    assert google.fetches == 2

    clock.advance(10)
    google.up()
    verifier.verify(google.token())
    verifier.verify(google.token())
    assert google.fetches == 3


def test_without_keys_an_outage_is_not_the_tokens_fault(
    verifier: IdentityVerifier, google: IdentityProvider, clock: Clock
) -> None:
    google.down()

    for _ in range(20):
        with pytest.raises(KeysUnavailable):
            verifier.verify(google.token())
    assert google.fetches == 1

    google.up()
    clock.advance(10)
    assert verifier.verify(google.token()).subject == "subject-1"
    assert reason(verifier, google.sign({}, kid="invented")) == "unknown_key"


def test_a_new_key_during_an_outage_is_not_the_tokens_fault_either(
    verifier: IdentityVerifier, google: IdentityProvider, clock: Clock
) -> None:
    verifier.verify(google.token())
    google.rotate()
    google.down()

    for _ in range(20):
        with pytest.raises(KeysUnavailable):
            verifier.verify(google.token())
    assert google.fetches == 2

    google.up()
    clock.advance(5 * MINUTE)
    assert verifier.verify(google.token()).subject == "subject-1"


UNUSABLE = [
    "a shared secret",
    "a short key",
    "a key for encryption",
    "a key for RS512",
    "another curve",
    "no modulus",
    "modulus a number",
    "kid a list",
    "not an object",
]


@cache
def unusable_keys() -> dict[str, Any]:
    key = signing_key("google-1")
    good = public_jwk(key, kid="google-1")
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    secret = segment(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return {
        "a shared secret": {"kty": "oct", "kid": "google-1", "k": secret},
        "a short key": public_jwk(short, kid="google-1"),
        "a key for encryption": {**good, "use": "enc"},
        "a key for RS512": {**good, "alg": "RS512"},
        "another curve": public_jwk(ec.generate_private_key(ec.SECP384R1()), kid="google-1"),
        "no modulus": {"kty": "RSA", "kid": "google-1", "e": "AQAB"},
        "modulus a number": {**good, "n": 12},
        "kid a list": {**good, "kid": ["google-1"]},
        "not an object": "google-1",
    }


def test_unusable_keys_are_passed_over(verifier: IdentityVerifier, google: IdentityProvider) -> None:
    assert set(unusable_keys()) == set(UNUSABLE)
    google.publish_instead({"keys": [*unusable_keys().values(), public_jwk(google.key, kid=google.kid)]})

    assert verifier.verify(google.token()).subject == "subject-1"


@pytest.mark.parametrize("kind", UNUSABLE)
def test_a_set_of_unusable_keys_is_an_outage(google: IdentityProvider, clock: Clock, kind: str) -> None:
    google.publish_instead({"keys": [unusable_keys()[kind]]})

    with pytest.raises(KeysUnavailable):
        KeyCache(google.jwks_url, clock=clock).find(google.kid)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"null", b'{"keys": 1}', b'{"keys": []}', b"\xff", DEEP, b"{"],
    ids=["empty", "html", "list", "null", "keys a number", "no keys", "not text", "too deep", "cut short"],
)
def test_an_answer_that_is_no_key_set_is_an_outage(google: IdentityProvider, clock: Clock, body: bytes) -> None:
    keys = KeyCache(google.jwks_url, clock=clock)
    keys.find(google.kid)
    google.publish_instead(body)
    clock.advance(HOUR)

    assert keys.find(google.kid).key_id == google.kid
    with pytest.raises(KeysUnavailable):
        KeyCache(google.jwks_url, clock=clock).find(google.kid)


def test_good_keys_in_a_bad_answer_are_an_outage_too(google: IdentityProvider) -> None:
    good = json.dumps(google.key_set).encode()

    for body, status in ((good, 500), (good, 302), (b" " * 300_000 + good, 200)):
        google.publish_instead(body, status)
        with pytest.raises(KeysUnavailable):
            KeyCache(google.jwks_url).find(google.kid)
    google.publish_instead(good)
    assert KeyCache(google.jwks_url).find(google.kid).key_id == google.kid


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/keys", "ftp://x/", "http://[", ""])
def test_an_address_that_does_not_answer_is_an_outage(url: str) -> None:
    with pytest.raises(KeysUnavailable):
        KeyCache(url, timeout=0.5).find("google-1")


@contextmanager
def silent_or_dripping(drip: bytes) -> Iterator[str]:
    """A server that takes the request and then sends `drip` again and again, or nothing at all."""
    done = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            while not done.wait(0.02):
                try:
                    connection.sendall(drip)
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve, daemon=True)
        server.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/keys"
        done.set()
        server.join()


@pytest.mark.parametrize("drip", [b"", b"HTTP/1.1 200 OK\r\n\r\n ", b"H"], ids=["silent", "slow body", "slow header"])
def test_a_provider_that_never_finishes_costs_no_more_than_the_timeout(drip: bytes) -> None:
    with silent_or_dripping(drip) as url:
        started = time.monotonic()
        with pytest.raises(KeysUnavailable):
            KeyCache(url, timeout=0.2).find("google-1")

        assert_in_time(time.monotonic() - started < 1)
