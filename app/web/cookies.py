"""Cookies: Flask's session, the sign-in of pages, and the mark of a known device.

No cookie authenticates a caller of the JSON API. The mark only shows that a device has signed in before.
"""

from typing import TYPE_CHECKING

from flask import Flask, Request, current_app, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from werkzeug.http import dump_cookie

from app.accounts.sessions import PAGE_LIFETIME, LoginResult, build_page_token, parse_page_token
from app.web.middleware import EXTRA_HEADERS_KEY

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

DEVICE_COOKIE_PREFIX = "device-"
DEVICE_COOKIE_PATHS = ("/api/auth/login", "/sign-in")
"""The cookie is set for each path that reads it, because other requests are faster without cookies."""
DEVICE_SECONDS = 180 * 24 * 3600
MAX_DEVICES = 20
SESSION_COOKIE = "console"
"""The name of the session of the pages, with the prefix __Host- where the service has https."""
PROVIDER_COOKIE = "__Host-provider-sign-in"
"""Providers need https, so there is no other name."""


class LazySession(SecureCookieSessionInterface):
    """Flask's session, skipped for requests without cookies. Otherwise it would cost a fifth of the time of `/health`."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if "HTTP_COOKIE" not in request.environ:
            return self.session_class()
        return super().open_session(app, request)


def has_session_cookie(environ: "WSGIEnvironment") -> bool:
    """Whether a request may have a session of the pages."""
    return "HTTP_COOKIE" in environ and f"{SESSION_COOKIE}=" in environ["HTTP_COOKIE"]


def list_device_marks() -> list[str]:
    """Return the marks of the accounts that this browser has signed in to."""
    marks = [value for name, value in request.cookies.items() if name.startswith(DEVICE_COOKIE_PREFIX)]
    return [mark for mark in marks if mark.isascii()][:MAX_DEVICES]


def set_device_cookie(signed_in: LoginResult) -> None:
    """Set a cookie with the device mark of the account, for its next sign-ins in this browser."""
    name, mark = f"{DEVICE_COOKIE_PREFIX}{signed_in.user['id']}", signed_in.device_mark or ""
    for path in DEVICE_COOKIE_PATHS:
        _set_cookie(name, mark, max_age=DEVICE_SECONDS, path=path, samesite="Strict")


def read_sign_in_cookie() -> str | None:
    """Return the session id of the signed-in person on the pages; None without a cookie that this service has signed.

    The session may have ended.
    """
    if "HTTP_COOKIE" not in request.environ:
        return None
    return parse_page_token(request.cookies.get(_get_sign_in_cookie_name(), ""))


def set_sign_in_cookie(signed_in: LoginResult, *, remember: bool) -> None:
    """Sign the browser in to the pages: until it closes or, with `remember`, as long as the session can last."""
    max_age = int(PAGE_LIFETIME.total_seconds()) if remember else None
    _set_cookie(_get_sign_in_cookie_name(), build_page_token(signed_in.session_id), max_age=max_age)


def delete_sign_in_cookie() -> None:
    _set_cookie(_get_sign_in_cookie_name(), "", max_age=0)


def read_provider_cookie() -> str | None:
    """Return the secret of a sign-in with Apple or Google that this browser has begun; None without one."""
    secret = request.cookies.get(PROVIDER_COOKIE, "")
    return secret if secret.isascii() and secret else None


def set_provider_cookie(secret: str, *, seconds: int) -> None:
    """Set the secret of a sign-in with Apple or Google. Browsers send it with the form of the other site too."""
    _set_cookie(PROVIDER_COOKIE, secret, max_age=seconds, samesite="None")


def read_device_token_cookie() -> str | None:
    """Return the token of the phone with which this browser was paired; None without one. It may have ended."""
    token = request.cookies.get(_get_device_token_cookie_name(), "")
    return token if token.isascii() and token else None


def set_device_token_cookie(token: str) -> None:
    """Keep the token of a paired phone in its browser. The token ends by itself."""
    _set_cookie(_get_device_token_cookie_name(), token, max_age=DEVICE_SECONDS, samesite="Strict")


def _get_device_token_cookie_name() -> str:
    return "__Host-paired" if _is_https() else "paired"


def _get_sign_in_cookie_name() -> str:
    # Browsers refuse a cookie with this prefix from any other host, so an attacker cannot sign somebody in.
    return "__Host-sign-in" if _is_https() else "sign-in"


def _set_cookie(name: str, value: str, *, max_age: int | None, path: str = "/", samesite: str = "Lax") -> None:
    cookie = dump_cookie(name, value, max_age=max_age, path=path, secure=_is_https(), httponly=True, samesite=samesite)
    request.environ[EXTRA_HEADERS_KEY] = [*request.environ.get(EXTRA_HEADERS_KEY, ()), ("Set-Cookie", cookie)]


def _is_https() -> bool:
    return bool(current_app.extensions["settings"].PUBLIC_BASE_URL.startswith("https"))
