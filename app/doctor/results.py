"""One line of what the doctor says."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.core.logs import mask_secrets

OK, WARN, FAIL = "ok", "warn", "FAIL"
STATES = (OK, WARN, FAIL)
Findings = Iterator["Finding"]


@dataclass(frozen=True)
class Finding:
    """About what, how it stands, one sentence of what that means, and one of what to do (none when all is well)."""

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
    """What to do about a certificate that was refused; nothing about any other reason."""
    if "certificate" not in error_text.lower():
        return ""
    return (
        "Name who signed it, by sslrootcert= in the address of a database or ssl_ca_certs= in REDIS_URL, "
        "and the server as its certificate does."
    )


def format_error(error: BaseException) -> str:
    """An error in one line, after what it is about."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:200].rstrip(".")


def _scrub_secrets(sentence: str) -> str:
    """Libraries quote addresses with their passwords."""
    return str(mask_secrets(None, "", {"text": sentence})["text"])
