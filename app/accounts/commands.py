"""`flask admin create`, `flask accounts reset-second-factor` and `flask keys rotate`."""

import click
from flask import Flask, current_app
from flask.cli import AppGroup

from app.accounts import actions, signing_keys
from app.accounts.errors import AddressReserved
from app.accounts.models import TIERS
from app.core.addresses import is_reserved, parse_email_address
from app.core.text_normalization import clean_name

admin_group = AppGroup("admin", help="Administrators.")
accounts_group = AppGroup("accounts", help="Accounts of people.")
signing_keys_group = AppGroup("keys", help="Keys that sign access tokens.")


def register(app: Flask) -> None:
    app.cli.add_command(admin_group)
    app.cli.add_command(accounts_group)
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
    address = _parse_address(email)
    if is_reserved(address) and current_app.extensions["settings"].production:
        raise click.UsageError(f"{address}: this domain is reserved and cannot receive mail.")
    name = clean_name(name.strip())
    if not name:
        raise click.UsageError("The name must have visible characters.")
    try:
        account_id = actions.create_admin(email=address, password=password, name=name, tier=tier)
    except AddressReserved as error:
        raise click.UsageError(f"{address}: {error.text}") from error
    click.echo(f"{account_id} {address} {tier}")


@accounts_group.command("reset-second-factor")
@click.argument("address")
def reset_second_factor_command(address: str) -> None:
    """Turn off the second factor of a person who has lost their phone and their recovery codes.

    First make sure who they are, by something other than their mail. All their devices are signed out, and they get a
    mail.
    """
    email = _parse_address(address)
    if not actions.reset_second_factor(email=email):
        raise click.UsageError(f"{email}: there is no account with this address that has a second factor.")
    click.echo(f"{email}: the second factor is off; all devices are signed out")


def _parse_address(text: str) -> str:
    try:
        return parse_email_address(text.strip())
    except ValueError as error:
        raise click.UsageError(f"{text.strip()} is not an e-mail address.") from error


@signing_keys_group.command("rotate")
def rotate_keys_command() -> None:
    """Sign with a new key from now on. Tokens signed with the old key stay valid until they expire."""
    click.echo(f"signing with {signing_keys.rotate_signing_key()}")
