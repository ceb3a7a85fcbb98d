"""How a message leaves: over the way that a setting names, with a copy in the mailbox while developing."""

from collections.abc import Callable

import structlog
from flask import current_app

from app.config import Settings
from app.core.jobs import Transient
from app.core.transaction import assert_no_transaction

logger = structlog.get_logger(__name__)


def dispatch_message(
    setting: str, deliver: Callable[[str], str], keep: Callable[[], None], *, key: str, fence: Callable[[], None]
) -> str:
    """What the other side calls the message: `deliver` is given the address in the setting, and fences itself.

    Without that setting the message is kept in the mailbox, which counts as delivered; never in production.
    Raises Permanent, Transient or Ambiguous; whatever `fence` raises passes through, with nothing sent.
    """
    assert_no_transaction()
    settings: Settings = current_app.extensions["settings"]
    if url := getattr(settings, setting):
        reference = deliver(url)
        if not settings.production:
            _keep_copy(keep)
        return reference
    if settings.production:
        raise Transient(f"{setting} is not set, so no message can leave")
    fence()
    try:
        keep()
    except OSError as error:
        raise Transient(f"the mailbox cannot be written: {error.strerror}") from error
    return f"mailbox:{key}"


def _keep_copy(keep: Callable[[], None]) -> None:
    """A full disk must not make a delivered message look undelivered, or it would be sent again."""
    try:
        keep()
    except OSError as error:
        logger.warning("mailbox_copy_failed", reason=error.strerror)
