"""Forms are sent by our own pages: each carries a token that belongs to the visitor's session cookie.

The JSON API takes no cookie, so nothing of this concerns it.
"""

from datetime import timedelta

from flask import Flask, request
from flask_wtf.csrf import CSRFError, CSRFProtect

from app.config import Settings
from app.core.errors import BadRequest

SESSION = timedelta(hours=12)
csrf = CSRFProtect()


class FormExpired(BadRequest):
    number, code = 40020, "FORM_EXPIRED"
    message = (
        "This page was open for too long, or your browser did not keep its cookie. Nothing was changed. "
        "Open the page again, and send it again."
    )


def init_app(app: Flask, settings: Settings) -> None:
    """Sets up the session cookie, and the token that a form carries as long as the session lives."""
    https = settings.PUBLIC_BASE_URL.startswith("https")
    app.config.update(
        # Browsers let no other host set a cookie with this prefix, so nobody can plant a session of their own.
        SESSION_COOKIE_NAME="__Host-console" if https else "console",
        SESSION_COOKIE_SECURE=https,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        PERMANENT_SESSION_LIFETIME=SESSION,
        WTF_CSRF_CHECK_DEFAULT=False,
        WTF_CSRF_TIME_LIMIT=None,
        # Our pages send no Referer, by their own policy; there is none to compare.
        WTF_CSRF_SSL_STRICT=False,
    )
    csrf.init_app(app)


def protect() -> None:
    """For `before_request`. Raises FormExpired, which offers the page again."""
    try:
        csrf.protect()
    except CSRFError as error:
        raise FormExpired(again=request.path) from error
