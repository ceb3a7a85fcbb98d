"""Routes and pages."""

from flask import Flask

from app.blueprints import pages
from app.blueprints.accounts.admin_routes import blp as admin_accounts
from app.blueprints.accounts.personal_data_routes import blp as personal_data
from app.blueprints.accounts.profile_routes import blp as profile
from app.blueprints.accounts.routes import blp as accounts
from app.blueprints.accounts.second_factor_routes import blp as second_factor
from app.blueprints.accounts.session_routes import blp as account_sessions
from app.blueprints.allocations.document_routes import blp as allocation_documents
from app.blueprints.allocations.link_routes import blp as allocation_links
from app.blueprints.allocations.routes import blp as allocations
from app.blueprints.allocations.will_call import blp as will_call
from app.blueprints.applications.fee_routes import blp as stall_fees
from app.blueprints.applications.link_routes import activation
from app.blueprints.applications.link_routes import blp as application_links
from app.blueprints.applications.routes import blp as applications
from app.blueprints.applications.stall_type_routes import blp as stall_types
from app.blueprints.applications.statement_routes import blp as organisation_statements
from app.blueprints.audit.routes import blp as audit
from app.blueprints.campaigns.routes import blp as campaigns
from app.blueprints.crew.routes import blp as crew
from app.blueprints.desk.routes import blp as organiser_desk
from app.blueprints.diagnostics import blp as diagnostics
from app.blueprints.events.public_routes import blp as public_events
from app.blueprints.events.routes import blp as events
from app.blueprints.events.ticket_routes import blp as tickets
from app.blueprints.gate.offline_routes import blp as offline_gate
from app.blueprints.gate.routes import blp as admissions
from app.blueprints.health import blp as health
from app.blueprints.inventory.routes import blp as inventory
from app.blueprints.invitations.routes import blp as invitations
from app.blueprints.media import blp as media
from app.blueprints.merchants.routes import blp as merchants
from app.blueprints.metrics import blp as metrics
from app.blueprints.money.routes import blp as money
from app.blueprints.payouts.routes import blp as payouts
from app.blueprints.payrail import blp as payrail
from app.blueprints.subscriptions.routes import blp as subscriptions
from app.blueprints.teams.device_routes import blp as devices
from app.blueprints.teams.routes import blp as teams
from app.config import Settings
from app.web import openapi


def register_blueprints(app: Flask, settings: Settings) -> None:
    """Register the blueprints in the order in which the API documentation shows them."""
    api = openapi.create_api(app)
    for blueprint in (
        accounts,
        profile,
        second_factor,
        teams,
        devices,
        account_sessions,
        personal_data,
        admin_accounts,
        public_events,
        events,
        tickets,
        media,
        invitations,
        applications,
        application_links,
        activation,
        stall_fees,
        organisation_statements,
        stall_types,
        merchants,
        crew,
        payouts,
        allocations,
        allocation_documents,
        allocation_links,
        money,
        organiser_desk,
        will_call,
        admissions,
        offline_gate,
        inventory,
        campaigns,
        subscriptions,
        audit,
        diagnostics,
        payrail,
        health,
        metrics,
    ):
        api.register_blueprint(blueprint)
    pages.register(app, settings)
