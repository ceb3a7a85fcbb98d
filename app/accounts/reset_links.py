"""The link in a reset mail: a reset token of 256 bits that no counter blocks.

It is derived from the nonce of the mail's code, so a mail that is sent again carries the same link. Only its hash is
stored.
"""

from datetime import timedelta

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert

from app.accounts.models import Account, ResetToken
from app.core.tokens import derived_text, fingerprint
from app.core.transaction import transaction

LIFETIME = timedelta(minutes=10)


def prepare_link(account: Account, nonce: str) -> str:
    """The token for the mail of the code with this nonce; it sets a new password once, within ten minutes."""
    token = derived_text("reset-link", account.email, nonce)
    with transaction() as session:
        row = insert(ResetToken).values(
            token_hash=fingerprint(token),
            account_id=account.id,
            password_version=account.password_version,
            expires_at=func.now() + LIFETIME,
        )
        session.execute(row.on_conflict_do_nothing())
    return token
