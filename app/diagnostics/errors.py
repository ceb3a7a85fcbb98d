"""Errors of diagnostics."""

from app.core.errors import Throttled


class DiagnosticsLimit(Throttled):
    number, code = 42997, "DIAGNOSTICS_LIMIT"
    message = "This network has sent 5 MiB of reports within a day; the next ones are taken later."
