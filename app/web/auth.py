"""Bearer tokens: minted and verified by flask-jwt-extended, with keys that rotate.

A token's signature cannot change, so a worker verifies each token once and remembers its claims; whether the
session still lives is asked of the database on every request, in the one query that loads the caller.
"""

import time
from functools import lru_cache
from typing import Any

import jwt
from flask import Flask, current_app, g, request
from flask_jwt_extended import JWTManager, create_access_token, decode_token
from flask_jwt_extended.exceptions import JWTExtendedException

from app.accounts import signing_keys
from app.accounts.caller import Caller
from app.accounts.errors import EmailNotVerified
from app.accounts.queries import find_caller
from app.accounts.sessions import ACCESS_TOKEN_SECONDS, LoginResult
from app.web.access import Access
from app.web.errors import RoleNotAllowed, SessionEnded, TokenExpired, TokenInvalid, TokenMissing

AUDIENCE = "event-commerce"
MAX_TOKEN_LENGTH = 4096


def init_app(app: Flask) -> None:
    """Configures the extension: one asymmetric algorithm, issuer and audience, keys by their id."""
    app.config.update(
        JWT_ALGORITHM=signing_keys.ALGORITHM,
        JWT_DECODE_ALGORITHMS=[signing_keys.ALGORITHM],
        JWT_ACCESS_TOKEN_EXPIRES=ACCESS_TOKEN_SECONDS,
        JWT_DECODE_LEEWAY=30,
        JWT_ENCODE_ISSUER=app.extensions["settings"].PUBLIC_BASE_URL,
        JWT_DECODE_ISSUER=app.extensions["settings"].PUBLIC_BASE_URL,
        JWT_ENCODE_AUDIENCE=AUDIENCE,
        JWT_DECODE_AUDIENCE=AUDIENCE,
    )
    jwt_manager = JWTManager(app)
    jwt_manager.encode_key_loader(lambda _: signing_keys.get_current_key().private_key)
    jwt_manager.decode_key_loader(lambda header, _: signing_keys.get_public_key(str(header.get("kid", ""))))


def serialize_sign_in(signed_in: LoginResult) -> dict[str, Any]:
    """What a sign-in answers: both tokens and whose they are."""
    access_token = create_access_token(
        signed_in.user["id"],
        additional_claims={
            "sid": signed_in.session_id,
            "roles": signed_in.user["roles"],
            "tier": signed_in.tier,
        },
        additional_headers={"kid": signing_keys.get_current_key().kid},
    )
    return {
        "access_token": access_token,
        "refresh_token": signed_in.refresh_token,
        "token_type": "Bearer",
        "expires_in": ACCESS_TOKEN_SECONDS,
        "user": signed_in.user,
    }


def get_current_caller() -> Caller:
    """The account that calls; only routes that are not public may ask."""
    caller: Caller = g.caller
    return caller


def find_current_caller() -> Caller | None:
    """The caller of a route for anybody, when a token was sent."""
    caller: Caller | None = g.caller
    return caller


def authorise(access: Access) -> None:
    """Lets the request pass or raises 401 or 403; leaves the caller for `current_caller()`.

    Where a token is optional, one that does not count is an error all the same.
    """
    g.signed_in = "HTTP_AUTHORIZATION" in request.environ
    if access.public and not (access.optional and "Authorization" in request.headers):
        g.caller = None
        return
    g.caller = caller = _authenticate()
    if not access.allows(caller.roles, caller.tier):
        raise RoleNotAllowed(f"Only {access.name} may do this; your account holds: {', '.join(sorted(caller.roles))}.")
    if access.needs_verified_email and not caller.email_verified:
        raise EmailNotVerified()


def _authenticate() -> Caller:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if not scheme:
        raise TokenMissing()
    if scheme.lower() != "bearer" or not token or len(token) > MAX_TOKEN_LENGTH:
        raise TokenInvalid()
    account_id, session_id, expires_at = _verify_token(token, signing_keys.get_key_set_version())
    if expires_at + 30 < time.time():
        raise TokenExpired()
    caller = find_caller(session_id)
    if caller is None or caller.id != account_id:
        raise SessionEnded()
    return caller


def _verify_token(token: str, key_set_version: int) -> tuple[str, str, float]:
    try:
        return _decode_token(token, key_set_version, id(current_app._get_current_object()))  # type: ignore[attr-defined]
    except jwt.ExpiredSignatureError as error:
        raise TokenExpired() from error
    except (jwt.PyJWTError, JWTExtendedException, signing_keys.UnknownKey, ValueError, KeyError, TypeError) as error:
        raise TokenInvalid() from error


@lru_cache(maxsize=4096)
def _decode_token(token: str, key_set_version: int, app_id: int) -> tuple[str, str, float]:
    claims = decode_token(token)
    if claims["type"] != "access":
        raise ValueError(claims["type"])
    return str(claims["sub"]), str(claims["sid"]), float(claims["exp"])
