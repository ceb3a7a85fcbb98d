"""What every log line of the same piece of work shares."""

from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")
