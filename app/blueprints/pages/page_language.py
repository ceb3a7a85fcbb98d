"""The language of a page: the one that its visitor chose, else that of their account if they are signed in, else the
first that their browser asks for and we have.
"""

from dataclasses import dataclass
from urllib.parse import urlencode

from flask import request, session
from flask.globals import request_ctx

from app.accounts.caller import Caller
from app.accounts.languages import find_account_language
from app.accounts.permissions import MERCHANT
from app.core.languages import (
    LANGUAGES,
    choose_page_language,
    find_page_language,
    get_language,
    match_accepted_language,
    match_language,
)

ARGUMENT, SESSION_KEY = "lang", "language"


@dataclass(frozen=True)
class LanguageLink:
    """A link to the same page in another language; `name` is that of the language in itself."""

    language: str
    name: str
    url: str
    is_current: bool


def choose_visitor_language() -> None:
    """Use the language of the visitor; for `before_request`. `?lang=de` is remembered in the session."""
    requested = match_language(request.args.get(ARGUMENT))
    if requested and session.get(SESSION_KEY) != requested:
        session[SESSION_KEY] = requested
    choose_page_language(requested or find_visitor_language())


def find_visitor_language() -> str:
    """Return the language that the visitor chose, else the first that their browser asks for and we have. Pages that
    are only in English keep it for the next ones."""
    chosen = match_language(session.get(SESSION_KEY))
    return chosen or match_accepted_language(request.headers.get("Accept-Language", ""))


def use_account_language(caller: Caller) -> None:
    """Use the language of the signed-in person's account, unless they chose another one or the page is English."""
    if find_page_language() is None or match_language(session.get(SESSION_KEY)):
        return
    # Only merchants have another place for it, so nobody else needs the statements that look for one.
    language = match_language(
        caller.language or (find_account_language(caller.id) if MERCHANT in caller.roles else None)
    )
    if language is not None:
        choose_page_language(language)


def clear_session_but_language() -> None:
    """Begin a new session. Only the language that the visitor chose stays, because it is no secret."""
    language = session.get(SESSION_KEY)
    session.clear()
    if language is not None:
        session[SESSION_KEY] = language


def list_language_links() -> list[LanguageLink]:
    """Return a link for each language; none at an address that only takes forms."""
    adapter = request_ctx.url_adapter
    if request.method == "POST" and (adapter is None or "GET" not in adapter.allowed_methods()):
        return []
    arguments = request.args.to_dict()
    return [
        LanguageLink(
            language=language,
            name=name,
            url=f"{request.path}?{urlencode({**arguments, ARGUMENT: language})}",
            is_current=language == get_language(),
        )
        for language, name in LANGUAGES.items()
    ]
