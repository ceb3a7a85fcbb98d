"""The request id, which every log line of a request or job has."""

from contextvars import ContextVar

request_id: ContextVar[str] = ContextVar("request_id", default="")
