"""A client for the event commerce API, on the standard library alone.

    client = Client("http://localhost:8000")
    client.sign_in("frieda@example.com", "a quiet evening at Sossusvlei")
    for event in client.discover(city="Windhoek")["events"]: ...

Every method answers the `data` of the envelope, or bytes where the answer is a file; what is refused raises `ApiError`.
"""

from typing import Any

from event_commerce.operations import Operations
from event_commerce.transport import ApiError

__all__ = ["ApiError", "Client"]


class Client(Operations):
    """All operations, and one convenience."""

    def sign_in(self, email: str, password: str) -> dict[str, Any]:
        """Signs in and keeps the tokens; an access token that has run out is then renewed by itself, once a call."""
        found = self.login(email=email, password=password)
        self.access_token, self.refresh_token = found["accessToken"], found["refreshToken"]
        return found
