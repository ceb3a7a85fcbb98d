"""Registers the `flask` commands of all domains."""

from flask import Flask

from app import demo, run_all
from app.accounts import commands as accounts_commands
from app.applications import commands as applications_commands
from app.core.command_line import explain_database_errors
from app.core.outbox import commands as outbox_commands
from app.doctor import commands as doctor_commands
from app.events import commands as events_commands
from app.inventory import commands as inventory_commands
from app.ledger import commands as ledger_commands
from app.payouts import commands as payouts_commands
from app.retention import commands as retention_commands
from app.web import docs_generator
from app.web.operations_page import links


def register(app: Flask) -> None:
    """Add every command to the application's `flask`."""
    app.cli.add_command(run_all.up)
    app.cli.add_command(demo.commands)
    outbox_commands.register(app)
    accounts_commands.register(app)
    doctor_commands.register_commands(app)
    events_commands.register(app)
    inventory_commands.register(app)
    ledger_commands.register(app)
    links.register_commands(app)
    payouts_commands.register(app)
    applications_commands.register(app)
    retention_commands.register(app)
    docs_generator.register_commands(app)
    for command in app.cli.commands.values():
        explain_database_errors(command)
