"""The published keys of a provider: when they are fetched, and what an outage does to sign-ins."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from pytest_httpserver import HTTPServer

from app.clients import identity
from app.clients.identity import IdentityRejected, IdentityVerifier, KeysUnavailable, ProviderKeys
from tests.clients.bad_tokens import DEEP, with_header
from tests.clients.identity_provider import IdentityProvider, public_jwk, signing_key

TIMES = 0.2


@pytest.fixture
def google(httpserver: HTTPServer) -> IdentityProvider:
    return IdentityProvider(httpserver)


@pytest.fixture
def short_times(monkeypatch: pytest.MonkeyPatch) -> None:
    """An hour of keeping and the pauses last 0.2 s."""
    for name in ("KEY_LIFESPAN_SECONDS", "UNKNOWN_KEY_PAUSE_SECONDS", "FAILURE_PAUSE_SECONDS"):
        monkeypatch.setattr(identity, name, TIMES)


def let_time_pass() -> None:
    time.sleep(TIMES * 1.1)


@pytest.fixture
def verifier(google: IdentityProvider) -> IdentityVerifier:
    return IdentityVerifier(google.provider())


def reason(verifier: IdentityVerifier, token: str) -> str:
    with pytest.raises(IdentityRejected) as rejected:
        verifier.verify(token)
    return rejected.value.reason


def test_keys_are_fetched_once_an_hour(short_times: None, verifier: IdentityVerifier, google: IdentityProvider) -> None:
    for _ in range(20):
        verifier.verify(google.token())
    assert google.fetches == 1
    let_time_pass()
    verifier.verify(google.token())
    assert google.fetches == 2


def test_a_rotated_key_is_accepted_within_half_a_minute(
    short_times: None, verifier: IdentityVerifier, google: IdentityProvider
) -> None:
    verifier.verify(google.token())
    old = google.token()
    google.rotate()
    let_time_pass()
    assert verifier.verify(google.token()).subject == "subject-1"
    assert reason(verifier, old) == "unknown_key"
    assert google.fetches == 2


def test_a_thousand_unknown_keys_cost_one_fetch(verifier: IdentityVerifier, google: IdentityProvider) -> None:
    token = google.token()
    tokens = [with_header(token, {"alg": "RS256", "kid": f"invented-{number}"}) for number in range(1000)]
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda item: reason(verifier, item), tokens)) == {"unknown_key"}
    assert google.fetches == 1


def test_thirty_two_threads_at_a_cold_cache_fetch_once(google: IdentityProvider) -> None:
    google.slowness = 0.05
    keys = ProviderKeys(google.jwks_url)
    with ThreadPoolExecutor(32) as threads:
        found = list(threads.map(lambda _: keys.find_key(google.kid).key_id, range(32)))
    assert set(found) == {google.kid} and google.fetches == 1


def test_kept_keys_survive_an_outage(short_times: None, verifier: IdentityVerifier, google: IdentityProvider) -> None:
    verifier.verify(google.token())
    google.down()
    let_time_pass()
    for _ in range(20):
        assert verifier.verify(google.token()).subject == "subject-1"
    assert 2 <= google.fetches <= 4


@pytest.mark.parametrize("warm", [True, False])
def test_during_an_outage_an_unknown_key_is_not_the_fault_of_the_token(
    short_times: None, verifier: IdentityVerifier, google: IdentityProvider, warm: bool
) -> None:
    if warm:
        verifier.verify(google.token())
        google.rotate()
        let_time_pass()
    google.down()
    before = google.fetches
    for _ in range(20):
        with pytest.raises(KeysUnavailable):
            verifier.verify(google.token())
    assert google.fetches == before + 1
    google.up()
    let_time_pass()
    assert verifier.verify(google.token()).subject == "subject-1"


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"null", b'{"keys": 1}', b'{"keys": []}', b"\xff", DEEP, b"{"],
    ids=["empty", "html", "list", "null", "keys a number", "no keys", "not text", "too deep", "cut short"],
)
def test_a_malformed_key_set_is_an_outage(short_times: None, google: IdentityProvider, body: bytes) -> None:
    keys = ProviderKeys(google.jwks_url)
    keys.find_key(google.kid)
    google.publish_instead(body)
    let_time_pass()
    assert keys.find_key(google.kid).key_id == google.kid
    with pytest.raises(KeysUnavailable):
        ProviderKeys(google.jwks_url).find_key(google.kid)


def test_an_address_that_does_not_answer_is_an_outage() -> None:
    with pytest.raises(KeysUnavailable):
        ProviderKeys("http://127.0.0.1:1/keys").find_key("google-1")


def test_keys_that_must_not_sign_are_refused(verifier: IdentityVerifier, google: IdentityProvider) -> None:
    short = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    curve = ec.generate_private_key(ec.SECP384R1())
    secret = {"kty": "oct", "kid": "secret", "k": "AAAA", "alg": "HS256"}
    encryption = {**public_jwk(signing_key("other"), kid="encryption"), "use": "enc"}
    google.publish_instead(
        {
            "keys": [
                public_jwk(short, kid="short"),
                public_jwk(curve, kid="curve"),
                secret,
                encryption,
                *google.key_set["keys"],
            ]
        }
    )
    assert verifier.verify(google.token()).subject == "subject-1"
    token = google.token()
    for key_id in ("short", "curve", "secret", "encryption"):
        for algorithm in ("RS256", "ES256"):
            assert reason(verifier, with_header(token, {"alg": algorithm, "kid": key_id}))
    claims = {
        "iss": "accounts.google.com",
        "aud": google.audience,
        "sub": "x",
        "iat": time.time(),
        "exp": time.time() + 9,
    }
    assert reason(verifier, google.sign(claims, key=short, kid="short")) == "malformed"
