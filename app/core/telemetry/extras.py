"""Checks that the libraries which the settings need are installed."""

from importlib.util import find_spec

from app.config import Settings, SettingsError

MODULES_BY_SETTING = {
    "SENTRY_DSN": ("sentry_sdk",),
    "OTEL_EXPORTER_OTLP_ENDPOINT": ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http"),
}
FILE = "requirements-observability.txt"


def check(settings: Settings) -> None:
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
