"""The metric of sent messages, for all channels."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from app.core.jobs import Ambiguous, Permanent, Transient
from app.core.metrics import Counter

Channel = Literal["mail", "sms", "push"]
MESSAGES = Counter(
    "commerce_messages_total",
    "Messages to people, by channel (mail, sms, push) and by what came of it: sent, refused for good, put off (tried "
    "again later), unknown (handed over, and no answer came), failed (an error of ours).",
    ("channel", "outcome"),
)


@contextmanager
def count_message(channel: Channel) -> Iterator[None]:
    """Count how the block ends; its exceptions pass through."""
    outcome = "failed"
    try:
        yield
        outcome = "sent"
    except Permanent:
        outcome = "refused"
        raise
    except Transient:
        outcome = "put_off"
        raise
    except Ambiguous:
        outcome = "unknown"
        raise
    finally:
        MESSAGES.add(channel, outcome)
