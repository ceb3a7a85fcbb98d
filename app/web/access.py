"""Who may call a route: its access rule, and the caller of a Bearer token.

The rule of most routes names a permission of `app.accounts.permissions`, which shows who has it.

Tokens are issued and verified by flask-jwt-extended with rotating keys. The signature of a token cannot change, so a
worker verifies each token once and caches its claims. Each request checks in the database that the session is active,
in the same query that loads the caller.
"""

import time
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypedDict

import jwt
from flask import Flask, current_app, g, request
from flask_jwt_extended import JWTManager, create_access_token, decode_token
from flask_jwt_extended.exceptions import JWTExtendedException

from app.accounts import signing_keys
from app.accounts.caller import PERSON, Caller
from app.accounts.errors import EmailNotVerified, SecondFactorSetupRequired
from app.accounts.models import TIERS as TIERS
from app.accounts.permissions import MONEY_READ, PERMISSIONS, STALLS_READ, describe_holders
from app.accounts.queries import DEVICE_TOKEN_PREFIX, KEY_PREFIXES, find_caller, find_token_caller
from app.accounts.sessions import ACCESS_TOKEN_SECONDS, LoginResult, SessionUser
from app.core.context import Actor, current_actor
from app.web.errors import RoleNotAllowed, SessionEnded, TokenExpired, TokenInvalid, TokenMissing

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment


@dataclass(frozen=True)
class Access:
    """The permission, or the roles and the lowest admin tier, that may call a route; with none, every person who is
    signed in may.

    With `whole_organisation` a permission that is limited to some events is not enough, and a team that the caller names
    has to be theirs, also for admins. `tier` is None if admins may not call. `optional` means public, but a token
    identifies the caller. `needs_verified_email` requires a verified email address. `for_setup` admits admins who have to
    turn on a second factor first. The document publishes `name`.
    """

    name: str
    public: bool = False
    optional: bool = False
    permission: str | None = None
    whole_organisation: bool = False
    roles: frozenset[str] = frozenset()
    tier: str | None = None
    needs_verified_email: bool = False
    for_setup: bool = False

    def allows(self, caller: Caller) -> bool:
        """Whether this caller may call. Only a permission admits devices and keys."""
        if self.public:
            return caller.kind == PERSON or self.permission is not None
        if self.roles & caller.roles or (caller.grant.organisation_ids if self.whole_organisation else caller.grant):
            return True
        if self.whole_organisation and caller.team_id is not None:
            return False
        if self.permission is None and not self.roles and self.tier is None:
            return caller.kind == PERSON
        return self.tier is not None and caller.has_tier(self.tier)

    def with_permission(self, permission: str) -> "Access":
        """Return the same rule with the permission for which a caller's organisations are looked up."""
        return replace(self, permission=permission)

    def with_verified_email(self) -> "Access":
        """Return the same rule for callers with a verified email address."""
        return replace(self, needs_verified_email=True)


PUBLIC = Access("anybody", public=True)
PUBLIC_OR_SIGNED_IN = Access("anybody; a token adds to the account it belongs to", public=True, optional=True)
SIGNED_IN = Access("anybody signed in")
SECOND_FACTOR_SETUP = replace(SIGNED_IN, for_setup=True)
APPLICATION_READERS = Access(
    f"merchants for their own, {describe_holders(STALLS_READ)}",
    permission=STALLS_READ,
    roles=frozenset({"merchant"}),
    tier="analyst",
)
INVOICE_READERS = Access(
    f"merchants for their own, {describe_holders(MONEY_READ)}",
    permission=MONEY_READ,
    roles=frozenset({"merchant"}),
    tier="analyst",
)
SUPPORT = Access("admins of tier support or higher", tier="support")
ANALYST = Access("admins of every tier", tier="analyst")
ADMIN = Access("admins of tier admin or super_admin", tier="admin")
AUDIENCE = "event-commerce"
TEAM_HEADER, TEAM_ENVIRON = "Team-Id", "HTTP_TEAM_ID"
"""The header that names one of several teams, to act for it only."""
MAX_TOKEN_LENGTH = 4096


@cache
def may(permission: str, *, whole_organisation: bool = False) -> Access:
    """Return the rule for callers who have this permission."""
    return Access(
        describe_holders(permission),
        permission=permission,
        whole_organisation=whole_organisation,
        tier=PERMISSIONS[permission].tier,
    )


def init_app(app: Flask) -> None:
    """Configure the extension: one asymmetric algorithm, issuer, audience, and keys by their id."""
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


class SignInData(TypedDict):
    """The tokens of a session, the lifetime of the access token in seconds, and the account."""

    access_token: str
    refresh_token: str
    token_type: str
    expires_in: int
    user: SessionUser


def serialize_sign_in(signed_in: LoginResult) -> SignInData:
    """Issue an access token for a session and return the data of the response."""
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
    """Return the caller. Only routes that need a token may call this."""
    caller: Caller = g.caller
    return caller


def find_current_caller() -> Caller | None:
    """Return the caller of a public route, or None if the request has no token."""
    caller: Caller | None = g.caller
    return caller


def identify_actor(caller: Caller) -> None:
    """Let the audit trail name the caller as the actor of what this request does."""
    current_actor.set(Actor(caller.kind, caller.id, caller.session_id))


def authorise(access: Access) -> None:
    """Check the token and set the caller for `get_current_caller()`. Raises the errors of 401 and 403.

    An invalid token is an error also where a token is optional.
    """
    environ = request.environ
    g.signed_in = has_token = "HTTP_AUTHORIZATION" in environ
    if access.public and not (access.optional and has_token):
        g.caller = None
        return
    g.caller = caller = _authenticate(environ, access.permission)
    identify_actor(caller)
    check_access(access, caller)


def check_access(access: Access, caller: Caller) -> None:
    """Check the caller, who has been looked up for the permission.

    Raises SecondFactorSetupRequired, RoleNotAllowed, EmailNotVerified.
    """
    if needs_second_factor(caller) and not access.for_setup:
        raise SecondFactorSetupRequired()
    if not access.allows(caller):
        if caller.lacks_second_factor and access.permission is not None:
            raise SecondFactorSetupRequired()
        raise RoleNotAllowed(f"Only {access.name} may do this. {_describe_caller(caller)}")
    if access.needs_verified_email and not caller.email_verified:
        raise EmailNotVerified()


def needs_second_factor(caller: Caller) -> bool:
    """Whether the caller must turn on a second factor first: an admin in production who has none."""
    return caller.tier is not None and not caller.has_second_factor and current_app.extensions["settings"].production


def _describe_caller(caller: Caller) -> str:
    """The roles in words, with the tier of an admin and those in teams; or the kind of a caller who is no person."""
    if caller.kind != PERSON:
        return f"This token belongs to the {caller.kind} “{caller.name}”."
    roles = [f"admin (tier {caller.tier})" if role == "admin" else role for role in sorted(caller.roles)]
    roles += dict.fromkeys(f"{entry.role} in a team" for entry in caller.memberships)
    return f"The roles of your account: {', '.join(roles) or 'none'}."


def _authenticate(environ: "WSGIEnvironment", permission: str | None) -> Caller:
    scheme, _, token = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    if not scheme:
        raise TokenMissing()
    if scheme.lower() != "bearer" or not token:
        raise TokenInvalid("The header does not have the form Authorization: Bearer <token>.")
    if len(token) > MAX_TOKEN_LENGTH:
        raise TokenInvalid()
    team_id = environ.get(TEAM_ENVIRON)
    if token.startswith((DEVICE_TOKEN_PREFIX, *KEY_PREFIXES)):
        token_caller = find_token_caller(token, permission, team_id)
        if token_caller is None:
            raise SessionEnded()
        return token_caller
    account_id, session_id, expires_at = _verify_token(token, signing_keys.get_key_set_version())
    if expires_at + 30 < time.time():
        raise TokenExpired()
    caller = find_caller(session_id, permission, team_id)
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
