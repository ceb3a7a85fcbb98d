"""The form of a stall application: on the page of an event, and on that of an invitation link."""

from collections.abc import Mapping
from hashlib import sha256

from flask import redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.organisation_details import load_organisation_details
from app.applications import actions
from app.applications.actions.submission import SubmittedApplication
from app.applications.drafts import find_draft
from app.applications.form_terms import FormTerms, StallTypeOffer
from app.blueprints.pages.forms import FilledForm, Form, Input
from app.blueprints.pages.inputs import Amount
from app.blueprints.pages.signed_in import get_page_caller
from app.core.addresses import mask_address
from app.core.formatting import format_money
from app.core.languages import gettext, lazy_gettext, ngettext
from app.core.tokens import opaque_token
from app.merchants.queries import find_business_name
from app.web.fields import Choice, Email, Phone, Secret, Text
from app.web.rate_limits import EMAIL_REQUEST_LIMIT, count_lookup_failure, count_request
from app.web.schema import Query
from app.web.text_fields import Name, Website

SUBMIT_ROUTE = "/api/merchant-applications"
"""The page and the API operation share one rate limit."""
SENT_KEY, SAVED_KEY = "application_sent", "application_saved"
DRAFT_ARGUMENT = "draft"
HIDDEN_NAMES = ("formKey", "draftToken")


class ApplicationSchema(Query):
    business_name = Name(required=True, min=2, max=200)
    contact_name = Name(required=True, min=2, max=120)
    email = Email(required=True)
    phone = Phone(min=4, max=32)
    stall_type = Name(max=120)
    amount = Amount()
    products = Text(max=1000)
    description = Text(max=2000)
    website = Website()
    destination = Choice("payrail", "bank", required=True)
    payrail_msisdn = Phone(min=8, max=20)
    form_key = Secret(max=80)
    draft_token = Secret(max=80)


class DraftSchema(Query):
    email = Email(required=True)


class ListedTypesSchema(ApplicationSchema):
    stall_type = Name(required=True, max=120)


WRONG_PHONE = lazy_gettext("Enter a phone number like 081 123 4567.")
PHONE_MESSAGES = dict.fromkeys(("invalid_phone", "too_short", "too_long"), WRONG_PHONE)
WRONG_AMOUNT = lazy_gettext("Enter an amount like 1500, or leave this empty.")
INPUTS = (
    Input(
        "businessName",
        lazy_gettext("Name of your business"),
        autocomplete="organization",
        messages={"required": lazy_gettext("Enter the name of your business.")},
    ),
    Input(
        "contactName",
        lazy_gettext("Your name"),
        autocomplete="name",
        messages={
            "required": lazy_gettext("Enter your name."),
            "too_short": lazy_gettext("Enter your full name."),
        },
    ),
    Input(
        "email",
        lazy_gettext("E-mail address"),
        hint=lazy_gettext("We send you the decision and the next steps there."),
        type="email",
        autocomplete="email",
        inputmode="email",
        messages={"required": lazy_gettext("Enter your e-mail address.")},
    ),
    Input(
        "phone", lazy_gettext("Phone number"), type="tel", autocomplete="tel", inputmode="tel", messages=PHONE_MESSAGES
    ),
    Input("stallType", lazy_gettext("Kind of stall"), messages={"required": lazy_gettext("Choose a kind of stall.")}),
    Input(
        "amount",
        lazy_gettext("Stall fee in N$"),
        hint=lazy_gettext("The amount that you have agreed with the organiser. Leave it empty if you have not."),
        inputmode="decimal",
        messages=dict.fromkeys(("invalid_type", "too_large"), WRONG_AMOUNT),
    ),
    Input(
        "products", lazy_gettext("What do you sell?"), hint=lazy_gettext("For example: kapana, fat cakes, oshikundu.")
    ),
    Input(
        "description",
        lazy_gettext("Your story"),
        hint=lazy_gettext("Who you are, what your stall looks like, and what it needs, such as power or water."),
    ),
    Input(
        "website",
        lazy_gettext("Website"),
        type="url",
        autocomplete="url",
        inputmode="url",
        messages={"invalid_url": lazy_gettext("Enter a web address like kapana-corner.example.")},
    ),
    Input(
        "destination",
        lazy_gettext("How do you want to pay the stall fee?"),
        messages={"required": lazy_gettext("Choose how you want to pay.")},
    ),
    Input(
        "payrailMsisdn",
        lazy_gettext("Number of your mobile wallet"),
        hint=lazy_gettext("Only if you pay from a mobile wallet. You can also enter it later."),
        type="tel",
        inputmode="tel",
        messages=PHONE_MESSAGES,
    ),
    Input("formKey", ""),
    Input("draftToken", ""),
)


DRAFT = Form(DraftSchema, *(input_ for input_ in INPUTS if input_.name == "email"))


def build_form(terms: FormTerms) -> Form:
    """Return the form without the fields that the terms decide."""
    form = Form(ListedTypesSchema if terms.offers else ApplicationSchema, *INPUTS)
    # Without a fee there is nothing to choose about its payment.
    unneeded = ["destination", "payrailMsisdn"] if terms.fee_minor == 0 else []
    fixed = {"businessName": terms.business_name, "email": terms.email, "stallType": terms.stall_type}
    unneeded += [name for name, value in fixed.items() if value] + ([] if terms.asks_for_amount else ["amount"])
    for name in unneeded:
        form = form.without(name)
    return form


def fill_form(terms: FormTerms, values: Mapping[str, str] | None = None) -> FilledForm:
    """Return the form before it is sent: with the values of a draft, or those of the signed-in merchant."""
    form = build_form(terms)
    if values is None:
        caller = _find_merchant()
        values = _get_contact(caller) if caller else {}
    filled = {"destination": "payrail", **values, "formKey": opaque_token()}
    return form.fill(**{name: value for name, value in filled.items() if name in form.inputs})


def show_form(terms: FormTerms) -> tuple[FilledForm, bool]:
    """Return the form as this request asks for it, and whether the draft that it names is gone."""
    token = request.args.get(DRAFT_ARGUMENT, "")
    draft = find_draft(token, terms.event.event_id) if token.isprintable() else None
    if draft is not None:
        return fill_form(terms, {**draft.form_values, "draftToken": draft.token}), False
    if token:
        count_lookup_failure()
    return fill_form(terms), bool(token)


def receive_form(form: FilledForm, terms: FormTerms) -> ResponseReturnValue:
    """Send or save the form, and go to the page that confirms it. Raises the errors of FORM_ERRORS and of the actions."""
    if "later" in request.form:
        save_form(form, terms)
        return redirect(url_for("apply.show_saved"), 303)
    send_form(form, terms)
    return redirect(url_for("apply.show_sent"), 303)


def save_form(form: FilledForm, terms: FormTerms) -> None:
    """Save what was typed, whatever it is; only the address for the link has to be right. Raises ValidationFailed,
    Throttled."""
    count_request(EMAIL_REQUEST_LIMIT, SUBMIT_ROUTE)
    email = terms.email or DRAFT.fill(email=form.values["email"]).load()["email"]
    typed = {name: value.replace("\0", "") for name, value in form.values.items() if name not in HIDDEN_NAMES and value}
    is_mailed = actions.save_draft(
        event_id=terms.event.event_id,
        invite_slug=terms.invite_slug,
        email=email,
        form_values=typed,
        draft_token=form.values["draftToken"],
    )
    session[SAVED_KEY] = {
        "organiser_id": terms.organiser_id,
        "event_name": terms.event.event_name,
        "contact": terms.contact,
        "email": mask_address(email),
        "is_mailed": is_mailed,
    }


def send_form(form: FilledForm, terms: FormTerms) -> None:
    """Apply with the values of the form. Raises the errors of FORM_ERRORS, and those of the action."""
    count_request(EMAIL_REQUEST_LIMIT, SUBMIT_ROUTE)
    fields = form.load()
    fields.update(
        (name, value)
        for name, value in (
            ("business_name", terms.business_name),
            ("email", terms.email),
            ("stall_type", terms.stall_type),
            ("destination", "payrail" if terms.fee_minor == 0 else None),
        )
        if value
    )
    fields.pop("form_key", None)
    application = actions.submit_application(
        caller=_find_merchant(),
        event_id=terms.event.event_id,
        invite_slug=terms.invite_slug,
        amount_minor=fields.pop("amount", None),
        mode="now",
        form_key=_hash_form(form, terms),
        **fields,
    )
    _remember_sent(application, terms, fields["email"])


def was_sent(form: FilledForm, terms: FormTerms) -> bool:
    """Whether the same form has made an application already; the next page then confirms that one."""
    form_key = _hash_form(form, terms)
    application = form_key and actions.find_submitted_form(form_key=form_key, event_id=terms.event.event_id)
    if not application:
        return False
    _remember_sent(application, terms, terms.email or form.values["email"])
    return True


def _remember_sent(application: SubmittedApplication, terms: FormTerms, email: str) -> None:
    session[SENT_KEY] = {
        "id": application.id,
        "reference": application.reference,
        "amount": format_money(application.amount_minor) if application.amount_minor else "",
        "event_name": terms.event.event_name,
        "organiser_id": terms.organiser_id,
        "organiser_name": terms.event.organiser_name,
        "contact": terms.contact,
        "email": mask_address(email),
    }


def build_form_context(terms: FormTerms) -> dict[str, object]:
    """Return the variables of the template `apply_form.html`, next to the form itself."""
    organisation = load_organisation_details(terms.organiser_id)
    return {
        "terms": terms,
        "fixed_email": mask_address(terms.email) if terms.email else "",
        "stall_type_options": [
            (offer.name, offer.name, _describe_offer(offer, has_own_fee=terms.fee_minor is None))
            for offer in terms.offers
        ],
        "transfers_only": organisation.transfers_only,
        "payment_options": [
            ("payrail", gettext("From a mobile wallet"), gettext("With a code that comes to your phone.")),
            (
                "bank",
                gettext("By bank transfer"),
                gettext("To the bank account of the organiser.")
                if organisation.bank
                else gettext("Ask the organiser for the bank account later."),
            ),
        ],
    }


def _describe_offer(offer: StallTypeOffer, *, has_own_fee: bool) -> str:
    fee = (format_money(offer.fee_minor) if offer.fee_minor else gettext("No fee")) if has_own_fee else ""
    if offer.left is None:
        left = ""
    elif offer.left == 0:
        left = gettext("full, you can still apply")
    else:
        left = ngettext("%(num)s place left", "%(num)s places left", offer.left)
    return " · ".join(filter(None, (fee, left)))


def _find_merchant() -> Caller | None:
    caller = get_page_caller()
    return caller if caller is not None and "merchant" in caller.roles else None


def _get_contact(caller: Caller) -> dict[str, str]:
    contact = {
        "businessName": find_business_name(caller.id),
        "contactName": caller.name,
        "email": caller.email,
        "phone": caller.phone,
    }
    return {name: value for name, value in contact.items() if value}


def _hash_form(form: FilledForm, terms: FormTerms) -> str | None:
    """Return what is the same when the same form is sent twice, and different for another event and changed values."""
    if not form.values.get("formKey"):
        return None
    return sha256(repr([terms.event.event_id, *sorted(form.values.items())]).encode()).hexdigest()
