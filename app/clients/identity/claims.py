"""Checks of the claims of a token with a valid signature, and the values that are used."""

import hmac
import re
from collections.abc import Collection
from typing import Any

from app.clients.identity.errors import IdentityRejected
from app.core.names import JOINERS, clean_name

LEEWAY = 30
LONGEST_AGE = 600
_END_OF_TIME = 253_402_300_799  # 9999-12-31, the last moment that datetime and the database can hold.
_SUBJECT = re.compile(r"[!-~]{1,255}")
_ADDRESS = re.compile(r"[^\s@]+@[^\s@]+")

Claims = dict[str, Any]


def check_origin(claims: Claims, *, issuers: Collection[str], audiences: Collection[str]) -> None:
    """Refuse tokens of another issuer or for another audience.

    Every audience of a list must be ours: another service that got the token could replay it.
    """
    if claims.get("iss") not in list(issuers):
        raise IdentityRejected("issuer")
    meant_for = claims.get("aud")
    named = meant_for if isinstance(meant_for, list) else [meant_for]
    if not named or any(item not in list(audiences) for item in named):
        raise IdentityRejected("audience")


def check_times(claims: Claims, *, now: float) -> float:
    """The second at which the token expires; refuses one that is not of the last ten minutes."""
    expires, issued = _moment(claims, "exp"), _moment(claims, "iat")
    valid_from = _moment(claims, "nbf") if "nbf" in claims else issued
    if now >= expires + LEEWAY:
        raise IdentityRejected("expired")
    if max(issued, valid_from) > now + LEEWAY:
        raise IdentityRejected("not_yet_valid")
    if issued < now - LONGEST_AGE:
        raise IdentityRejected("too_old")
    return expires


def check_nonce(claims: Claims, expected: str | None) -> None:
    """Refuse a token that was not issued for this sign-in: its nonce must equal the client's, or both must be absent."""
    said = claims.get("nonce")
    if said is None and expected is None:
        return
    if expected is None:
        raise IdentityRejected("nonce_missing")
    if not isinstance(said, str) or not hmac.compare_digest(_bytes(said), _bytes(expected)):
        raise IdentityRejected("nonce")


def subject(claims: Claims) -> str:
    """The provider's id of the account: up to 255 ASCII characters, by OpenID Connect."""
    said = claims.get("sub")
    if not isinstance(said, str) or not _SUBJECT.fullmatch(said):
        raise IdentityRejected("subject")
    return said


def email(claims: Claims) -> str | None:
    """The email address in lower case; None without a valid one."""
    said = claims.get("email")
    if not isinstance(said, str) or not said.isprintable() or not _ADDRESS.fullmatch(said):
        return None
    address = said.lower()
    return address if len(address) <= 254 else None


def email_verified(claims: Claims) -> bool:
    """Whether the provider vouches for the address. Apple has sent this as a string."""
    said = claims.get("email_verified")
    return said is True or said == "true"


def name(claims: Claims) -> str | None:
    """The person's name without control and invisible characters (the database takes no NUL); Apple never sends it."""
    said = claims.get("name")
    if not isinstance(said, str):
        return None
    return " ".join("".join(item if _may_stand(item) else " " for item in clean_name(said)).split()) or None


def _may_stand(character: str) -> bool:
    """Whether it is printable, or a joiner that `clean_name` has left where a name needs it."""
    return character.isprintable() or character in JOINERS


def _moment(claims: Claims, name: str) -> float:
    said = claims.get(name)
    if isinstance(said, bool) or not isinstance(said, int | float) or not 0 <= said <= _END_OF_TIME:
        raise IdentityRejected("malformed")
    return said


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
