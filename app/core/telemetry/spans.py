"""Spans of requests, jobs and calls to the payment rail, for an OpenTelemetry collector.

Names are routes and kinds, attributes a closed list, so no address, body or token leaves. The exporter starts with the
first span of a process, so each fork has its own.
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
Fields = dict[str, object]
ATTRIBUTES = {"route", "method", "status", "request_id", "kind", "attempt", "outcome"}


class Spans:
    """The tracer of an application, one per process."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._lock = Lock()
        self._provider: Any = None
        os.register_at_fork(after_in_child=self._reset_after_fork)

    @contextmanager
    def span(self, name: str, carried: Mapping[str, str] | None = None, **about: object) -> Iterator[Fields]:
        """Time the block and yield its fields, which become attributes at the end; a field `name` renames the span.

        `carried` are request headers, which may name a trace of the caller.
        """
        tracer, fields = self._get_tracer(), dict(about)
        context = import_module("opentelemetry.propagate").extract(dict(carried)) if carried else None
        # The message of an exception may contain what a client sent, so only its type leaves.
        with tracer.start_as_current_span(
            name, context=context, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield fields
            except BaseException as error:
                fields["outcome"] = type(error).__name__
                raise
            finally:
                span.update_name(str(fields.pop("name", name)))
                for key in ATTRIBUTES & fields.keys():
                    span.set_attribute(key, fields[key])

    def _get_tracer(self) -> Any:
        with self._lock:
            if self._provider is None:
                self._provider = _start_provider(self._endpoint)
            return self._provider.get_tracer(SERVICE)

    def flush(self) -> None:
        """Wait up to two seconds for spans that are being sent."""
        if self._provider is not None:
            self._provider.force_flush(2000)

    def _reset_after_fork(self) -> None:
        self._lock, self._provider = Lock(), None


def start(app: Flask, endpoint: str) -> None:
    """Start the tracer of the application."""
    app.extensions[EXTENSION] = Spans(endpoint)


def span(name: str, **about: Any) -> AbstractContextManager[Fields]:
    """Time the block if a setting names a collector; see `Spans.span`."""
    spans: Spans | None = current_app.extensions.get(EXTENSION)
    return nullcontext({}) if spans is None else spans.span(name, **about)


def flush(app: Flask) -> None:
    """Send the spans that are queued."""
    if EXTENSION in app.extensions:
        app.extensions[EXTENSION].flush()


def _start_provider(endpoint: str) -> Any:
    """Return a provider that sends in batches in the background; while the collector is away it drops spans."""
    sdk, export = import_module("opentelemetry.sdk.trace"), import_module("opentelemetry.sdk.trace.export")
    resources = import_module("opentelemetry.sdk.resources")
    http = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    provider = sdk.TracerProvider(resource=resources.Resource.create({"service.name": SERVICE}))
    exporter = http.OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
    provider.add_span_processor(export.BatchSpanProcessor(exporter))
    return provider
