"""Spans: requests, work and exchanges with the rail, told to an OpenTelemetry collector.

Their names are routes and kinds, their attributes a closed list; no address, body or token is ever one. The exporter
starts with the first span of a process, so each fork has its own.
"""

import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from threading import Lock
from typing import Any

from flask import Flask, current_app

EXTENSION = "spans"
SERVICE = "event-commerce"
ATTRIBUTES = {"route", "method", "status", "request_id", "kind", "attempt", "outcome"}


class Spans:
    """The tracer of an application, made anew in each process."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._lock = Lock()
        self._provider: Any = None
        os.register_at_fork(after_in_child=self._forked)

    @contextmanager
    def span(self, name: str, carried: Mapping[str, str] | None = None, **about: Any) -> Iterator[dict[str, Any]]:
        """Times the block. What is put into the dictionary is told when it ends, and may rename the span (`name`).

        `carried` are headers in which a caller may have named a trace of its own.
        """
        tracer, result = self._of_this_process(), dict(about)
        context = import_module("opentelemetry.propagate").extract(dict(carried)) if carried else None
        # What an exception says may hold what a client sent: its type is all that is told.
        with tracer.start_as_current_span(
            name, context=context, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield result
            except BaseException as error:
                result["outcome"] = type(error).__name__
                raise
            finally:
                span.update_name(str(result.pop("name", name)))
                for key in ATTRIBUTES & result.keys():
                    span.set_attribute(key, result[key])

    def _of_this_process(self) -> Any:
        with self._lock:
            if self._provider is None:
                self._provider = _provider(self._endpoint)
            return self._provider.get_tracer(SERVICE)

    def flush(self) -> None:
        """Waits a moment for what is on its way."""
        if self._provider is not None:
            self._provider.force_flush(2000)

    def _forked(self) -> None:
        self._lock, self._provider = Lock(), None


def start(app: Flask, endpoint: str) -> None:
    app.extensions[EXTENSION] = Spans(endpoint)


def span(name: str, **about: Any) -> AbstractContextManager[dict[str, Any]]:
    """Times the block, when somebody wants to know."""
    spans: Spans | None = current_app.extensions.get(EXTENSION)
    return nullcontext({}) if spans is None else spans.span(name, **about)


def flush(app: Flask) -> None:
    """Sends what is waiting."""
    if EXTENSION in app.extensions:
        app.extensions[EXTENSION].flush()


def _provider(endpoint: str) -> Any:
    """Sends in the background, in batches; when the collector is away, spans are dropped."""
    sdk, export = import_module("opentelemetry.sdk.trace"), import_module("opentelemetry.sdk.trace.export")
    resources = import_module("opentelemetry.sdk.resources")
    http = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": SERVICE}))
    exporter = http.OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(export.BatchSpanProcessor(exporter))
    return provider
