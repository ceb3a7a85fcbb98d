"""Logging: one JSON object per line on standard error, with the request id and without secrets."""

import logging
import re
import sys
from functools import lru_cache
from typing import TextIO

import structlog
from flask import has_app_context
from structlog.typing import EventDict, Processor

from app.core.context import request_id
from app.core.metrics import Counter

_SECRET_NAME = re.compile(r"pass|secret|token|authorization|cookie|otp|msisdn|signature|^code$|_code$|_?key$", re.I)
_SECRET_VALUE = re.compile(
    r"eyJ[\w-]{8,}\.[\w-]+\.[\w-]*|(?i:bearer)\s+[^\s\"',]+|[\w-]{40,}|://[^\s/@:]*:[^\s/@]+@"
    r"|(?i:password|passwd|secret|token|otp|api_?key)[\"']?\s*[=:]\s*(?:\"[^\"]*\"|'[^']*'|[^\s,;&)}]+)"
)
_NEVER_SECRET = (int, float, bool, type(None))
LOST = Counter(
    "commerce_log_lines_lost_total", "Log lines that could not be written, for example because a disk is full."
)


class Handler(logging.StreamHandler[TextIO]):
    """Counts lines that it cannot write and drops them: a full disk must not fail a request."""

    is_ours = True

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        if has_app_context():
            LOST.add()


def configure(level: str) -> None:
    """Send the records of structlog and of the standard library to one handler. It may be called again."""
    shared: list[Processor] = [
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
    root.handlers = [handler for handler in root.handlers if not getattr(handler, "is_ours", False)] + [handler]
    root.setLevel(level.upper())
    for noisy in ("httpx", "httpcore", "rq.worker", "alembic"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def mask_secrets(_: object, __: str, event: EventDict) -> EventDict:
    """Return the record with secrets masked, by the names of its fields and the form of their values."""
    return {name: _mask(name, value) for name, value in event.items()}


def _mask(name: str, value: object) -> object:
    if _is_secret_name(name) and value not in (None, ""):
        return "[masked]"
    if isinstance(value, dict):
        return {key: _mask(str(key), inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_mask("", inner) for inner in value]
    if isinstance(value, _NEVER_SECRET):
        return value
    return _SECRET_VALUE.sub("[masked]", value if isinstance(value, str) else repr(value))


@lru_cache(1024)
def _is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(name) is not None


def _with_request_id(_: object, __: str, event: EventDict) -> EventDict:
    current = request_id.get("")
    if current:
        event["request_id"] = current
    return event
