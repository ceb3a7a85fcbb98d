"""Links to the operations page, and `flask ops link`. A link has its encrypted expiry time and is stored nowhere."""

import time

import click
from flask import Flask, current_app
from flask.cli import AppGroup, with_appcontext

from app.core.errors import Gone, NotFound
from app.core.tokens import decrypt_token, encrypt_token

PURPOSE, LINK_SECONDS = "ops-page", 600
_TIMESTAMP_BYTES = 8


def build_link() -> str:
    """Return the URL of the page; it works for ten minutes."""
    base: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base}/ops/{encode_token(int(time.time()) + LINK_SECONDS)}"


def encode_token(expires_at: int) -> str:
    """Return the token of a link; `expires_at` is in seconds since 1970."""
    return encrypt_token(PURPOSE, expires_at.to_bytes(_TIMESTAMP_BYTES, "big"))


def decode_token(token: str) -> int:
    """Return when a link expires. Raises NotFound for a token we did not issue, Gone for an expired one."""
    payload = decrypt_token(PURPOSE, token)
    if payload is None:
        raise NotFound()
    expires_at = int.from_bytes(payload, "big")
    if expires_at <= time.time():
        raise Gone("This link has expired. It worked for ten minutes; the command flask ops link prints a new one.")
    return expires_at


ops_commands = AppGroup("ops", help="The operations page.")


def register_commands(app: Flask) -> None:
    """Add the commands to the application."""
    app.cli.add_command(ops_commands)


@ops_commands.command("link")
@with_appcontext
def print_link() -> None:
    """Print a link to the operations page. It works for ten minutes for anyone who has it, and is read-only."""
    click.echo(f"Works for {LINK_SECONDS // 60} minutes, for anyone who has it:", err=True)
    click.echo(build_link())
