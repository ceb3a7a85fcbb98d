"""Sends unexpected errors to Sentry: the type, the masked first line and the stack.

Bodies, headers, queries, local variables and log lines never leave. Sentry's own integrations are off; only `report()`
sends.
"""

from importlib import import_module
from typing import TypedDict

from flask import Flask, current_app
from structlog.typing import EventDict

from app.core.context import request_id
from app.core.logs import mask_secrets

EXTENSION = "sentry"
SENT_FIELDS = {"event_id", "timestamp", "level", "platform", "environment", "release", "exception", "tags", "sdk"}
LOCAL_FIELDS = ("vars", "pre_context", "context_line", "post_context")
MAX_LENGTH = 300


class StackTrace(TypedDict):
    """The stack of an exception in Sentry's format."""

    frames: list[dict[str, object]]


class SentException(TypedDict, total=False):
    """An exception in Sentry's format."""

    value: object
    stacktrace: StackTrace | None


def start(app: Flask, dsn: str, *, environment: str) -> None:
    """Start Sentry for the application."""
    sentry = import_module("sentry_sdk")
    sentry.init(
        dsn=dsn,
        environment=environment,
        before_send=without_secrets,
        default_integrations=False,
        auto_enabling_integrations=False,
        include_local_variables=False,
        include_source_context=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        send_default_pii=False,
        server_name="",
        traces_sample_rate=0,
    )
    app.extensions[EXTENSION] = sentry


def report(error: BaseException, **tags: str) -> None:
    """Send an error to Sentry, if a setting names it. It never raises; `tags` are routes and kinds, never values."""
    sentry = current_app.extensions.get(EXTENSION)
    if sentry is None:
        return
    with sentry.new_scope() as scope:
        for name, value in {**tags, "request_id": request_id.get("")}.items():
            scope.set_tag(name, value)
        scope.capture_exception(error)


def flush(app: Flask) -> None:
    """Wait up to two seconds for errors that are being sent."""
    if EXTENSION in app.extensions:
        app.extensions[EXTENSION].flush(timeout=2.0)


def without_secrets(event: EventDict, hint: object = None) -> EventDict:
    """Return the event with the fields that may leave, secrets masked."""
    sent = {name: value for name, value in event.items() if name in SENT_FIELDS}
    exceptions: list[SentException] = sent.get("exception", {}).get("values", [])
    for exception in exceptions:
        # Drivers quote values from the second line on.
        first_line = (str(exception.get("value") or "").splitlines() or [""])[0]
        exception["value"] = mask_secrets(None, "", {"text": first_line[:MAX_LENGTH]})["text"]
        stack = exception.get("stacktrace")
        for frame in stack.get("frames", []) if stack else []:
            for name in LOCAL_FIELDS:
                frame.pop(name, None)
    return sent
