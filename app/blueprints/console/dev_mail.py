"""The development mailbox: every mail, SMS and push message that was sent. Never registered in production."""

from flask import Response, jsonify, make_response, request

from app.blueprints.console.rendering import Pages, page
from app.clients import dev_mailbox
from app.clients.dev_mailbox import StoredMessage
from app.core.errors import NotFound

blueprint = Pages("dev_mail", __name__)

MAX_SHOWN = 200
CHANNELS = {"": "All", "email": "Mail", "sms": "SMS", "push": "Push"}
MAIL_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data: 'self'"


@blueprint.get("/dev/mail")
def list_messages() -> Response:
    """The newest messages, all or those to one address, on one channel or on any."""
    parameters = _filters()
    return page(
        "console/mailbox.html",
        messages=_find_messages(MAX_SHOWN),
        **parameters,
        channels=CHANNELS,
        max_messages=MAX_SHOWN,
    )


@blueprint.get("/dev/mail.json")
def as_json() -> Response:
    """The same as a list, for programs that try the service out."""
    response = jsonify(
        [{name: item[name] for name in dev_mailbox.PUBLIC_FIELDS} for item in _find_messages(dev_mailbox.MAX_MESSAGES)]
    )
    response.headers["Cache-Control"] = "no-store"
    return response


@blueprint.get("/dev/mail/<id>")
def show_message(id: str) -> Response:
    """One message: how it looks, its text, its headers."""
    return page("console/message.html", message=_message(id))


@blueprint.get("/dev/mail/<id>/html")
def framed(id: str) -> Response:
    """The mail's HTML alone, for the frame; it may run nothing, and load nothing but our own pictures."""
    response = make_response(_message(id)["html"] or "")
    response.headers["Content-Security-Policy"] = MAIL_POLICY
    response.headers["X-Frame-Options"] = "SAMEORIGIN"
    response.headers["Cache-Control"] = "no-store"
    return response


def _message(id: str) -> StoredMessage:
    message = dev_mailbox.find_message(id)
    if message is None:
        raise NotFound()
    return message


def _filters() -> dict[str, str]:
    channel = request.args.get("channel", "")
    return {"to": request.args.get("to", "").strip(), "channel": channel if channel in CHANNELS else ""}


def _find_messages(most: int) -> list[StoredMessage]:
    parameters = _filters()
    return dev_mailbox.list_messages(to=parameters["to"] or None, limit=most, channel=parameters["channel"] or None)
