"""Id tokens that must not be believed, each with the reason, and what they are made with."""

import base64
import hmac
import json
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from tests.clients.identity_provider import IdentityProvider, public_jwk, signing_key

Bad = Callable[[IdentityProvider], str]


def segment(raw: Any) -> str:
    data = raw if isinstance(raw, bytes) else json.dumps(raw).encode()
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unsegment(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def with_header(token: str, header: Any) -> str:
    """The token under another header, with the old signature."""
    return ".".join([segment(header), *token.split(".")[1:]])


def claims_of(token: str) -> dict[str, Any]:
    claims: dict[str, Any] = json.loads(unsegment(token.split(".")[1]))
    return claims


def claim(**claims: Any) -> Bad:
    return lambda google: google.token(**claims)


def later(seconds: float, *names: str) -> Bad:
    return lambda google: google.token(**{name: google.clock() + seconds for name in names})


def headed(**headers: Any) -> Bad:
    return lambda google: google.sign(claims_of(google.token()), **headers)


def forged(header: Any) -> Bad:
    return lambda google: with_header(google.token(), header)


def payload(raw: bytes) -> Bad:
    return lambda google: google.sign(raw)


def cut(letters: int) -> Bad:
    return lambda google: google.token()[:-letters]


def unsigned(google: IdentityProvider) -> str:
    return with_header(google.token(), {"alg": "none", "kid": google.kid}).rpartition(".")[0] + "."


def signed_with_the_public_key(google: IdentityProvider) -> str:
    secret = google.key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    text = with_header(google.token(), {"alg": "HS256", "kid": google.kid}).rpartition(".")[0]
    return f"{text}.{segment(hmac.digest(secret, text.encode(), 'sha256'))}"


def signed_by_a_stranger(google: IdentityProvider) -> str:
    return google.sign(claims_of(google.token()), key=signing_key("stranger"))


def signed_by_a_stranger_with_his_key_inside(google: IdentityProvider) -> str:
    key = signing_key("stranger")
    return google.sign(claims_of(google.token()), key=key, jwk=public_jwk(key, kid=google.kid))


def signed_by_a_stranger_with_a_link_to_his_keys(google: IdentityProvider) -> str:
    url = "https://stranger.invalid/keys"
    return google.sign(claims_of(google.token()), key=signing_key("stranger"), jku=url, x5u=url)


def tampered(google: IdentityProvider) -> str:
    header, body, signature = google.token().split(".")
    return ".".join([header, segment({**claims_of(f".{body}."), "sub": "somebody-else"}), signature])


def issued_later_than_valid(google: IdentityProvider) -> str:
    return google.token(nbf=1, iat=google.clock() + 31)


def without_signature(google: IdentityProvider) -> str:
    return google.token().rpartition(".")[0] + "."


def with_a_second_spelling(google: IdentityProvider) -> str:
    """The last letter carries four bits that no decoder needs; a changed one must not make a second token."""
    token = google.token()
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return token[:-1] + letters[letters.index(token[-1]) + 1]


OURS = "google-client-of-the-tests"
GOOD = {"alg": "RS256", "kid": "google-1"}
DEEP = b"[" * 3000 + b"]" * 3000

BAD_TOKENS: dict[str, tuple[str, Bad]] = {
    "alg none": ("algorithm", unsigned),
    "HS256 with the public key": ("algorithm", signed_with_the_public_key),
    "RS512": ("algorithm", forged({**GOOD, "alg": "RS512"})),
    "ES256 on an RSA key": ("algorithm", forged({**GOOD, "alg": "ES256"})),
    "alg is a list": ("algorithm", forged({**GOOD, "alg": ["RS256"]})),
    "alg missing": ("algorithm", forged({"kid": "google-1"})),
    "kid unknown": ("unknown_key", headed(kid="somebody-elses")),
    "kid missing": ("malformed", headed(kid=None)),
    "kid empty": ("malformed", headed(kid="")),
    "kid is a number": ("malformed", forged({"alg": "RS256", "kid": 1})),
    "crit unknown": ("malformed", headed(crit=["exp"], exp=1)),
    "crit understood elsewhere": ("signature", forged({**GOOD, "crit": ["b64"], "b64": True})),
    "payload not encoded": ("malformed", forged({**GOOD, "crit": ["b64"], "b64": False})),
    "stranger's key": ("signature", signed_by_a_stranger),
    "stranger's key in the jwk header": ("signature", signed_by_a_stranger_with_his_key_inside),
    "stranger's key set in jku and x5u": ("signature", signed_by_a_stranger_with_a_link_to_his_keys),
    "claims changed": ("signature", tampered),
    "signature a byte short": ("signature", cut(2)),
    "truncated": ("malformed", cut(1)),
    "truncated in the claims": ("malformed", cut(400)),
    "signature missing": ("signature", without_signature),
    "signature spelt differently": ("malformed", with_a_second_spelling),
    "iss of another": ("issuer", claim(iss="https://accounts.google.com.evil.test")),
    "iss almost": ("issuer", claim(iss="https://accounts.google.com/")),
    "iss missing": ("issuer", claim(iss=None)),
    "iss a list": ("issuer", claim(iss=["https://accounts.google.com"])),
    "aud of another": ("audience", claim(aud="somebody-elses-client")),
    "aud shared with another": ("audience", claim(aud=[OURS, "somebody-elses-client"])),
    "aud missing": ("audience", claim(aud=None)),
    "aud empty": ("audience", claim(aud=[])),
    "aud an object": ("audience", claim(aud={OURS: 1})),
    "expired": ("expired", later(-30, "exp")),
    "exp missing": ("malformed", claim(exp=None)),
    "exp true": ("expired", claim(exp=True)),
    "exp infinite": ("malformed", claim(exp=float("inf"))),
    "exp not a number": ("malformed", claim(exp=float("nan"))),
    "exp after the end of time": ("malformed", claim(exp=10**18)),
    "iat in the future": ("not_yet_valid", later(31, "iat")),
    "iat in the future, nbf not": ("not_yet_valid", issued_later_than_valid),
    "nbf in the future": ("not_yet_valid", later(31, "nbf")),
    "iat too old": ("too_old", later(-601, "iat")),
    "iat missing": ("malformed", claim(iat=None)),
    "sub missing": ("subject", claim(sub=None)),
    "sub empty": ("subject", claim(sub="")),
    "sub a number": ("subject", claim(sub=1174)),
    "sub too long": ("subject", claim(sub="1" * 256)),
    "sub with NUL": ("subject", claim(sub="1\0")),
    "payload a list": ("malformed", payload(b"[]")),
    "payload not JSON": ("malformed", payload(b"\xff{")),
    "payload nested too deep": ("malformed", payload(DEEP)),
    "payload a giant number": ("malformed", payload(b"1" * 5000)),
    "header a list": ("malformed", forged([])),
    "header not JSON": ("malformed", forged(b"\xff{")),
    "header nested too deep": ("malformed", forged(b'{"alg":"RS256","kid":' + DEEP + b"}")),
    "header a giant number": ("malformed", forged(b'{"alg":"RS256","kid":' + b"1" * 5000 + b"}")),
    "empty": ("malformed", lambda _: ""),
    "only dots": ("malformed", lambda _: ".."),
    "two segments": ("malformed", lambda google: google.token().rpartition(".")[0]),
    "four segments": ("malformed", lambda google: google.token() + ".AAAA"),
    "empty header": ("malformed", lambda google: "." + google.token().partition(".")[2]),
    "empty payload": ("signature", lambda google: google.token().partition(".")[0] + "..AAAA"),
    "with a newline": ("malformed", lambda google: google.token() + "\n"),
    "not ASCII": ("malformed", lambda google: google.token() + "é"),
    "a lone surrogate": ("malformed", lambda google: google.token() + "\ud800"),
    "1 MiB of letters": ("malformed", lambda _: "A" * 2**20),
}
