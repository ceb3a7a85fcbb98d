"""The pages for the details of an organisation: name, logo, and what its invoices and payment pages show."""

from flask import Response, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.organisation_details import BankDetails, load_organisation_details
from app.accounts.permissions import MEMBERS_WRITE
from app.blueprints.pages.forms import FilledForm, Form, Input, find_upload_error, render_form, submit
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.blueprints.pages.rendering import Pages
from app.blueprints.pages.signed_in import authorise_page
from app.media.actions import MAX_UPLOAD_BYTES, store_picture
from app.teams import actions, queries
from app.teams.queries import Team
from app.web.access import may
from app.web.fields import Boolean, Text
from app.web.schema import Query
from app.web.text_fields import BankNumber, Name

blueprint = Pages(
    "organisation", __name__, url_prefix="/account/organisation", needs_sign_in=True, max_bytes=MAX_UPLOAD_BYTES
)
ACCESS = may(MEMBERS_WRITE, whole_organisation=True)
DIGITS = {"invalid_number": "Enter digits only; blanks and hyphens between them are fine."}
PICTURE_ERRORS = ("IMAGE_TOO_LARGE", "IMAGE_KIND_UNSUPPORTED", "IMAGE_TOO_MANY_PIXELS", "IMAGE_UNREADABLE")


class DetailsSchema(Query):
    name = Name(required=True, min=2, max=200)
    address = Text(min=5, max=500)
    vat_number = BankNumber(data_key="vatNumber", max=20)
    logo = Text()
    remove_logo = Boolean(data_key="removeLogo")


class BankSchema(ConfirmedSchema):
    account_name = Name(data_key="accountName", required=True, min=2, max=120)
    account_number = BankNumber(data_key="accountNumber", required=True, max=34)
    bank_name = Text(data_key="bankName", required=True, min=2, max=120)
    branch_code = BankNumber(data_key="branchCode", max=20)


DETAILS = Form(
    DetailsSchema,
    Input("name", "Name of the organisation", autocomplete="organization", messages={"required": "Enter the name."}),
    Input("address", "Address", hint="It is on your invoices.", autocomplete="street-address"),
    Input(
        "vatNumber",
        "VAT registration number",
        hint="Only if you are registered for VAT. With it, your invoices are tax invoices.",
        inputmode="numeric",
        messages=DIGITS,
    ),
    Input("logo", "Logo", hint="JPEG, PNG or WebP, up to 5 MiB.", error_codes=PICTURE_ERRORS),
    Input("removeLogo", "Remove the logo"),
)
BANK = Form(
    BankSchema,
    Input("accountName", "Name of the account", messages={"required": "Enter the name of the account."}),
    Input(
        "accountNumber",
        "Account number",
        inputmode="numeric",
        messages={"required": "Enter the account number.", **DIGITS},
    ),
    Input("bankName", "Bank", messages={"required": "Enter the name of the bank."}),
    Input("branchCode", "Branch code", inputmode="numeric", messages=DIGITS),
    PASSWORD,
)


def _get_organisation() -> Team:
    return queries.get_organisation(authorise_page(ACCESS))


@blueprint.get("")
def show() -> Response:
    """Show the form with name, address, VAT number and logo, and the bank details."""
    details = load_organisation_details(_get_organisation().id)
    form = DETAILS.fill(name=details.name, address=details.address or "", vatNumber=details.vat_number or "")
    error = find_upload_error(MAX_UPLOAD_BYTES)
    return _render_details(form.with_error(error) if error else form)


@blueprint.post("")
def change() -> ResponseReturnValue:
    """Save the details. An empty field removes its value; without a file the logo stays."""
    organisation = _get_organisation()

    def save(
        name: str, address: str | None = None, vat_number: str | None = None, remove_logo: bool = False, logo: str = ""
    ) -> None:
        caller = authorise_page(ACCESS)
        changes = actions.OrganisationChanges(name=name, address=address, vat_number=vat_number)
        file = request.files.get("logo")
        if file is not None and file.filename:
            changes["logo"] = store_picture(client_id=caller.client_id, data=file.read()).url.rsplit("/", 1)[1]
        elif remove_logo:
            changes["logo"] = None
        actions.update_organisation(caller=caller, organisation=organisation, **changes)

    path = url_for("account.show")
    return submit(DETAILS.from_request(), save, _render_details, done="The details are saved.", path=path)


@blueprint.get("/bank")
def show_bank() -> Response:
    """Show the form for the bank details."""
    bank = load_organisation_details(_get_organisation().id).bank
    filled = for_owner(BANK).fill()
    if bank is not None:
        filled = for_owner(BANK).fill(
            accountName=bank.account_name,
            accountNumber=bank.account_number,
            bankName=bank.bank_name,
            branchCode=bank.branch_code or "",
        )
    return _render_bank(filled)


@blueprint.post("/bank")
def change_bank() -> ResponseReturnValue:
    """Save the bank details."""
    organisation = _get_organisation()

    def save(password: str | None, branch_code: str | None = None, **bank: str) -> None:
        caller = authorise_page(ACCESS)
        actions.update_organisation(
            caller=caller,
            organisation=organisation,
            password=password,
            bank=BankDetails(**bank, branch_code=branch_code),
        )

    return submit(
        for_owner(BANK).from_request(),
        save,
        _render_bank,
        done="The bank details are saved. We sent you an e-mail about it.",
        path=url_for("organisation.show"),
    )


def _render_details(form: FilledForm) -> Response:
    details = load_organisation_details(_get_organisation().id)
    return render_form("pages/organisation.html", form, details=details)


def _render_bank(form: FilledForm) -> Response:
    return render_form("pages/organisation_bank.html", form)
