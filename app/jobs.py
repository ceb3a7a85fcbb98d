"""The modules that register jobs, kinds of files, deletion hooks and integrity checks; `create_app` imports all of them."""

from types import ModuleType

from flask import Flask

from app.accounts import jobs as accounts
from app.accounts import own_data_export as accounts_data_export
from app.accounts import personal_data_jobs as accounts_personal_data
from app.allocations import data_export as allocations_data_export
from app.allocations import jobs as allocations
from app.applications import accepted_invites as applications_accepted_invites
from app.applications import carried_documents as applications_carried_documents
from app.applications import data_export as applications_data_export
from app.applications import erasure as applications_erasure
from app.applications import jobs as applications
from app.applications import moved_events as applications_moved_events
from app.applications import reminders as applications_reminders
from app.applications import stall_type_uses as applications_stall_type_uses
from app.campaigns import data_export as campaigns_data_export
from app.campaigns import jobs as campaigns
from app.core.outbox import maintenance as outbox_cleanup
from app.crew import jobs as crew
from app.desk import failed_mails as desk_failed_mails
from app.diagnostics import jobs as diagnostics
from app.events import data_export as events_data_export
from app.events import jobs as events
from app.files import jobs as files
from app.gate import integrity_checks as gate_integrity_checks
from app.inventory import jobs as inventory
from app.invitations import data_export as invitations_data_export
from app.invitations import deadlines as invitations_deadlines
from app.invitations import jobs as invitations
from app.merchants import data_export as merchants_data_export
from app.merchants import jobs as merchants
from app.merchants import notifications as merchants_notifications
from app.money import documents as money_documents
from app.money import settlement as money_settlement
from app.payouts import data_export as payouts_data_export
from app.payouts import deletion_hooks as payouts_deletion_hooks
from app.payouts import jobs as payouts
from app.payouts import reviews as payouts_integrity_checks
from app.retention import jobs as retention
from app.stall import event_changes as stall_event_changes
from app.subscriptions import data_export as subscriptions_data_export
from app.subscriptions import jobs as subscriptions
from app.teams import data_export as teams_data_export
from app.teams import jobs as teams

MODULES: tuple[ModuleType, ...] = (
    accounts,
    allocations,
    applications,
    campaigns,
    crew,
    diagnostics,
    events,
    files,
    inventory,
    invitations,
    merchants,
    payouts,
    retention,
    subscriptions,
    teams,
)
HOOKS: tuple[ModuleType, ...] = (
    accounts_data_export,
    accounts_personal_data,
    allocations_data_export,
    applications_accepted_invites,
    applications_carried_documents,
    applications_data_export,
    applications_erasure,
    applications_moved_events,
    applications_reminders,
    applications_stall_type_uses,
    campaigns_data_export,
    desk_failed_mails,
    events_data_export,
    gate_integrity_checks,
    invitations_data_export,
    invitations_deadlines,
    merchants_data_export,
    merchants_notifications,
    money_documents,
    money_settlement,
    outbox_cleanup,
    payouts_data_export,
    payouts_deletion_hooks,
    payouts_integrity_checks,
    stall_event_changes,
    subscriptions_data_export,
    teams_data_export,
)


def init_app(app: Flask) -> None:
    """Store the modules with the application."""
    app.extensions["job_modules"] = MODULES + HOOKS
