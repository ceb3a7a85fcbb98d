"""The result of one check."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.core.logs import mask_secrets

OK, WARN, FAIL = "ok", "warn", "FAIL"
STATES = (OK, WARN, FAIL)
Findings = Iterator["Finding"]


@dataclass(frozen=True)
class Finding:
    """The subject, the state, a sentence that explains it, and advice (none when all is well)."""

    about: str
    state: str
    says: str
    do: str = ""


def ok(about: str, says: str) -> Finding:
    return Finding(about, OK, _scrub_secrets(says))


def warn(about: str, says: str, do: str) -> Finding:
    return Finding(about, WARN, _scrub_secrets(says), do)


def fail(about: str, says: str, do: str) -> Finding:
    return Finding(about, FAIL, _scrub_secrets(says), do)


def certificate_advice(error_text: str) -> str:
    """Return advice about a refused certificate; an empty text for any other error."""
    if "certificate" not in error_text.lower():
        return ""
    return (
        "Name the CA by sslrootcert= in the database URL or ssl_ca_certs= in REDIS_URL, "
        "and the server by the name in its certificate."
    )


def format_error(error: BaseException) -> str:
    """Return the first line of an error, up to 200 characters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200].rstrip(".")


def _scrub_secrets(sentence: str) -> str:
    """Return the sentence without secrets: libraries quote URLs with their passwords."""
    return str(mask_secrets(None, "", {"text": sentence})["text"])
