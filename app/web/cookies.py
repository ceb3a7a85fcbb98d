"""Cookies: the session of pages, and the mark of a known device.

No cookie authenticates a caller of the JSON API. The mark only shows that a device has signed in before.
"""

from flask import Flask, Request, current_app, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from werkzeug.http import dump_cookie

from app.accounts.sessions import LoginResult
from app.web.middleware import EXTRA_HEADERS_KEY

DEVICE_COOKIE_PREFIX = "device-"
DEVICE_COOKIE_PATH = "/api/auth/login"
DEVICE_SECONDS = 180 * 24 * 3600
MAX_DEVICES = 20


class LazySession(SecureCookieSessionInterface):
    """Flask's session, skipped for requests without cookies. Otherwise it would cost a fifth of the time of `/health`."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if "HTTP_COOKIE" not in request.environ:
            return self.session_class()
        return super().open_session(app, request)


def list_device_marks() -> list[str]:
    """Return the marks of the accounts that this browser has signed in to."""
    marks = [value for name, value in request.cookies.items() if name.startswith(DEVICE_COOKIE_PREFIX)]
    return [mark for mark in marks if mark.isascii()][:MAX_DEVICES]


def set_device_cookie(signed_in: LoginResult) -> None:
    """Set a cookie with the device mark of the account, for its next sign-ins in this browser."""
    https = current_app.extensions["settings"].PUBLIC_BASE_URL.startswith("https")
    cookie = dump_cookie(
        f"{DEVICE_COOKIE_PREFIX}{signed_in.user['id']}",
        signed_in.device_mark or "",
        max_age=DEVICE_SECONDS,
        path=DEVICE_COOKIE_PATH,
        secure=https,
        httponly=True,
        samesite="Strict",
    )
    request.environ[EXTRA_HEADERS_KEY] = [*request.environ.get(EXTRA_HEADERS_KEY, ()), ("Set-Cookie", cookie)]
