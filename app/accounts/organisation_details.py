"""What an organisation says of itself on invoices and pages: name, addresses, VAT number, bank details and logo."""

from dataclasses import dataclass
from typing import Any

from flask import current_app
from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import QueryableAttribute, aliased
from sqlalchemy.orm import Session as OrmSession

from app.accounts.models import Account, OrganiserProfile
from app.accounts.queries import owner_id_sql
from app.core.db import db


@dataclass(frozen=True)
class BankDetails:
    """The account to which people transfer money."""

    account_name: str
    account_number: str
    bank_name: str
    branch_code: str | None


@dataclass(frozen=True)
class OrganisationDetails:
    """The details of an organisation. It is registered for VAT if it has a VAT number.

    `contact_email` is None while people write to the address with which the owner signs in. `pending_contact_email` is
    not confirmed yet. With `transfers_only` stall fees are paid by bank transfer, not from mobile wallets.
    """

    name: str
    address: str | None = None
    vat_number: str | None = None
    bank: BankDetails | None = None
    logo_url: str | None = None
    contact_email: str | None = None
    pending_contact_email: str | None = None
    transfers_only: bool = False


DETAIL_COLUMNS: tuple[QueryableAttribute[Any] | ColumnElement[Any], ...] = (
    OrganiserProfile.address,
    OrganiserProfile.vat_number,
    OrganiserProfile.bank_account_name,
    OrganiserProfile.bank_account_number,
    OrganiserProfile.bank_name,
    OrganiserProfile.bank_branch_code,
    OrganiserProfile.logo,
    OrganiserProfile.contact_email,
    OrganiserProfile.pending_contact_email,
    func.coalesce(OrganiserProfile.transfers_only, False),
)
"""The columns that `build_details` reads after the name."""


def load_organisation_details(organisation_id: str, session: OrmSession | None = None) -> OrganisationDetails:
    """The details of an organisation; of an account without a profile, its name."""
    row = (
        (session or db.session)
        .execute(
            select(func.coalesce(OrganiserProfile.org_name, Account.name), *DETAIL_COLUMNS)
            .select_from(Account)
            .outerjoin(OrganiserProfile, OrganiserProfile.account_id == Account.id)
            .where(Account.id == organisation_id)
        )
        .one()
    )
    return build_details(*row)


def contact_sql(
    organisation_id: ColumnElement[Any] | QueryableAttribute[Any], owner: Any = Account
) -> ColumnElement[str]:
    """Where people write to an organisation: its own contact address, else that of `owner`, whom the query joins."""
    own = select(OrganiserProfile.contact_email).where(OrganiserProfile.account_id == organisation_id)
    return func.coalesce(own.correlate_except(OrganiserProfile).scalar_subquery(), owner.email)


def load_contact(organisation_id: str) -> str:
    """Where people write to an organisation."""
    organisation = aliased(Account)
    statement = (
        select(contact_sql(organisation.id))
        .select_from(organisation)
        .join(Account, Account.id == owner_id_sql(organisation.id))
        .where(organisation.id == organisation_id)
    )
    return str(db.session.execute(statement).scalar_one())


def build_details(
    name: str,
    address: str | None,
    vat_number: str | None,
    bank_account_name: str | None,
    bank_account_number: str | None,
    bank_name: str | None,
    bank_branch_code: str | None,
    logo: str | None,
    contact_email: str | None,
    pending_contact_email: str | None,
    transfers_only: bool,
) -> OrganisationDetails:
    """The details from the name and the values of `DETAIL_COLUMNS`."""
    bank = None
    if bank_account_name and bank_account_number and bank_name:
        bank = BankDetails(bank_account_name, bank_account_number, bank_name, bank_branch_code)
    logo_url = f"{current_app.extensions['settings'].PUBLIC_BASE_URL}/media/{logo}" if logo else None
    return OrganisationDetails(
        name, address, vat_number, bank, logo_url, contact_email, pending_contact_email, transfers_only
    )
