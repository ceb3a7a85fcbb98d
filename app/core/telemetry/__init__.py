"""What leaves for Sentry and OpenTelemetry, when a setting names where to: scrubbed as the logs are, and never a body.

    extras.py   whether the libraries are here; without them the start stops with a sentence
    errors.py   report(): an error nobody foresaw, to Sentry
    spans.py    span(): how long a piece of work took, to an OpenTelemetry collector

Neither library is among the requirements; requirements-observability.in has them.
"""

from flask import Flask

from app.config import Settings
from app.core.telemetry import errors, extras, spans

__all__ = ["flush", "init_app"]


def init_app(app: Flask, settings: Settings) -> None:
    """Starts what the settings ask for. Raises SettingsError when a library for it is missing."""
    extras.check(settings)
    if settings.SENTRY_DSN:
        errors.start(app, settings.SENTRY_DSN, environment=settings.APP_ENV)
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        spans.start(app, settings.OTEL_EXPORTER_OTLP_ENDPOINT)


def flush(app: Flask) -> None:
    """Sends what is waiting: for a process that is about to end without saying so, as RQ's do."""
    errors.flush(app)
    spans.flush(app)
