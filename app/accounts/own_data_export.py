"""The account itself in the copy of a person's data: profile, roles, sign-ins, and what admins told them they did."""

from sqlalchemy import select

from app.accounts.caller import PERSON
from app.accounts.data_export import ExportOwner, export_part, list_rows
from app.accounts.models import Account, AccountSession, ExternalIdentity, OrganiserProfile
from app.accounts.own_account_models import AddressChange
from app.accounts.personal_data_models import AccountAct, DataExport
from app.audit.models import AuditEntry


@export_part("account")
def export_account(owner: ExportOwner) -> dict[str, object]:
    account_query = select(
        Account.id,
        Account.email,
        Account.email_verified_at,
        Account.name,
        Account.phone,
        Account.language,
        Account.second_factor_since,
        Account.roles,
        Account.admin_tier,
        Account.admin_title,
        Account.created_at,
        Account.updated_at,
        Account.deletion_due_at,
        OrganiserProfile.org_name.label("organisation"),
    ).outerjoin(OrganiserProfile, OrganiserProfile.account_id == Account.id)
    acts_query = select(AccountAct.verb, AccountAct.reason, AccountAct.at).where(
        AccountAct.account_id == owner.account_id, AccountAct.owner_told
    )
    changes_query = select(
        AddressChange.old_email, AddressChange.new_email, AddressChange.created_at, AddressChange.confirmed_at
    ).where(AddressChange.account_id == owner.account_id)
    exports_query = select(DataExport.created_at, DataExport.status, DataExport.expires_at).where(
        DataExport.account_id == owner.account_id
    )
    return {
        **list_rows(account_query.where(Account.id == owner.account_id))[0],
        "acts_of_admins": list_rows(acts_query.order_by(AccountAct.id)),
        "changes_of_address": list_rows(changes_query.order_by(AddressChange.id)),
        "copies_of_data": list_rows(exports_query.order_by(DataExport.id)),
    }


@export_part("sign_ins")
def export_sign_ins(owner: ExportOwner) -> dict[str, object]:
    sessions_query = select(
        AccountSession.kind,
        AccountSession.device,
        AccountSession.network,
        AccountSession.created_at,
        AccountSession.last_seen_at,
        AccountSession.ended_at,
        AccountSession.end_reason,
    ).where(AccountSession.account_id == owner.account_id)
    identities_query = select(ExternalIdentity.provider, ExternalIdentity.subject, ExternalIdentity.linked_at).where(
        ExternalIdentity.account_id == owner.account_id
    )
    return {
        "sessions": list_rows(sessions_query.order_by(AccountSession.created_at)),
        "providers": list_rows(identities_query.order_by(ExternalIdentity.linked_at)),
    }


@export_part("history")
def export_history(owner: ExportOwner) -> list[dict[str, object]]:
    """What the person did, as the audit trail has it; not what the devices and keys of their organisation did."""
    query = select(
        AuditEntry.at,
        AuditEntry.action,
        AuditEntry.subject_kind,
        AuditEntry.subject_id,
        AuditEntry.event_id,
        AuditEntry.network,
    ).where(AuditEntry.actor_id == owner.account_id, AuditEntry.actor_kind == PERSON)
    return list_rows(query.order_by(AuditEntry.at, AuditEntry.id))
