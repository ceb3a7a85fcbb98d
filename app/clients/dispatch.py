"""Dispatch of a message to the service that a setting names, with a copy in the mailbox outside production."""

from collections.abc import Callable

import structlog
from flask import current_app

from app.config import Settings
from app.core.jobs import Transient
from app.core.transaction import assert_no_transaction

logger = structlog.get_logger(__name__)


def dispatch_message(
    setting: str, deliver: Callable[[str], str], store_copy: Callable[[], None], *, key: str, fence: Callable[[], None]
) -> str:
    """Deliver a message; return the reference that the service gave it. `deliver` gets the setting's URL and fences.

    Without the setting the message is stored in the mailbox, which counts as delivered, except in production.
    Raises Permanent, Transient or Ambiguous. If `fence` raises, nothing was sent.
    """
    assert_no_transaction()
    settings: Settings = current_app.extensions["settings"]
    if url := getattr(settings, setting):
        reference = deliver(url)
        if not settings.production:
            _try_to_store(store_copy)
        return reference
    if settings.production:
        raise Transient(f"{setting} is not set, so no message can leave")
    fence()
    try:
        store_copy()
    except OSError as error:
        raise Transient(f"the mailbox cannot be written: {error.strerror}") from error
    return f"mailbox:{key}"


def _try_to_store(store_copy: Callable[[], None]) -> None:
    """Store the copy. A full disk is only logged; otherwise the delivered message would be sent again."""
    try:
        store_copy()
    except OSError as error:
        logger.warning("mailbox_copy_failed", reason=error.strerror)
