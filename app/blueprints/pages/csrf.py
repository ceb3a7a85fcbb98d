"""CSRF protection of the pages: each form carries a token that belongs to the visitor's session cookie.

The JSON API uses no cookies, so it needs no CSRF tokens.
"""

from datetime import timedelta

from flask import Flask, current_app, request, session
from flask_wtf.csrf import CSRFError, CSRFProtect
from werkzeug.exceptions import HTTPException

from app.config import Settings
from app.core.errors import BadRequest
from app.web.cookies import SESSION_COOKIE

SESSION_LIFETIME = timedelta(hours=12)
csrf = CSRFProtect()


class FormExpired(BadRequest):
    number, code = 40020, "FORM_EXPIRED"
    message = (
        "This page was open for too long, or your browser did not keep its cookie. Nothing was changed. "
        "Open the page again and send the form again."
    )


def init_app(app: Flask, settings: Settings) -> None:
    """Set up the session cookie and the CSRF tokens. A token is valid as long as its session."""
    https = settings.PUBLIC_BASE_URL.startswith("https")
    app.config.update(
        # Browsers refuse a cookie with this prefix from any other host, so an attacker cannot set a session.
        SESSION_COOKIE_NAME=f"__Host-{SESSION_COOKIE}" if https else SESSION_COOKIE,
        SESSION_COOKIE_SECURE=https,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        PERMANENT_SESSION_LIFETIME=SESSION_LIFETIME,
        WTF_CSRF_CHECK_DEFAULT=False,
        WTF_CSRF_TIME_LIMIT=None,
        # The Referrer-Policy of the pages removes the Referer header, so there is nothing to compare.
        WTF_CSRF_SSL_STRICT=False,
    )
    csrf.init_app(app)


def protect() -> None:
    """Check the CSRF token; for `before_request`. Raises FormExpired with the path of the page."""
    try:
        csrf.protect()
    except CSRFError as error:
        raise FormExpired(retry_path=find_page_of_form()) from error


def end_open_forms() -> None:
    """Let the pages from now on have another token, so that forms which are open already are refused."""
    session.pop(current_app.config["WTF_CSRF_FIELD_NAME"], None)


def get_page_path() -> str:
    """Return the path and query of the page that the visitor sees: that of this request or of its form."""
    return request.full_path.rstrip("?") if request.method in ("GET", "HEAD") else find_page_of_form()


def find_page_of_form() -> str:
    """Return the path of the page that the form was on: the nearest path above the form's own that can be opened.

    It keeps the query, which says where to go afterwards.
    """
    path = request.path
    while not _can_be_opened(path):
        path = path.rpartition("/")[0] or "/"
    query = request.query_string.decode("latin-1")
    return f"{path}?{query}" if query else path


def _can_be_opened(path: str) -> bool:
    try:
        current_app.url_map.bind("").match(path, method="GET")
    except HTTPException:
        return False
    return True
