"""What a new password and a one-time code must look like, for operations and pages alike."""

from typing import Any

from app.web.fields import Secret


class NewPassword(Secret):
    """A password that is being set: any characters, exactly as typed."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(min=8, max=128, **kwargs)


class SixDigits(Secret):
    """A one-time code from a mail or a text message."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(length=6, **kwargs)
