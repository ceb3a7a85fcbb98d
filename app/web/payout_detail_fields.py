"""Fields for the numbers of wallets and bank accounts, which are masked when they are read."""

from typing import Any

from app.merchants.payout_details import is_masked
from app.web.fields import Phone, Text
from app.web.text_fields import BankNumber


class Digits(BankNumber):
    """An account number or a branch code, or the masked one that was read before."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        parent = Text if is_masked(value) else BankNumber
        return parent._deserialize(self, value, attr, data, **kwargs)


class Msisdn(Phone):
    """A mobile number, or the masked number that was read before."""

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        return value if is_masked(value) else super()._deserialize(value, attr, data, **kwargs)
