"""Logs: one JSON object a line on standard error, with the request's id and never a secret."""

import logging
import re
import sys
from collections.abc import MutableMapping
from functools import lru_cache
from typing import Any

import structlog
from flask import has_app_context

from app.core.context import request_id
from app.core.metrics import Counter

_SECRET_NAME = re.compile(r"pass|secret|token|authorization|cookie|otp|msisdn|signature|^code$|_code$|_?key$", re.I)
_SECRET_VALUE = re.compile(
    r"eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|(?i:bearer)\s+[^\s\"',]+|[\w-]{40,}|://[^\s/@:]*:[^\s/@]+@"
    r"|(?i:password|passwd|secret|token|otp|api_?key)[\"']?\s*[=:]\s*(?:\"[^\"]*\"|'[^']*'|[^\s,;&)}]+)"
)
_PLAIN = (int, float, bool, type(None))
LOST = Counter("commerce_log_lines_lost_total", "Lines of the log that could not be written, as when a disk is full.")


class Handler(logging.StreamHandler[Any]):
    """Counts what it cannot write and lets it go: that a disk is full is no error of anyone who asked for something."""

    ours = True

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        if has_app_context():
            LOST.add()


def configure(level: str) -> None:
    """Sends structlog's and the standard library's records the same way. Safe to call again."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _with_request_id,
        structlog.processors.format_exc_info,
        mask_secrets,
    ]
    structlog.configure(
        processors=[structlog.stdlib.filter_by_level, *shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    handler = Handler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(ensure_ascii=True),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler for handler in root.handlers if not getattr(handler, "ours", False)] + [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx", "httpcore", "rq.worker", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def mask_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The record with secrets masked, by the names of its fields and by the look of their values."""
    return {name: _clean(name, value) for name, value in event.items()}


def _clean(name: str, value: Any) -> Any:
    if _names_a_secret(name) and value not in (None, ""):
        return "[masked]"
    if isinstance(value, dict):
        return {key: _clean(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean("", inner) for inner in value]
    if isinstance(value, _PLAIN):
        return value
    return _SECRET_VALUE.sub("[masked]", value if isinstance(value, str) else repr(value))


@lru_cache(1024)
def _names_a_secret(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _with_request_id(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    current = request_id.get("")
    if current:
        event["request_id"] = current
    return event
