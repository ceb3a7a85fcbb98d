"""Access tokens: forged, expired, and signed by rotated keys."""

import base64
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from flask import Flask

from app.accounts import signing_keys
from tests.counting import record_statements
from tests.factories.accounts import create_customer, create_signed_in_client, sign_in
from tests.http import Client, data, read_error

FOREIGN_KEY = rsa.generate_private_key(65537, 2048)


def decode_claims(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = jwt.decode(token, options={"verify_signature": False})
    return claims


def sign(claims: dict[str, Any], *, key: Any = None, algorithm: str = "RS256", **headers: Any) -> str:
    return jwt.encode(
        claims,
        key or signing_keys.get_current_key().private_key,
        algorithm,
        {"kid": signing_keys.get_current_key().kid, **headers},
    )


def make_unsigned(token: str) -> str:
    header = base64.urlsafe_b64encode(json.dumps({"alg": "none", "typ": "JWT"}).encode()).rstrip(b"=").decode()
    return f"{header}.{token.split('.')[1]}."


def sign_with_public_key(token: str) -> str:
    """HS256 with the public key as its secret."""
    public = signing_keys.get_current_key().public_key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    import hashlib
    import hmac

    header = base64.urlsafe_b64encode(
        json.dumps({"alg": "HS256", "typ": "JWT", "kid": signing_keys.get_current_key().kid}).encode()
    )
    body = f"{header.rstrip(b'=').decode()}.{token.split('.')[1]}"
    mac = base64.urlsafe_b64encode(hmac.new(public, body.encode(), hashlib.sha256).digest()).rstrip(b"=").decode()
    return f"{body}.{mac}"


FORGERIES = {
    "alg none": make_unsigned,
    "HS256 with the public key": sign_with_public_key,
    "another key": lambda token: sign(decode_claims(token), key=FOREIGN_KEY),
    "unknown kid": lambda token: sign(decode_claims(token), kid="0" * 24),
    "no kid": lambda token: jwt.encode(decode_claims(token), signing_keys.get_current_key().private_key, "RS256"),
    "PS256": lambda token: sign(decode_claims(token), algorithm="PS256"),
    "changed claims": lambda token: ".".join(
        [token.split(".")[0], make_unsigned(sign({"sub": "x"})).split(".")[1], token.split(".")[2]]
    ),
    "other issuer": lambda token: sign({**decode_claims(token), "iss": "https://evil.example"}),
    "other audience": lambda token: sign({**decode_claims(token), "aud": "somebody-else"}),
    "no expiry": lambda token: sign({k: v for k, v in decode_claims(token).items() if k != "exp"}),
    "a refresh token's type": lambda token: sign({**decode_claims(token), "type": "refresh"}),
    "no session": lambda token: sign({k: v for k, v in decode_claims(token).items() if k != "sid"}),
    "critical header": lambda token: sign(decode_claims(token), crit=["exp"]),
    "embedded key": lambda token: sign(decode_claims(token), key=FOREIGN_KEY, jku="https://evil.example/keys"),
    "not before tomorrow": lambda token: sign({**decode_claims(token), "nbf": time.time() + 86400}),
    "truncated": lambda token: token[:-20],
    "rubbish": lambda _: "a.b.c",
    "five thousand characters": lambda _: "x" * 5000,
}


@pytest.mark.parametrize("forgery", FORGERIES)
def test_a_forged_token_is_401(client: Client, forgery: str) -> None:
    token = sign_in(client, create_customer().email)["accessToken"]
    data(client.as_(token).get("/api/auth/me"))
    response = client.as_(FORGERIES[forgery](token)).get("/api/auth/me")
    assert read_error(response) == (401, "TOKEN_INVALID") and response.headers["WWW-Authenticate"] == "Bearer"


def test_token_with_session_of_another_account_is_401(client: Client) -> None:
    token = sign_in(client, create_customer().email)["accessToken"]
    stranger = create_customer()
    forged = sign({**decode_claims(token), "sub": stranger.id})
    assert read_error(client.as_(forged).get("/api/auth/me")) == (401, "SESSION_ENDED")


def test_expired_token_has_its_own_error(client: Client) -> None:
    token = sign_in(client, create_customer().email)["accessToken"]
    expired = sign({**decode_claims(token), "exp": time.time() - 31})
    assert read_error(client.as_(expired).get("/api/auth/me")) == (401, "TOKEN_EXPIRED")
    recently_expired = sign({**decode_claims(token), "exp": time.time() - 5})
    data(client.as_(recently_expired).get("/api/auth/me"))


def test_cached_token_expires(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = create_signed_in_client(client, create_customer())
    data(caller.get("/api/auth/me"))
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 1000)
    assert read_error(caller.get("/api/auth/me")) == (401, "TOKEN_EXPIRED")


def test_missing_token_has_authenticate_header(client: Client) -> None:
    response = client.get("/api/auth/me")
    assert read_error(response) == (401, "TOKEN_MISSING") and response.headers["WWW-Authenticate"] == "Bearer"
    basic = client.get("/api/auth/me", headers={"Authorization": "Basic abc"})
    assert read_error(basic) == (401, "TOKEN_INVALID")


def test_tokens_of_rotated_keys_stay_valid(app: Flask, client: Client) -> None:
    owner = create_customer()
    old_token = sign_in(client, owner.email)["accessToken"]
    assert app.test_cli_runner().invoke(args=["keys", "rotate"]).exit_code == 0
    new_token = sign_in(client, owner.email)["accessToken"]
    assert jwt.get_unverified_header(old_token)["kid"] != jwt.get_unverified_header(new_token)["kid"]
    for token in (old_token, new_token):
        data(client.as_(token).get("/api/auth/me"))


def test_invented_key_ids_cause_few_statements(app: Flask, client: Client) -> None:
    token = sign_in(client, create_customer().email)["accessToken"]
    signing_keys._get_key_ring().reload_times.clear()
    with record_statements() as executed:
        for number in range(3 * signing_keys.MAX_RELOADS):
            forged = sign(decode_claims(token), kid=f"{number:024x}")
            assert client.as_(forged).get("/api/auth/me").status_code == 401
    assert 1 <= sum("signing_key" in item for item in executed) <= signing_keys.MAX_RELOADS


def test_stored_private_key_is_encrypted(app: Flask) -> None:
    from app.accounts.models import SigningKey
    from app.core.db import db

    signing_keys.get_current_key()
    pem = db.session.query(SigningKey).first().private_pem.encode()
    with pytest.raises((TypeError, ValueError)):
        serialization.load_pem_private_key(pem, None)
