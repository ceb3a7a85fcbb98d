"""Sentry and OpenTelemetry, when a setting names them; secrets are masked as in the logs, and bodies never leave.

    errors.py   report(): sends an unexpected error to Sentry
    spans.py    span(): sends the duration of a request or job to an OpenTelemetry collector

requirements-observability.txt has the libraries.
"""

from importlib.util import find_spec

from flask import Flask

from app.config import Settings, SettingsError
from app.core.telemetry import errors, spans

__all__ = ["flush", "init_app"]


def init_app(app: Flask, settings: Settings) -> None:
    """Start what the settings name. Raises SettingsError when its library is missing."""
    _check_libraries(settings)
    if settings.SENTRY_DSN:
        errors.start(app, settings.SENTRY_DSN, environment=settings.APP_ENV)
    if settings.OTEL_EXPORTER_OTLP_ENDPOINT:
        spans.start(app, settings.OTEL_EXPORTER_OTLP_ENDPOINT)


def flush(app: Flask) -> None:
    """Send what is queued, before a process exits without cleanup as RQ's do."""
    errors.flush(app)
    spans.flush(app)


MODULES_BY_SETTING = {
    "SENTRY_DSN": ("sentry_sdk",),
    "OTEL_EXPORTER_OTLP_ENDPOINT": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
}
FILE = "requirements-observability.txt"


def _check_libraries(settings: Settings) -> None:
    """Check the libraries. Raises SettingsError with a sentence for each that is missing."""
    problems = [
        f"{name}: needs {module}, which is not installed; run `.venv/bin/pip install -r {FILE}` or unset {name}."
        for name, modules in MODULES_BY_SETTING.items()
        for module in modules
        if getattr(settings, name) and not _is_installed(module)
    ]
    if problems:
        raise SettingsError("\n".join(problems))


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):
        return False
