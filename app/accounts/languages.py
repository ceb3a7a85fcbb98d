"""The language of an account, for the mails to its owner.

The account's own choice goes first. Other domains add where they keep one:

    @account_language_source
    def find_merchant_language(account_id):
        return db.session.scalar(select(…))
"""

from collections.abc import Callable

from sqlalchemy import select

from app.accounts.models import Account
from app.core.db import db
from app.core.languages import find_first_language

LanguageSource = Callable[[str], str | None]
_sources: list[LanguageSource] = []


def account_language_source(source: LanguageSource) -> LanguageSource:
    """Registers a function that returns the language tag that an account has chosen, or None."""
    _sources.append(source)
    return source


def find_account_language(account_id: str) -> str | None:
    """The language that the owner of the account has chosen; None if they chose none that we have."""
    own_language = db.session.scalar(select(Account.language).where(Account.id == account_id))
    return own_language or find_first_language(source(account_id) for source in _sources)
