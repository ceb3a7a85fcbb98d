"""Letters: mails rendered from templates.

A letter is a pair `templates/email/<name>.txt` and `.html`. The text's first line is `Subject: …`. Every
value must be given (a missing one raises), and every text value is kept on one line, so that a name can
neither add a header nor a paragraph; what may have several lines is passed as a list of lines. Addresses of web pages
in them are broken so that mail programs make no links of them, except in `…url`, `href` and `destination_host`.
"""

import re
from collections.abc import Mapping
from email.utils import parseaddr
from typing import Any
from urllib.parse import urlsplit

from css_inline import CSSInliner
from flask import current_app
from jinja2 import Environment, StrictUndefined

from app.clients.mail import Message, message_id
from app.config import Settings
from app.core.web_addresses import break_web_addresses

SUBJECT_LENGTH = 200
NAME_LENGTH = 60
LINKS = ("href", "destination_host")
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
    **context: Any,
) -> Message:
    """The mail `template` for `to`. The same `key` always gives the same Message-ID. With `keep_links` no address of a
    web page is broken."""
    broken = {name for name in context if not (keep_links or name.endswith("url") or name in LINKS)}
    values = {name: _sanitize(value, unlink=name in broken) for name, value in context.items()} | _about_us()
    sender = one_line(sender_name or values["service"])
    values |= {"sender": sender if keep_links else break_web_addresses(sender), "reply_to": reply_to}
    if "name" in values:
        values["name"] = safe_display_name(values["name"])
    subject, text = _text(template, values)
    html = _environment().get_template(f"email/{template}.html").render(values, subject=subject)
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


def shorten(text: str, most: int) -> str:
    """The text in at most so many characters, the last one of a longer text being `…`."""
    return text if len(text) <= most else text[: most - 1] + "…"


def _text(template: str, values: dict[str, Any]) -> tuple[str, str]:
    rendered = _environment().get_template(f"email/{template}.txt").render(values)
    first, _, rest = rendered.partition("\n")
    if not first.startswith("Subject: "):
        raise ValueError(f"email/{template}.txt must begin with 'Subject: '")
    subject = one_line(first.removeprefix("Subject: "))
    return shorten(subject, SUBJECT_LENGTH), re.sub(r"\n{3,}", "\n\n", rest).strip() + "\n"


def _sanitize(value: Any, *, unlink: bool) -> Any:
    if isinstance(value, str):
        text = one_line(value)
        return break_web_addresses(text) if unlink else text
    if isinstance(value, list | tuple):
        return [_sanitize(item, unlink=unlink) for item in value]
    return value


def safe_display_name(name: Any) -> str:
    """The name, or nothing when it is an advertisement: anyone can register with another person's address."""
    text = str(name or "")
    return "" if len(text) > NAME_LENGTH or _LINK.search(text) else text


def _about_us() -> dict[str, Any]:
    settings: Settings = current_app.extensions["settings"]
    host = urlsplit(settings.PUBLIC_BASE_URL).netloc
    return {
        "base_url": settings.PUBLIC_BASE_URL,
        "host": host,
        "service": parseaddr(settings.MAIL_FROM)[0] or host,
    }


def _normalize_blank_lines(code: str) -> str:
    """`123456` as `123 456`, which is read and typed with fewer mistakes."""
    return f"{code[:3]} {code[3:]}" if len(code) == 6 and code.isdigit() else code


def _environment() -> Environment:
    """Flask's templates with missing values as errors; kept on the application, so compiled once."""
    known: Environment | None = current_app.extensions.get("letters")
    if known is None:
        known = current_app.jinja_env.overlay(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
        known.filters["spaced"] = _normalize_blank_lines
        current_app.extensions["letters"] = known
    return known
