"""Changing the details and the settings of an organisation."""

from collections.abc import Callable, Mapping
from typing import TypedDict, Unpack

from app.accounts.authentication import confirm_owner
from app.accounts.caller import Caller
from app.accounts.errors import SecondFactorOff
from app.accounts.models import OrganiserProfile
from app.accounts.organisation_details import BankDetails
from app.accounts.outgoing_mail import enqueue_notice
from app.audit.actions import Action
from app.audit.log import record
from app.core.addresses import mask_address, mask_number
from app.core.errors import NotFound
from app.core.transaction import transaction
from app.teams.actions.contact import announce_contact, plan_contact
from app.teams.queries import Team, find_owner_id

ACCOUNT_NUMBER = "bank_account_number"
MASKS: Mapping[str, Callable[[str], str | None]] = {
    ACCOUNT_NUMBER: mask_number,
    "contact_email": mask_address,
    "pending_contact_email": mask_address,
}
BANK_COLUMNS = ("bank_account_name", ACCOUNT_NUMBER, "bank_name", "bank_branch_code")


class OrganisationChanges(TypedDict, total=False):
    """Fields to change; None removes one."""

    name: str
    address: str | None
    vat_number: str | None
    bank: BankDetails | None
    logo: str | None
    contact_email: str | None
    requires_second_factor: bool
    transfers_only: bool


def update_organisation(
    *, caller: Caller, organisation: Team, password: str | None = None, **changes: Unpack[OrganisationChanges]
) -> None:
    """Change what is given. Bank details need a confirmation by password or a recent sign-in, and the owner gets a mail.

    A new contact address counts when its mailbox has confirmed it, by the link of a mail; the owner gets a mail then.

    With `requires_second_factor`, members without one lose what the organisation has given them until they turn it on.
    Raises NotFound without an organisation's profile, SecondFactorOff for an owner who has none themselves,
    ConfirmationRequired, CurrentPasswordWrong, Throttled, SenderNotVerified, MailLimitReached.
    """
    if changes.get("requires_second_factor") and not caller.has_second_factor:
        raise SecondFactorOff()
    if "bank" in changes:
        confirm_owner(caller, password)
    values = _list_values(changes)
    with transaction() as session:
        profile = session.get(OrganiserProfile, organisation.id, with_for_update=True, populate_existing=True)
        if profile is None:
            raise NotFound()
        if "contact_email" in changes:
            values |= plan_contact(session, caller, profile, changes["contact_email"])
        changed = {name: value for name, value in values.items() if getattr(profile, name) != value}
        for name, value in changed.items():
            setattr(profile, name, value)
        if not changed:
            return
        record(
            session,
            Action.ORGANISATION_CHANGED,
            organisation_id=organisation.id,
            subject=organisation.id,
            data={
                name: MASKS[name](str(value)) if value and name in MASKS else value for name, value in changed.items()
            },
        )
        if "contact_email" in changed:
            announce_contact(session, profile)
        if changed.keys() & set(BANK_COLUMNS):
            enqueue_notice(
                "bank_details_changed",
                find_owner_id(session, organisation),
                organisation=profile.org_name,
                bank_account=mask_number(profile.bank_account_number) if profile.bank_account_number else None,
                person=caller.name,
            )


def _list_values(changes: OrganisationChanges) -> dict[str, object]:
    """The changes by column."""
    values: dict[str, object] = {
        name: value for name, value in changes.items() if name not in ("name", "bank", "contact_email")
    }
    if "name" in changes:
        values["org_name"] = changes["name"]
    if "bank" in changes:
        bank = changes["bank"]
        columns = (bank.account_name, bank.account_number, bank.bank_name, bank.branch_code) if bank else (None,) * 4
        values |= dict(zip(BANK_COLUMNS, columns, strict=True))
    return values
