"""Error messages of the pages. They replace API messages that only make sense to developers."""

from app.core.errors import AppError

PAGE_MESSAGES = {
    "NOT_FOUND": "We can’t find this page. Check that you copied the whole link.",
    "RATE_LIMITED": "You tried too often in a short time.",
    "SERVICE_UNAVAILABLE": "A part of this service does not work at the moment.",
    "DATABASE_UNAVAILABLE": "A part of this service does not work at the moment. What you sent may not be saved.",
    "BUSY": "Somebody else is changing the same thing right now.",
    "INTERNAL_ERROR": "This is our mistake, and we have recorded it. Please try again in a few minutes.",
    "ALREADY_ADMITTED": "This guest is already inside, so you cannot change the ticket.",
    "OTP_WRONG": "This code is wrong. Use the code in the newest message on your phone.",
    "RESET_TOKEN_INVALID": "Somebody changed the password at the same moment. Ask for a new code.",
}


def describe_error(error: AppError) -> str:
    """Return the message of an error, with the time to wait if there is one."""
    has_own_message = error.text != type(error).message
    message = error.text if has_own_message else PAGE_MESSAGES.get(error.code, error.text)
    seconds = error.headers.get("Retry-After", "")
    return f"{message} Try again in {format_wait(int(seconds))}." if seconds.isdigit() else message


def format_wait(seconds: int) -> str:
    """Return a waiting time in seconds, minutes or hours, rounded up: "3 minutes"."""
    for size, unit in ((3600, "hour"), (60, "minute")):
        if seconds > 2 * size:
            return f"{-(-seconds // size)} {unit}s"
    return f"{seconds} second{'' if seconds == 1 else 's'}"
