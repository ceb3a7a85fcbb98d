"""`flask admin create` and `flask keys rotate`."""

import click
from flask import Flask, current_app
from flask.cli import AppGroup

from app.accounts import actions, signing_keys
from app.accounts.models import TIERS
from app.core.addresses import is_reserved, parse_email_address
from app.core.text_normalization import clean_name

admin_group = AppGroup("admin", help="Administrators.")
signing_keys_group = AppGroup("keys", help="Keys that sign access tokens.")


def register(app: Flask) -> None:
    app.cli.add_command(admin_group)
    app.cli.add_command(signing_keys_group)


@admin_group.command("create")
@click.option("--email", required=True, prompt=True)
@click.option("--name", required=True, prompt=True)
@click.option("--tier", type=click.Choice(TIERS), default="super_admin", show_default=True)
@click.password_option(help="8 to 128 characters; prompted for if missing.")
def create_admin_command(email: str, name: str, tier: str, password: str) -> None:
    """Create an admin, or give an existing account the role."""
    if not 8 <= len(password) <= 128:
        raise click.UsageError("The password must have 8 to 128 characters.")
    try:
        address = parse_email_address(email.strip())
    except ValueError as error:
        raise click.UsageError(f"{email.strip()} is not an e-mail address.") from error
    if is_reserved(address) and current_app.extensions["settings"].production:
        raise click.UsageError(f"{address}: this domain is reserved and cannot receive mail.")
    name = clean_name(name.strip())
    if not name:
        raise click.UsageError("The name must have visible characters.")
    account_id = actions.create_admin(email=address, password=password, name=name, tier=tier)
    click.echo(f"{account_id} {address} {tier}")


@signing_keys_group.command("rotate")
def rotate_keys_command() -> None:
    """Sign with a new key from now on. Tokens signed with the old key stay valid until they expire."""
    click.echo(f"signing with {signing_keys.rotate_signing_key()}")
