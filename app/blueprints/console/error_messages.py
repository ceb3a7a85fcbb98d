"""Errors in the words of a page: the API's sentences, where those speak to programs, said to people."""

from app.core.errors import AppError

SENTENCES = {
    "NOT_FOUND": "We can’t find this page. Check that you copied the whole link.",
    "RATE_LIMITED": "Too many tries in a short time.",
    "SERVICE_UNAVAILABLE": "A part of the service is away for a moment.",
    "DATABASE_UNAVAILABLE": "A part of the service is away for a moment. What you sent may not have been kept.",
    "BUSY": "Others are changing the same thing right now.",
    "INTERNAL_ERROR": "The fault is ours, and it has been noted. Try again in a few minutes.",
    "ALREADY_ADMITTED": "This guest has been admitted, so the ticket stays as it is.",
    "OTP_WRONG": "This is not the code. Take the newest message on your phone.",
    "RESET_TOKEN_INVALID": "The password was changed elsewhere at the same moment. Ask for a new code.",
}


def describe_error(error: AppError) -> str:
    """What went wrong and, where waiting helps, for how long."""
    own = error.text != type(error).message
    sentence = error.text if own else SENTENCES.get(error.code, error.text)
    seconds = error.headers.get("Retry-After", "")
    return f"{sentence} Try again in {format_wait(int(seconds))}." if seconds.isdigit() else sentence


def format_wait(seconds: int) -> str:
    """A time to wait, in the unit one thinks in, never shorter than it is."""
    for size, unit in ((3600, "hour"), (60, "minute")):
        if seconds > 2 * size:
            return f"{-(-seconds // size)} {unit}s"
    return f"{seconds} second{'' if seconds == 1 else 's'}"
