"""All findings, in the order in which things depend on each other."""

from app.config import Settings
from app.doctor import machine, outside, pooling, settings, stores, work
from app.doctor.findings import Finding, Findings, fail, reason

PARTS = (settings, machine, stores, pooling, work, outside)


def findings(given: Settings) -> Findings:
    """Call it in the context of the application. A check that breaks is a finding too, and the others go on."""
    for part in PARTS:
        try:
            yield from part.findings(given)
        except Exception as error:
            yield broken(part.__name__.rpartition(".")[2], error)


def broken(about: str, error: Exception) -> Finding:
    says = f"The check itself broke: {type(error).__name__}: {reason(error)}."
    return fail(about, says, "Report it with this line.")
