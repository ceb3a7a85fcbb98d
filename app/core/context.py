"""What is known of the request or job that runs: its id, who acts, and the client's address."""

from contextvars import ContextVar
from typing import NamedTuple


class Actor(NamedTuple):
    """Who acts. `id` is the account, and `session_id` the session, or the device or API key that acts for the account."""

    kind: str
    id: str | None = None
    session_id: str | None = None


SYSTEM, GUEST = Actor("system"), Actor("guest")
"""A job or a command, and a request without a token."""
request_id: ContextVar[str] = ContextVar("request_id", default="")
current_actor: ContextVar[Actor] = ContextVar("current_actor", default=SYSTEM)
client_address: ContextVar[str] = ContextVar("client_address", default="")
