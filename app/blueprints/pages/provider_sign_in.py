"""Signing in with Apple or Google in a browser: OpenID Connect by redirect, with an id token in a form (`form_post`).

It needs no script and no secret of the provider. The provider's form comes from another site, so it has neither the
CSRF token nor the cookies of the pages. Instead a cookie of its own, for ten minutes, has a random value from which
`nonce` and the binding of `state` are derived: a form counts only in the browser that asked for it, and once.
"""

import json
from urllib.parse import urlencode

from flask import current_app, redirect, request, url_for
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature
from marshmallow import ValidationError

from app.accounts import actions
from app.accounts.errors import (
    AccountSuspended,
    EmailNotVerifiedByProvider,
    IdentityRejected,
    InvalidCredentials,
    ProviderNotConfigured,
    ProviderUnavailable,
    SecondFactorRequired,
)
from app.blueprints.pages import second_step, sign_in, signed_in
from app.blueprints.pages.csrf import FormExpired
from app.blueprints.pages.rendering import Pages
from app.core.errors import NotFound, ValidationFailed
from app.core.tokens import derived_text, opaque_token, same, timed_signer
from app.web import rate_limits
from app.web.cookies import read_provider_cookie, set_provider_cookie
from app.web.session_origin import get_session_origin
from app.web.text_fields import Name

STATE_SECONDS = 600
AUTHORIZE_URLS = {
    "apple": "https://appleid.apple.com/auth/authorize",
    "google": "https://accounts.google.com/o/oauth2/v2/auth",
}
# Apple gives an id token only together with a code, which nobody uses here.
PARAMETERS = {
    "apple": {"response_type": "code id_token", "scope": "name email"},
    "google": {"response_type": "id_token", "scope": "openid email profile", "prompt": "select_account"},
}
SHOWN_ERRORS = (
    AccountSuspended,
    EmailNotVerifiedByProvider,
    IdentityRejected,
    InvalidCredentials,
    ProviderNotConfigured,
    ProviderUnavailable,
    ValidationFailed,
)
blueprint = Pages("provider_sign_in", __name__, url_prefix="/sign-in", is_csrf_exempt=lambda: True, translated=True)


@blueprint.get("/<provider>")
def start(provider: str) -> ResponseReturnValue:
    """Send the visitor to the provider."""
    client_id = sign_in.get_web_client_ids().get(provider)
    if client_id is None:
        raise NotFound()
    secret = opaque_token()
    set_provider_cookie(secret, seconds=STATE_SECONDS)
    next_path = signed_in.find_next_path() or ""
    parameters = {
        **PARAMETERS[provider],
        "client_id": client_id,
        "redirect_uri": _build_redirect_uri(provider),
        "response_mode": "form_post",
        "nonce": _derive_nonce(provider, secret),
        "state": timed_signer("provider-state").sign(f"{_derive_binding(provider, secret)} {next_path}").decode(),
    }
    return redirect(f"{AUTHORIZE_URLS[provider]}?{urlencode(parameters)}", 303)


@blueprint.post("/<provider>")
def finish(provider: str) -> ResponseReturnValue:
    """Sign in with the id token that the provider sends, or show why not. Without a token the person has declined."""
    rate_limits.count_request(rate_limits.CODE_ATTEMPT_LIMIT, "/sign-in/<provider>")
    secret, token = read_provider_cookie(), request.form.get("id_token", "")
    next_path = _find_next_path(provider, secret) if secret else None
    if secret is None or next_path is None:
        raise FormExpired(retry_path=url_for("sign_in.start"))
    if not token:
        return redirect(url_for("sign_in.start", next=next_path or None), 303)
    try:
        login_result = actions.sign_in_with_provider(
            provider,
            caller=None,
            token=token[:8192],
            nonce=_derive_nonce(provider, secret),
            full_name=_parse_full_name(request.form.get("user", "")),
            origin=get_session_origin("console"),
        )
    except SecondFactorRequired as error:
        set_provider_cookie("", seconds=0)
        return second_step.begin(error, next_path=next_path or None)
    except SHOWN_ERRORS as error:
        return sign_in.render_error_of_provider(error, next_path or None)
    signed_in.start_session(login_result, remember=False)
    set_provider_cookie("", seconds=0)
    return redirect(signed_in.get_safe_path(next_path), 303)


def _build_redirect_uri(provider: str) -> str:
    base_url: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return base_url.rstrip("/") + url_for("provider_sign_in.finish", provider=provider)


def _find_next_path(provider: str, secret: str) -> str | None:
    """The path in the state of the form; None unless it was made for this browser and provider in the last minutes."""
    try:
        state = timed_signer("provider-state").unsign(request.form.get("state", ""), max_age=STATE_SECONDS).decode()
    except (BadSignature, UnicodeError):
        return None
    binding, _, next_path = state.partition(" ")
    return next_path if same(binding, _derive_binding(provider, secret)) else None


def _derive_nonce(provider: str, secret: str) -> str:
    return derived_text("provider-nonce", provider, secret)


def _derive_binding(provider: str, secret: str) -> str:
    return derived_text("provider-binding", provider, secret)


def _parse_full_name(user: str) -> str | None:
    """The name that Apple sends beside the first token of a person; it is only the name of a new account."""
    try:
        name = json.loads(user[:2000])["name"]
        full_name: str = Name(min=1, max=120).deserialize(f"{name.get('firstName', '')} {name.get('lastName', '')}")
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, ValidationError):
        return None
    return full_name
