"""Forms that are sent twice, by a second press of their button or by opening the page again: they act once."""

from collections.abc import Callable

from app.core.languages import mark_for_translation
from app.web.errors import IdempotencyInProgress, IdempotencyKeyReused
from app.web.idempotency import run_form_once

SENT_ALREADY = mark_for_translation(
    "You have sent this form already, with other values. Check what it did before you send another one."
)
STILL_RUNNING = mark_for_translation("We are still working on this form. Wait a moment, then open the page again.")


def submit_once(client_id: str, act: Callable[[], str]) -> str:
    """Do what the form says, and return its result. A form that is sent twice does it once, and gets the same result.

    Raises what `act` raises; Conflict if the form was sent before with other values, or is being worked on.
    """
    try:
        return run_form_once(client_id, act)
    except IdempotencyKeyReused as error:
        raise IdempotencyKeyReused(SENT_ALREADY) from error
    except IdempotencyInProgress as error:
        raise IdempotencyInProgress(STILL_RUNNING) from error
