"""The development mailbox: all emails, SMS and push messages that were sent. Not available in production."""

from base64 import b64decode
from itertools import islice
from typing import TypedDict

from flask import Response, jsonify, make_response, request

from app.blueprints.pages.rendering import REFRESH_POLICY, Pages, render_page
from app.clients import dev_mailbox
from app.clients.dev_mailbox import StoredMessage
from app.core.errors import NotFound

blueprint = Pages("dev_mail", __name__)

MAX_LISTED = 200
CHANNELS = {"": "All", "email": "Mail", "sms": "SMS", "push": "Push"}
MAIL_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'"


class MessageFilters(TypedDict):
    """The filters of the list; "" means no filter."""

    to: str
    channel: str


@blueprint.get("/dev/mail")
def list_messages() -> Response:
    """Show the newest messages, filtered by recipient and channel."""
    response = render_page(
        "pages/mailbox.html",
        messages=_find_messages(MAX_LISTED),
        **_read_filters(),
        channels=CHANNELS,
        max_messages=MAX_LISTED,
    )
    response.headers["Content-Security-Policy"] = REFRESH_POLICY
    return response


@blueprint.get("/dev/mail.json")
def as_json() -> Response:
    """Return the messages as JSON, for scripts in development."""
    response = jsonify(
        [
            {name: message[name] for name in dev_mailbox.PUBLIC_FIELDS}
            for message in _find_messages(dev_mailbox.MAX_MESSAGES)
        ]
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/dev/mail/<id>")
def show_message(id: str) -> Response:
    """Show one message: its HTML, text and headers."""
    return render_page("pages/message.html", message=_get_message(id))


@blueprint.get("/dev/mail/<id>/html")
def show_message_html(id: str) -> Response:
    """Return the HTML of an email for the frame of its page. The policy blocks scripts and other hosts."""
    response = make_response(_get_message(id)["html"] or "")
    response.headers["Content-Security-Policy"] = MAIL_POLICY
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/dev/mail/<id>/attachments/<int:number>")
def show_attachment(id: str, number: int) -> Response:
    """Return the attachment with that number, counted from 1."""
    attachment = next(islice(_get_message(id).get("attachments", ()), number - 1, None), None) if number else None
    if attachment is None:
        raise NotFound()
    response = make_response(b64decode(attachment["content"]))
    response.headers["Content-Type"] = attachment["contentType"]
    response.headers.set("Content-Disposition", "inline", filename=attachment["name"])
    response.headers["Content-Security-Policy"] = MAIL_POLICY
    response.headers["Cache-Control"] = "no-store"
    return response


def _get_message(id: str) -> StoredMessage:
    message = dev_mailbox.find_message(id)
    if message is None:
        raise NotFound()
    return message


def _read_filters() -> MessageFilters:
    channel = request.args.get("channel", "")
    return {"to": request.args.get("to", "").strip(), "channel": channel if channel in CHANNELS else ""}


def _find_messages(limit: int) -> list[StoredMessage]:
    filters = _read_filters()
    return dev_mailbox.list_messages(to=filters["to"] or None, limit=limit, channel=filters["channel"] or None)
