"""Id tokens of Apple and Google: which are believed and which are not."""

import hashlib
import random
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from pytest_httpserver import HTTPServer

from app.clients.identity import IdentityRejected, IdentityVerifier, Provider
from tests.clients.bad_tokens import BAD_TOKENS, Bad, segment, unsegment
from tests.clients.identity_provider import IdentityProvider

MINUTE, HOUR = 60, 3600
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """The time stands still until a test shifts it."""
    with time_machine.travel(int(time.time()), tick=False) as traveller:
        yield traveller


@pytest.fixture
def google(httpserver: HTTPServer, clock: time_machine.Traveller) -> IdentityProvider:
    return IdentityProvider(httpserver)


@pytest.fixture
def apple(httpserver: HTTPServer, clock: time_machine.Traveller) -> IdentityProvider:
    return IdentityProvider(httpserver, "apple")


@pytest.fixture
def verifier(google: IdentityProvider, clock: time_machine.Traveller) -> IdentityVerifier:
    return IdentityVerifier(google.provider())


def reason(verifier: IdentityVerifier, token: str, **options: Any) -> str:
    with pytest.raises(IdentityRejected) as rejected:
        verifier.verify(token, **options)
    return rejected.value.reason


# What is believed


def test_a_good_token_says_who_it_is(
    verifier: IdentityVerifier, google: IdentityProvider, clock: time_machine.Traveller
) -> None:
    token = google.token(sub="1174", email="Ada@Example.TEST", name=" Ada  Lovelace ")

    identity = verifier.verify(token)

    assert (identity.provider, identity.subject) == ("google", "1174")
    assert (identity.email, identity.email_verified) == ("ada@example.test", True)
    assert identity.name == "Ada Lovelace"
    assert identity.token_hash == hashlib.sha256(token.rpartition(".")[0].encode()).hexdigest()
    assert identity.expires_at == datetime.fromtimestamp(time.time() + HOUR, UTC)


@pytest.mark.parametrize("issuer", ["https://accounts.google.com", "accounts.google.com"])
def test_google_goes_by_two_names(verifier: IdentityVerifier, google: IdentityProvider, issuer: str) -> None:
    assert verifier.verify(google.token(iss=issuer)).subject == "subject-1"


def test_apple_is_not_google(verifier: IdentityVerifier, google: IdentityProvider, apple: IdentityProvider) -> None:
    assert IdentityVerifier(apple.provider()).verify(apple.token()).provider == "apple"
    assert reason(verifier, apple.token()) == "unknown_key"
    assert reason(verifier, google.token(iss="https://appleid.apple.com")) == "issuer"


def test_elliptic_curve_keys_sign_too(httpserver: HTTPServer) -> None:
    google = IdentityProvider(httpserver, algorithm="ES256")

    assert IdentityVerifier(google.provider()).verify(google.token()).subject == "subject-1"


def test_both_forms_of_an_elliptic_curve_signature_have_the_same_hash(httpserver: HTTPServer) -> None:
    google = IdentityProvider(httpserver, algorithm="ES256")
    verifier = IdentityVerifier(google.provider())
    token = google.token()
    signed_part, _, signature = token.rpartition(".")
    raw = unsegment(signature)
    mirrored = P256_ORDER - int.from_bytes(raw[32:], "big")
    twin = f"{signed_part}.{segment(raw[:32] + mirrored.to_bytes(32, 'big'))}"

    assert twin != token
    assert verifier.verify(twin).token_hash == verifier.verify(token).token_hash
    assert verifier.verify(google.token()).token_hash != verifier.verify(token).token_hash


@pytest.mark.parametrize(
    ("said", "understood"),
    [(True, True), ("true", True), (False, False), ("false", False), (None, False), (1, False), ("1", False)],
)
def test_an_address_is_verified_only_when_that_is_said(
    verifier: IdentityVerifier, google: IdentityProvider, said: Any, understood: bool
) -> None:
    assert verifier.verify(google.token(email_verified=said)).email_verified is understood


@pytest.mark.parametrize("email", [None, "", "nobody", 7, "a b@c.test", "a\0@b.test", "a" * 250 + "@b.test"])
def test_an_address_that_cannot_be_kept_is_none_and_not_verified(
    verifier: IdentityVerifier, google: IdentityProvider, email: Any
) -> None:
    identity = verifier.verify(google.token(email=email))

    assert (identity.email, identity.email_verified) == (None, False)


@pytest.mark.parametrize(("said", "kept"), [(None, None), ("  ", None), (["x"], None), ("A\0da\nL\ud800", "A da L")])
def test_a_name_is_fit_for_the_database(
    verifier: IdentityVerifier, google: IdentityProvider, said: Any, kept: str | None
) -> None:
    assert verifier.verify(google.token(name=said)).name == kept


def test_the_nonce_of_a_token_must_be_given(verifier: IdentityVerifier, google: IdentityProvider) -> None:
    token = google.token(nonce="n-1")

    assert verifier.verify(token, nonce="n-1").subject == verifier.verify(google.token()).subject
    assert reason(verifier, token) == "nonce_missing"
    assert reason(verifier, google.token(nonce="")) == "nonce_missing"
    assert reason(verifier, token, nonce="n-2") == "nonce"
    assert reason(verifier, token, nonce="") == "nonce"
    assert reason(verifier, token, nonce="\ud800") == "nonce"
    assert reason(verifier, google.token(), nonce="n-1") == "nonce"
    assert reason(verifier, google.token(nonce=1), nonce="1") == "nonce"


def test_clocks_may_differ_by_half_a_minute(
    verifier: IdentityVerifier, google: IdentityProvider, clock: time_machine.Traveller
) -> None:
    now = time.time()

    for claims in ({"exp": now - 29}, {"iat": now + 30}, {"nbf": now + 30}, {"iat": now - 600}):
        assert verifier.verify(google.token(**claims)).subject == "subject-1"


def test_a_token_ages_by_the_clock(
    verifier: IdentityVerifier, google: IdentityProvider, clock: time_machine.Traveller
) -> None:
    token = google.token()
    brief = google.token(exp=time.time() + MINUTE)

    clock.shift(91)
    assert reason(verifier, brief) == "expired"
    clock.shift(10 * MINUTE - 91)
    assert verifier.verify(token).subject == "subject-1"
    clock.shift(1)
    assert reason(verifier, token) == "too_old"


def test_a_provider_without_audiences_is_off(google: IdentityProvider, clock: time_machine.Traveller) -> None:
    off = Provider("google", ("accounts.google.com",), (), google.jwks_url)

    assert IdentityVerifier(google.provider()).provider.configured
    assert not off.configured
    assert reason(IdentityVerifier(off), google.token(iss="accounts.google.com")) == "audience"


# What is not believed


@pytest.mark.parametrize(("expected", "bad"), BAD_TOKENS.values(), ids=BAD_TOKENS.keys())
def test_a_bad_token_is_rejected_for_its_reason(
    verifier: IdentityVerifier, google: IdentityProvider, expected: str, bad: Bad
) -> None:
    assert reason(verifier, bad(google)) == expected


def test_noise_is_rejected_and_nothing_worse(verifier: IdentityVerifier, google: IdentityProvider) -> None:
    token = google.token()
    verifier.verify(token)
    chance = random.Random(11)

    for _ in range(300):
        place = chance.randrange(len(token))
        noise = "".join(map(chr, chance.choices(range(300), k=chance.randrange(4))))
        changed = token[:place] + noise + token[place + chance.randrange(4) :]
        if changed != token:
            reason(verifier, changed)
    assert google.fetches <= 2


def test_signatures_in_other_encodings_are_rejected(httpserver: HTTPServer) -> None:
    google = IdentityProvider(httpserver, algorithm="ES256")
    signed_part, _, signature = google.token().rpartition(".")
    raw = unsegment(signature)
    der = encode_dss_signature(int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))

    for other in (der, b"\0" * 64, raw + b"\0", b"\xff" * 64):
        assert reason(IdentityVerifier(google.provider()), f"{signed_part}.{segment(other)}") == "signature"
