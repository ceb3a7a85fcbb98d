"""The modules that register jobs, deletion hooks and integrity checks; `create_app` imports all of them."""

from types import ModuleType

from flask import Flask

from app.accounts import jobs as accounts
from app.allocations import jobs as allocations
from app.applications import erasure as applications_erasure
from app.applications import jobs as applications
from app.campaigns import jobs as campaigns
from app.core.outbox import maintenance as outbox_cleanup
from app.crew import jobs as crew
from app.diagnostics import jobs as diagnostics
from app.events import jobs as events
from app.inventory import jobs as inventory
from app.invitations import jobs as invitations
from app.merchants import jobs as merchants
from app.merchants import notifications as merchants_notifications
from app.payouts import deletion_hooks as payouts_deletion_hooks
from app.payouts import jobs as payouts
from app.payouts import reviews as payouts_integrity_checks
from app.retention import jobs as retention
from app.subscriptions import jobs as subscriptions
from app.teams import jobs as teams

MODULES: tuple[ModuleType, ...] = (
    accounts,
    allocations,
    applications,
    campaigns,
    crew,
    diagnostics,
    events,
    inventory,
    invitations,
    merchants,
    payouts,
    retention,
    subscriptions,
    teams,
)
HOOKS: tuple[ModuleType, ...] = (
    applications_erasure,
    merchants_notifications,
    outbox_cleanup,
    payouts_deletion_hooks,
    payouts_integrity_checks,
)


def init_app(app: Flask) -> None:
    """Store the modules with the application."""
    app.extensions["job_modules"] = MODULES + HOOKS
