"""Fields that several forms have: the code from an e-mail, a new password, a link, and an amount of money."""

import re
from decimal import Decimal
from typing import Any

from app.blueprints.pages.forms import Input
from app.core import images
from app.core.languages import gettext, lazy_gettext
from app.inventory.formatting import format_quantity
from app.web.fields import Text, field_error
from app.web.schema import Query
from app.web.stock_fields import DecimalNumber
from app.web.text_fields import HttpsLink, Link, OneTimeCode
from app.web.types import RawData

PICTURE_ERRORS = tuple(error.code for error in images.PROBLEMS)
"""The errors of an uploaded picture, for the field of its file."""
MAX_AMOUNT_MINOR, MAX_AMOUNT_LENGTH = 10**12, 30
_MAY_BE_TWO = re.compile(r"([1-9]\d{0,2})[.,](\d{3})", re.ASCII)
_SPACED_THOUSANDS = re.compile(r"[1-9]\d{0,2}(\s\d{3})+([.,]\d+)?")
_FOUR_DECIMALS = re.compile(r"\d{1,15}[.,]\d{4}", re.ASCII)
_SITE = re.compile(r"\w[\w-]*(?:\.[\w-]+)+(?:[/?#]|$)")
_AMOUNT = re.compile(r"(\d+|[1-9]\d{0,2}(?:(?:,\d{3})+|(?:\.\d{3})+))(?:[.,](\d{1,2}))?")


class TypedLink(Link):
    """A link as people type it: the name of a site without a scheme gets https."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        return super()._deserialize(_add_scheme(value), attr, data, **kwargs)


class TypedHttpsLink(HttpsLink):
    """An https link as people type it: the name of a site without a scheme gets https."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        return super()._deserialize(_add_scheme(value), attr, data, **kwargs)


def _add_scheme(value: object) -> object:
    return f"https://{value.strip()}" if isinstance(value, str) and _SITE.match(value.strip()) else value


def parse_amount(text: str) -> int | None:
    """Return an amount of N$ as people type it, like `1 500` or `1,500.50`, in cents; None for another text.

    Three digits after a point are thousands only where all digits are grouped: `1.500`, but not `1500.000` and `0.500`.
    """
    text = re.sub(r"\s|N\$", "", text, flags=re.IGNORECASE)
    match = _AMOUNT.fullmatch(text) if len(text) <= MAX_AMOUNT_LENGTH and text.isascii() else None
    return int(re.sub(r"[.,]", "", match[1])) * 100 + int((match[2] or "0").ljust(2, "0")) if match else None


class Amount(Text):
    """An amount of N$ as people type it, as cents."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        amount_minor = parse_amount(super()._deserialize(value, attr, data, **kwargs))
        if amount_minor is None:
            raise field_error("invalid_type", "Must be an amount of money, like 1500.")
        if amount_minor > MAX_AMOUNT_MINOR:
            raise field_error("too_large", "This amount is too large.")
        return amount_minor


class TypedNumber(DecimalNumber):
    """A number as people type it: with a decimal comma, or blanks between thousands, as pages write them.

    `1,500` and `1.500` may be two numbers, and are refused; `1.5000` is one.
    """

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        text = str(value).strip()
        if match := _MAY_BE_TWO.fullmatch(text):
            decimal = format_typed_number(Decimal(f"{match[1]}.{match[2]}"))
            whole = match[1] + match[2]
            raise field_error(
                "ambiguous",
                gettext("Is it %(whole)s or %(decimal)s? Write it like one of these.", whole=whole, decimal=decimal),
            )
        if _SPACED_THOUSANDS.fullmatch(text):
            text = re.sub(r"\s", "", text)
        number = text if "." in text else text.replace(",", ".", 1)
        return super()._deserialize(number, attr, data, **kwargs)


def format_typed_number(number: Decimal) -> str:
    """Return a quantity as a `TypedNumber` reads it: with a fourth decimal where three would look like thousands."""
    text = format_quantity(number)
    return f"{text}0" if _MAY_BE_TWO.fullmatch(text) else text


class Price(DecimalNumber):
    """A price in N$, read like an `Amount`, or with four decimals; three would look like thousands."""

    def _deserialize(self, value: object, attr: str | None, data: RawData, **kwargs: object) -> Any:
        text = str(value).strip()
        amount_minor = parse_amount(text)
        if amount_minor is not None:
            text = f"{amount_minor // 100}.{amount_minor % 100:02}"
        elif not _FOUR_DECIMALS.fullmatch(text):
            raise field_error("invalid_type", "Must be an amount of money, like 1500.")
        return super()._deserialize(text.replace(",", "."), attr, data, **kwargs)


class CodeSchema(Query):
    code = OneTimeCode(required=True)


EMAIL_CODE = Input(
    "code",
    lazy_gettext("Code from the e-mail"),
    hint=lazy_gettext("Six digits. Spaces do not matter."),
    type="code",
    autocomplete="one-time-code",
    inputmode="numeric",
    messages={
        "required": lazy_gettext("Enter the code from the e-mail."),
        "wrong_length": lazy_gettext("Enter all six digits of the code."),
    },
    error_codes=("CODE_INVALID", "RATE_LIMITED"),
)
NEW_PASSWORD = Input(
    "password",
    lazy_gettext("New password"),
    hint=lazy_gettext("At least 8 characters. A short sentence is easy to remember and hard to guess."),
    type="password",
    autocomplete="new-password",
    messages={
        "required": lazy_gettext("Choose a new password."),
        "too_short": lazy_gettext("Choose a password of at least 8 characters."),
        "too_long": lazy_gettext("Choose a password of at most 128 characters."),
        "too_common": lazy_gettext("Choose another password. This one is easy to guess."),
    },
)
