"""Stand-ins for sentry_sdk and OpenTelemetry: as much of them as the service uses, and what they were told."""

import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from typing import Any

import pytest


class Sentry(types.ModuleType):
    """Sends what `before_send` lets through, from an event as full as the library's own could be."""

    def __init__(self) -> None:
        super().__init__("sentry_sdk")
        self.__spec__ = ModuleSpec("sentry_sdk", None)
        self.options: dict[str, Any] = {}
        self.sent: list[dict[str, Any]] = []
        self.tags: dict[str, str] = {}
        self.flushed = 0

    def init(self, **options: Any) -> None:
        self.options = options

    @contextmanager
    def new_scope(self) -> Iterator["Sentry"]:
        self.tags = {}
        yield self

    def set_tag(self, name: str, value: str) -> None:
        self.tags[name] = value

    def capture_exception(self, error: BaseException) -> None:
        frame = {
            "function": "view",
            "filename": "routes.py",
            "lineno": 7,
            "vars": {"password": "canary-variable"},
            "context_line": "canary-source",
            "pre_context": ["canary-source"],
        }
        event = {
            "level": "error",
            "tags": self.tags,
            "request": {"data": "canary-body", "headers": {"Authorization": "canary-header"}, "url": "canary-url"},
            "user": {"id": "canary-user"},
            "extra": {"argv": "canary-extra"},
            "breadcrumbs": {"values": ["canary-crumb"]},
            "server_name": "canary-host",
            "exception": {
                "values": [{"type": type(error).__name__, "value": str(error), "stacktrace": {"frames": [frame]}}]
            },
        }
        kept = self.options["before_send"](event, {})
        if kept is not None:
            self.sent.append(kept)

    def flush(self, timeout: float) -> None:
        self.flushed += 1


class Span:
    """What one span was told."""

    def __init__(self, name: str, context: Any) -> None:
        self.name, self.context, self.attributes = name, context, dict[str, Any]()

    def set_attribute(self, name: str, value: Any) -> None:
        self.attributes[name] = value

    def update_name(self, name: str) -> None:
        self.name = name


class Tracing:
    """The modules of OpenTelemetry, and the spans that ended."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.endpoint = ""
        self.providers = self.flushed = 0

    def install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, found in {
            "opentelemetry": {},
            "opentelemetry.propagate": {"extract": lambda carrier: carrier},
            "opentelemetry.sdk": {},
            "opentelemetry.sdk.trace": {"TracerProvider": self._provider},
            "opentelemetry.sdk.trace.export": {"BatchSpanProcessor": lambda exporter: exporter},
            "opentelemetry.sdk.resources": {"Resource": types.SimpleNamespace(create=lambda about: about)},
            "opentelemetry.exporter": {},
            "opentelemetry.exporter.otlp": {},
            "opentelemetry.exporter.otlp.proto": {},
            "opentelemetry.exporter.otlp.proto.http": {},
            "opentelemetry.exporter.otlp.proto.http.trace_exporter": {"OTLPSpanExporter": self._exporter},
        }.items():
            module = types.ModuleType(name)
            module.__spec__, module.__path__ = ModuleSpec(name, None), []
            vars(module).update(found)
            monkeypatch.setitem(sys.modules, name, module)

    def _provider(self, resource: dict[str, str]) -> "Tracing":
        self.providers += 1
        return self

    def _exporter(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def add_span_processor(self, processor: object) -> None:
        """Everything that ends is kept."""

    def get_tracer(self, name: str) -> "Tracing":
        return self

    def force_flush(self, milliseconds: int) -> None:
        self.flushed += 1

    @contextmanager
    def start_as_current_span(self, name: str, *, context: Any, **options: Any) -> Iterator[Span]:
        assert options == {"record_exception": False, "set_status_on_exception": False}
        span = Span(name, context)
        self.spans.append(span)
        yield span
