"""The link by which the mailbox of a new contact address confirms it: it names the organisation and the address.

The token is encrypted, so that the address is not in it and mail programs keep the link whole.
"""

from flask import current_app
from itsdangerous import BadSignature

from app.core.errors import NotFound
from app.core.tokens import decrypt_token, encrypt_token, timed_signer

PURPOSE, LIFETIME_SECONDS = "organisation-contact", 7 * 24 * 3600


def build_contact_url(organisation_id: str, email: str) -> str:
    """The URL of the page that confirms the address."""
    token = encrypt_token(PURPOSE, timed_signer(PURPOSE).sign(f"{organisation_id}.{email}"))
    return f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/confirm-contact/{token}"


def parse_contact_token(token: str) -> tuple[str, str]:
    """The id of the organisation, and the address. Raises NotFound for another text, and after seven days."""
    signed_text = decrypt_token(PURPOSE, token)
    if signed_text is None:
        raise NotFound()
    try:
        text = timed_signer(PURPOSE).unsign(signed_text, max_age=LIFETIME_SECONDS).decode()
    except BadSignature:
        raise NotFound() from None
    organisation_id, _, email = text.partition(".")
    return organisation_id, email
