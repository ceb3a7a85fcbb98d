"""A bank statement that pays stall fees and invoices of blocks of all events of the organisation."""

from flask.typing import ResponseReturnValue

from app.accounts.caller import Caller
from app.blueprints.pages.desk.organisation_money import SETTLE, blueprint
from app.blueprints.pages.desk.stall_statement import answer_statement, show_statement_form


@blueprint.page("/statement", access=SETTLE)
def choose_statement(caller: Caller) -> ResponseReturnValue:
    """Show the form for a bank statement."""
    return show_statement_form(caller, None)


@blueprint.act("/statement", access=SETTLE)
def read_statement(caller: Caller) -> ResponseReturnValue:
    """Say what the rows of a file pay, ask for its columns, or record the rows that the page said."""
    return answer_statement(caller, None)
