"""CSRF protection of the pages: each form carries a token that belongs to the visitor's session cookie.

The JSON API uses no cookies, so it needs no CSRF tokens.
"""

from datetime import timedelta

from flask import Flask, request
from flask_wtf.csrf import CSRFError, CSRFProtect

from app.config import Settings
from app.core.errors import BadRequest

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
        SESSION_COOKIE_NAME="__Host-console" if https else "console",
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
        raise FormExpired(retry_path=request.path) from error
