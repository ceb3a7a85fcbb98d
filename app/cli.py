"""`flask` commands. Each domain registers its own; what belongs to no domain stands here."""

from flask import Flask

from app import demo, run_all
from app.accounts import commands as accounts
from app.applications import commands as applications
from app.clients.payrail import commands as payrail
from app.core import commands as core
from app.core.command_errors import explain_database_errors
from app.doctor import commands as doctor
from app.events import commands as events
from app.inventory import commands as inventory
from app.ledger import commands as ledger
from app.payouts import commands as payouts
from app.retention import commands as retention
from app.web import docs_generator
from app.web.operations_page import links as overview


def register(app: Flask) -> None:
    """Adds every command to the `flask` of this application."""
    app.cli.add_command(run_all.up)
    app.cli.add_command(demo.commands)
    core.register(app)
    accounts.register(app)
    doctor.register_commands(app)
    events.register(app)
    inventory.register(app)
    ledger.register(app)
    overview.register_commands(app)
    payouts.register(app)
    applications.register(app)
    payrail.register(app)
    retention.register(app)
    docs_generator.register_commands(app)
    for command in app.cli.commands.values():
        explain_database_errors(command)
