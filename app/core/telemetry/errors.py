"""Errors that nobody foresaw, told to Sentry: the type, the scrubbed first line and where it happened.

Never a body, a header, a query, a local variable or a line of the log. What Sentry's own integrations would gather is
off; `report()` is the only way there.
"""

from collections.abc import MutableMapping
from importlib import import_module
from typing import Any

from flask import Flask, current_app

from app.core.context import request_id
from app.core.logs import mask_secrets

EXTENSION = "sentry"
KEPT = {"event_id", "timestamp", "level", "platform", "environment", "release", "exception", "tags", "sdk"}
LONGEST = 300


def start(app: Flask, dsn: str, *, environment: str) -> None:
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
    """Tells Sentry of an error, if there is one to tell. Never raises; `tags` are routes and kinds, never values."""
    sentry = current_app.extensions.get(EXTENSION)
    if sentry is None:
        return
    with sentry.new_scope() as scope:
        for name, value in {**tags, "request_id": request_id.get("")}.items():
            scope.set_tag(name, value)
        scope.capture_exception(error)


def flush(app: Flask) -> None:
    """Waits a moment for what is on its way."""
    if EXTENSION in app.extensions:
        app.extensions[EXTENSION].flush(timeout=2.0)


def without_secrets(event: MutableMapping[str, Any], hint: object = None) -> MutableMapping[str, Any]:
    """What may leave of an event."""
    kept: dict[str, Any] = {name: value for name, value in event.items() if name in KEPT}
    for item in kept.get("exception", {}).get("values", ()):
        # Drivers quote values from the second line on.
        first = (str(item.get("value") or "").splitlines() or [""])[0]
        item["value"] = mask_secrets(None, "", {"text": first[:LONGEST]})["text"]
        for frame in (item.get("stacktrace") or {}).get("frames", ()):
            for result in ("vars", "pre_context", "context_line", "post_context"):
                frame.pop(result, None)
    return kept
