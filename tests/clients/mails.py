"""A mail to send, and the settings to send it with."""

from dataclasses import replace
from typing import Any

from flask import Flask

from app.clients.mail import Message, message_id


def configure(app: Flask, **settings: Any) -> None:
    app.extensions["settings"] = replace(app.extensions["settings"], **settings)


def mail(**fields: Any) -> Message:
    return Message(
        **{
            "to": "ndapewa@kitchen.example",
            "subject": "Your code is 123 456",
            "text": "123 456\n",
            "html": "<p>123 456</p>",
            "message_id": message_id("code:1"),
            **fields,
        }
    )


def no_fence() -> None:
    """Most mails in tests are free to go."""
