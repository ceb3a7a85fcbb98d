"""Rendering of emails from templates.

An email is a pair `templates/email/<name>.txt` and `.html`. The first line of the text is `Subject: …`. A missing
variable raises. Every string is put on one line, so that a name cannot add a header or a paragraph; text of several
lines is passed as a list of lines. Web addresses in strings are broken, so that mail programs do not make them links,
except in variables called `…url`, `href` and `destination_host`.
"""

import re
from collections.abc import Mapping
from email.utils import parseaddr
from urllib.parse import urlsplit

from css_inline import CSSInliner
from flask import current_app
from jinja2 import Environment, StrictUndefined

from app.clients.mail import Message, message_id
from app.config import Settings
from app.core.addresses import break_web_addresses
from app.core.languages import get_language, use_language

TRANSLATED = frozenset(
    {
        "allocation_invite",
        "allocation_taken_back",
        "allocation_ticket",
        "allocation_will_call",
        "already_registered",
        "application_activated",
        "application_activation",
        "application_approved",
        "application_declined",
        "application_document_expiry",
        "application_documents",
        "application_draft",
        "application_fee_due",
        "application_link",
        "application_offer_ended",
        "application_paid",
        "application_place_offer",
        "application_refund_refused",
        "application_refunded",
        "application_ready_organiser",
        "application_received",
        "application_reminder",
        "application_waitlisted",
        "application_waived",
        "applications_new",
        "event_moved",
        "merchant_invite",
        "reset_code",
        "verify_email",
    }
)
"""The templates whose texts are in the catalogues. All others are English, with their frame."""
SUBJECT_LENGTH = 200
NAME_LENGTH = 60
LINK_VARIABLES = ("href", "destination_host")
ENVIRONMENT_EXTENSION = "email_environment"
_INLINER = CSSInliner(load_remote_stylesheets=False, keep_at_rules=True)
_INVISIBLE = re.compile(r"[\x00-\x20\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_LINK = re.compile(r"://|www\.|@|\w\.\w{2,}|/")


def render_email(
    template: str,
    *,
    to: str,
    key: str,
    sender_name: str | None = None,
    reply_to: str | None = None,
    headers: Mapping[str, str] | None = None,
    keep_links: bool = False,
    **context: object,
) -> Message:
    """Render the email `template` to `to`. The same `key` gives the same Message-ID.

    With `keep_links` no web address is broken. The email is in the language in use if its template is TRANSLATED.
    """
    with use_language(get_language() if template in TRANSLATED else None):
        return _render(template, to, key, sender_name, reply_to, headers, keep_links, context)


def _render(
    template: str,
    to: str,
    key: str,
    sender_name: str | None,
    reply_to: str | None,
    headers: Mapping[str, str] | None,
    keep_links: bool,
    context: Mapping[str, object],
) -> Message:
    unlinked = {name for name in context if not (keep_links or name.endswith("url") or name in LINK_VARIABLES)}
    service = _build_service_context()
    sender = one_line(sender_name or service["service"])
    variables: dict[str, object] = {
        **{name: _sanitize(value, unlink=name in unlinked) for name, value in context.items()},
        **service,
        "sender": sender if keep_links else break_web_addresses(sender),
        "reply_to": reply_to,
        "language": get_language(),
    }
    if "name" in variables:
        variables["name"] = safe_display_name(variables["name"])
    subject, text = _render_text(template, variables)
    html = _get_environment().get_template(f"email/{template}.html").render(variables, subject=subject)
    return Message(
        to=to,
        subject=subject,
        text=text,
        html=_INLINER.inline(html),
        message_id=message_id(key),
        sender_name=sender if sender_name else None,
        reply_to=reply_to,
        headers=dict(headers or {}),
    )


def one_line(text: str) -> str:
    """The text without line breaks, control characters and direction overrides."""
    return _INVISIBLE.sub(" ", text).strip()


def shorten(text: str, max_length: int) -> str:
    """The text in at most `max_length` characters; a longer text ends with `…`."""
    return text if len(text) <= max_length else text[: max_length - 1] + "…"


def _render_text(template: str, variables: Mapping[str, object]) -> tuple[str, str]:
    """Subject and text."""
    rendered = _get_environment().get_template(f"email/{template}.txt").render(variables)
    first_line, _, rest = rendered.partition("\n")
    if not first_line.startswith("Subject: "):
        raise ValueError(f"email/{template}.txt must begin with 'Subject: '")
    subject = one_line(first_line.removeprefix("Subject: "))
    return shorten(subject, SUBJECT_LENGTH), re.sub(r"\n{3,}", "\n\n", rest).strip() + "\n"


def _sanitize(value: object, *, unlink: bool) -> object:
    if isinstance(value, str):
        text = one_line(value)
        return break_web_addresses(text) if unlink else text
    if isinstance(value, list | tuple):
        return [_sanitize(item, unlink=unlink) for item in value]
    return value


def safe_display_name(name: object) -> str:
    """The name, or an empty string if it is long or has a link: anyone can register another person's address."""
    text = str(name or "")
    return "" if len(text) > NAME_LENGTH or _LINK.search(text) else text


def _build_service_context() -> dict[str, str]:
    """Variables of every email: base URL, host and name of the service."""
    settings: Settings = current_app.extensions["settings"]
    host = urlsplit(settings.PUBLIC_BASE_URL).netloc
    return {
        "base_url": settings.PUBLIC_BASE_URL,
        "host": host,
        "service": parseaddr(settings.MAIL_FROM)[0] or host,
    }


def _space_code(code: str) -> str:
    """`123456` as `123 456`, which is easier to read and type."""
    return f"{code[:3]} {code[3:]}" if len(code) == 6 and code.isdigit() else code


def _get_environment() -> Environment:
    """Flask's Jinja environment with missing variables as errors, stored on the application."""
    environment: Environment | None = current_app.extensions.get(ENVIRONMENT_EXTENSION)
    if environment is None:
        environment = current_app.jinja_env.overlay(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        environment.filters["spaced"] = _space_code
        current_app.extensions[ENVIRONMENT_EXTENSION] = environment
    return environment
