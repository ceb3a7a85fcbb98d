"""The settings of the organisation: name, logo, contact address, what its invoices show, and how long data is kept."""

from flask import Response, current_app, request, url_for
from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.accounts.organisation_details import BankDetails, load_contact, load_organisation_details
from app.accounts.permissions import MEMBERS_WRITE
from app.blueprints.pages.desk.shell import DeskPages, go_to, render_desk
from app.blueprints.pages.forms import FORM_ERRORS, FilledForm, Form, Input, find_upload_error
from app.blueprints.pages.inputs import PICTURE_ERRORS
from app.blueprints.pages.owner_confirmation import PASSWORD, ConfirmedSchema, for_owner
from app.blueprints.pages.signed_in import find_next_path
from app.core.languages import gettext, lazy_gettext
from app.media.actions import MAX_PICTURE_FORM_BYTES, store_picture
from app.teams import actions, queries
from app.web.access import may
from app.web.fields import Boolean, Email, Text
from app.web.schema import Query
from app.web.text_fields import BankNumber, GroupedDigits, Name, PostalAddress

blueprint = DeskPages("desk_settings", __name__, url_prefix="/desk/settings", max_bytes=MAX_PICTURE_FORM_BYTES)
ACCESS = may(MEMBERS_WRITE, whole_organisation=True)
DIGITS = {"invalid_number": lazy_gettext("Enter digits only. Spaces and hyphens between them do not matter.")}


class DetailsSchema(Query):
    name = Name(required=True, min=2, max=200)
    address = PostalAddress()
    contact_email = Email(data_key="contactEmail")
    vat_number = GroupedDigits(data_key="vatNumber", max=20)
    transfers_only = Boolean(data_key="transfersOnly", load_default=False)
    logo = Text()
    remove_logo = Boolean(data_key="removeLogo")


class BankSchema(ConfirmedSchema):
    account_name = Name(data_key="accountName", required=True, min=2, max=120)
    account_number = BankNumber(data_key="accountNumber", required=True, max=34)
    bank_name = Text(data_key="bankName", required=True, min=2, max=120)
    branch_code = BankNumber(data_key="branchCode", max=20)


DETAILS = Form(
    DetailsSchema,
    Input(
        "name",
        lazy_gettext("Name of the organisation"),
        autocomplete="organization",
        messages={"required": lazy_gettext("Enter the name.")},
    ),
    Input(
        "address", lazy_gettext("Address"), hint=lazy_gettext("It is on your invoices."), autocomplete="street-address"
    ),
    Input(
        "contactEmail",
        lazy_gettext("Contact address, public"),
        hint=lazy_gettext(
            "An e-mail address. It is on the pages of your events, on tickets and invoices, and answers to your mails go "
            "there. We send a link to a new address first."
        ),
        type="email",
        autocomplete="email",
    ),
    Input(
        "vatNumber",
        lazy_gettext("VAT registration number"),
        hint=lazy_gettext("Only if you are registered for VAT. With it, your invoices are tax invoices."),
        messages=DIGITS,
    ),
    Input(
        "transfersOnly",
        lazy_gettext("Stall fees only by bank transfer"),
        hint=lazy_gettext("Applicants then cannot pay from a mobile wallet. Add your bank details below."),
        type="checkbox",
    ),
    Input(
        "logo",
        lazy_gettext("Logo"),
        hint=lazy_gettext("JPEG, PNG or WebP, up to 5 MB. It is on your public pages, not on invoices and mails."),
        error_codes=PICTURE_ERRORS,
    ),
    Input("removeLogo", lazy_gettext("Remove the logo")),
)
BANK = Form(
    BankSchema,
    Input(
        "accountName",
        lazy_gettext("Name of the account"),
        messages={"required": lazy_gettext("Enter the name of the account.")},
    ),
    Input(
        "accountNumber",
        lazy_gettext("Account number"),
        inputmode="numeric",
        messages={"required": lazy_gettext("Enter the account number."), **DIGITS},
    ),
    Input("bankName", lazy_gettext("Bank"), messages={"required": lazy_gettext("Enter the name of the bank.")}),
    Input("branchCode", lazy_gettext("Branch code"), inputmode="numeric", messages=DIGITS),
    PASSWORD,
)


@blueprint.page("", access=ACCESS)
def show(caller: Caller) -> ResponseReturnValue:
    """Show the form with name, address, VAT number and logo, the bank details, and how long data is kept."""
    form, error = _fill_details(caller), find_upload_error(MAX_PICTURE_FORM_BYTES)
    return _render(caller, form.with_error(error) if error else form)


@blueprint.act("", access=ACCESS)
def change(caller: Caller) -> ResponseReturnValue:
    """Save the details. An empty field removes its value; without a file the logo stays."""
    form = DETAILS.from_request()
    try:
        values = form.load()
        remove_logo = values.pop("remove_logo", False)
        changes = actions.OrganisationChanges(
            name=values["name"],
            address=values.get("address"),
            vat_number=values.get("vat_number"),
            transfers_only=values["transfers_only"],
        )
        if "contactEmail" in request.form:
            changes["contact_email"] = values.get("contact_email")
        file = request.files.get("logo")
        if file is not None and file.filename:
            changes["logo"] = store_picture(client_id=caller.client_id, data=file.read()).url.rsplit("/", 1)[1]
        elif remove_logo:
            changes["logo"] = None
        actions.update_organisation(caller=caller, organisation=queries.get_organisation(caller), **changes)
    except FORM_ERRORS as error:
        return _render(caller, form.with_error(error))
    return go_to(url_for("desk_settings.show"), gettext("The details are saved."))


@blueprint.act("/contact-link", access=ACCESS)
def resend_contact_link(caller: Caller) -> ResponseReturnValue:
    """Mail the link of the new contact address again."""
    try:
        actions.resend_contact_link(queries.get_organisation(caller))
    except FORM_ERRORS as error:
        return _render(caller, _fill_details(caller).with_error(error))
    return go_to(url_for("desk_settings.show"), gettext("Another link is on its way."))


@blueprint.page("/bank", access=ACCESS)
def show_bank(caller: Caller) -> ResponseReturnValue:
    """Show the form for the bank details."""
    bank = load_organisation_details(caller.organisation_id).bank
    form = for_owner(BANK)
    if bank is None:
        return render_desk("desk/settings_bank.html", form=form.fill())
    filled = form.fill(
        accountName=bank.account_name,
        accountNumber=bank.account_number,
        bankName=bank.bank_name,
        branchCode=bank.branch_code or "",
    )
    return render_desk("desk/settings_bank.html", form=filled)


@blueprint.act("/bank", access=ACCESS)
def change_bank(caller: Caller) -> ResponseReturnValue:
    """Save the bank details, and go back to where they were asked for."""
    form = for_owner(BANK).from_request()
    try:
        values = form.load()
        password = values.pop("password")
        actions.update_organisation(
            caller=caller,
            organisation=queries.get_organisation(caller),
            password=password,
            bank=BankDetails(**{"branch_code": None, **values}),
        )
    except FORM_ERRORS as error:
        return render_desk("desk/settings_bank.html", form=form.with_error(error))
    done = gettext("The bank details are saved. We sent you an e-mail about it.")
    return go_to(find_next_path() or url_for("desk_settings.show"), done)


def _fill_details(caller: Caller) -> FilledForm:
    """The form with what is stored, and the contact address that waits if there is one."""
    details = load_organisation_details(caller.organisation_id)
    return DETAILS.fill(
        name=details.name,
        address=details.address or "",
        contactEmail=details.pending_contact_email or details.contact_email or "",
        vatNumber=details.vat_number or "",
        transfersOnly="true" if details.transfers_only else "",
    )


def _render(caller: Caller, form: FilledForm) -> Response:
    return render_desk(
        "desk/settings.html",
        form=form,
        details=load_organisation_details(caller.organisation_id),
        present_contact=load_contact(caller.organisation_id),
        settings=current_app.extensions["settings"],
    )
