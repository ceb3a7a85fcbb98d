"""What forms of the desk share: the version of what they change, and how they read and show numbers and amounts."""

from collections.abc import Callable

from app.blueprints.pages.forms import Form, Input
from app.core.errors import AppError, ValidationFailed
from app.core.languages import lazy_gettext
from app.web.fields import Text, WholeNumber
from app.web.schema import Query

WRONG_NUMBER = lazy_gettext("Enter a whole number.")
WRONG_PRICE = {
    "required": lazy_gettext("Enter a price; 0 is free."),
    "invalid_type": lazy_gettext("Enter an amount like 450 or 450.50."),
}
VERSION = Input("version", "", type="hidden")
PAY_BY = Input(
    "payBy",
    lazy_gettext("To be paid by"),
    hint=lazy_gettext("Empty: two weeks after the approval, or the day that the applicant has chosen."),
    type="date",
    messages={
        "invalid_type": lazy_gettext("Enter a day like 2026-12-04."),
        "too_small": lazy_gettext("Choose today or a later day."),
        "too_large": lazy_gettext("Choose a day before the event ends."),
    },
)


class VersionSchema(Query):
    """A form that changes something: `version` is the one that it was filled with."""

    version = WholeNumber(required=True)


class FactsSchema(Query):
    """A form that changes facts of a block. `facts` is the digest of those that it was filled with.

    The version of the block would be too strict: it changes with each place that is handed out.
    """

    facts = Text(required=True, max=32)


FACTS = Input(
    "facts",
    "",
    type="hidden",
    messages={"required": lazy_gettext("This form does not work any more. Open the page again.")},
)
REMOVAL = Form(VersionSchema, VERSION)
"""A form without fields, for a removal that somebody confirms."""


def format_amount(amount_minor: int) -> str:
    """Return cents as people type them into a form: `450`, `450.50`."""
    return f"{amount_minor // 100}" + (f".{amount_minor % 100:02d}" if amount_minor % 100 else "")


def explain_amount(error: AppError, describe: Callable[[], str]) -> AppError:
    """Return the error with this text for an amount that is not the one that is due; `describe` runs only for that."""
    if not isinstance(error, ValidationFailed):
        return error
    problems = error.data["errors"]
    return ValidationFailed(
        [{**problem, "message": describe()} if problem["code"] == "wrong_fee" else problem for problem in problems]
    )
