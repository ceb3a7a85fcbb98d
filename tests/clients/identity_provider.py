"""A sign-in provider of our own: signs id tokens, publishes its keys over HTTP, rotates them, goes down."""

import json
import time
import uuid
from collections.abc import Callable
from functools import cache
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from app.clients.identity import Provider

ISSUERS = {
    "google": ("https://accounts.google.com", "accounts.google.com"),
    "apple": ("https://appleid.apple.com",),
}
SigningKey = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey


@cache
def signing_key(label: str, algorithm: str = "RS256") -> SigningKey:
    """The private key of that label, the same all through the process: RSA keys are slow to make."""
    if algorithm == "ES256":
        return ec.generate_private_key(ec.SECP256R1())
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def public_jwk(key: SigningKey, **members: Any) -> dict[str, Any]:
    """The public half of `key`, as providers publish it."""
    if isinstance(key, rsa.RSAPrivateKey):
        return {**RSAAlgorithm.to_jwk(key.public_key(), as_dict=True), "use": "sig", **members}
    return {**ECAlgorithm.to_jwk(key.public_key(), as_dict=True), "use": "sig", **members}


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = float(int(time.time()))

    def __call__(self) -> float:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += seconds


class IdentityProvider:
    """Google or Apple on loopback. Lives as long as `server` keeps its handlers: one test.

        google = IdentityProvider(httpserver)
        app = app_for(..., **google.settings)
        client.post("/api/auth/google", json={"id_token": google.token(email="ada@example.test")})

    Everything it signs is right for everything `provider()` returns, unless a claim says otherwise.
    """

    def __init__(
        self,
        server: HTTPServer,
        name: str = "google",
        *,
        algorithm: str = "RS256",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.name = name
        self.algorithm = algorithm
        self.audience = f"{name}-client-of-the-tests"
        self.clock = clock
        self.fetches = 0
        self.generation = 1
        self.slowness = 0.0
        self.cache_control: str | None = None
        self._instead: Response | None = None
        path = f"/{name}/{uuid.uuid4().hex}/keys"
        self.jwks_url = server.url_for(path)
        server.expect_request(path).respond_with_handler(self._publish)

    @property
    def settings(self) -> dict[str, str]:
        """The environment variables that make the service trust this provider."""
        prefix = self.name.upper()
        return {f"{prefix}_CLIENT_IDS": self.audience, f"{prefix}_JWKS_URL": self.jwks_url}

    def provider(self, name: str | None = None) -> Provider:
        """What the verifier needs to know of this provider; another `name` changes only the label."""
        return Provider(name or self.name, ISSUERS[self.name], (self.audience,), self.jwks_url)

    @property
    def key(self) -> SigningKey:
        return signing_key(self.kid, self.algorithm)

    @property
    def kid(self) -> str:
        return f"{self.name}-{self.generation}"

    @property
    def key_set(self) -> dict[str, Any]:
        return {"keys": [public_jwk(self.key, kid=self.kid, alg=self.algorithm)]}

    def token(
        self,
        *,
        sub: Any = "subject-1",
        email: Any = "ada@example.test",
        email_verified: Any = True,
        **claims: Any,
    ) -> str:
        """A token that was issued just now, and no two alike. A claim that is None is left out."""
        now = int(self.clock())
        said = {
            "iss": ISSUERS[self.name][0],
            "aud": self.audience,
            "iat": now,
            "exp": now + 3600,
            "jti": uuid.uuid4().hex,
            "sub": sub,
            "email": email,
            "email_verified": email_verified,
            **claims,
        }
        return self.sign({name: value for name, value in said.items() if value is not None})

    def sign(self, payload: Any, *, key: SigningKey | None = None, **headers: Any) -> str:
        """Any payload (bytes go in as they are) under any headers; a header that is None is left out."""
        raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        header = {name: value for name, value in {"kid": self.kid, **headers}.items() if value is not None}
        return jwt.PyJWS().encode(raw, key or self.key, self.algorithm, header)

    def rotate(self) -> None:
        """Signs with a new key from now on, and publishes only that one."""
        self.generation += 1

    def down(self) -> None:
        """Answers 503 from now on; those requests count as fetches, too."""
        self.publish_instead(b"down for maintenance", status=503)

    def up(self) -> None:
        """Publishes its keys again."""
        self._instead = None

    def publish_instead(self, body: Any, status: int = 200) -> None:
        """Answers with this document (bytes go out as they are), until `up()`."""
        self._instead = Response(body if isinstance(body, bytes) else json.dumps(body), status=status)

    def _publish(self, _: Request) -> Response:
        self.fetches += 1
        time.sleep(self.slowness)
        if self._instead is not None:
            return Response(self._instead.get_data(), status=self._instead.status)
        headers = {"Cache-Control": self.cache_control} if self.cache_control else {}
        return Response(json.dumps(self.key_set), headers=headers, mimetype="application/json")
