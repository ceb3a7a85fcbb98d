"""Sentry and OpenTelemetry, when a setting names them; secrets are masked as in the logs, and bodies never leave.

    extras.py   checks at the start that the libraries are installed
    errors.py   report(): sends an unexpected error to Sentry
    spans.py    span(): sends the duration of a request or job to an OpenTelemetry collector

requirements-observability.txt has the libraries.
"""

from flask import Flask

from app.config import Settings
from app.core.telemetry import errors, extras, spans

__all__ = ["flush", "init_app"]


def init_app(app: Flask, settings: Settings) -> None:
    """Start what the settings name. Raises SettingsError when its library is missing."""
    extras.check(settings)
    if settings.SENTRY_DSN:
        errors.start(app, settings.SENTRY_DSN, environment=settings.APP_ENV)
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        spans.start(app, settings.OTEL_EXPORTER_OTLP_ENDPOINT)


def flush(app: Flask) -> None:
    """Send what is queued, before a process exits without cleanup as RQ's do."""
    errors.flush(app)
    spans.flush(app)
