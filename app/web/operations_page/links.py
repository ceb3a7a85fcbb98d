"""Links to the operations page: the moment at which one ends, sealed, so that nothing is kept of it.

`flask ops link`.
"""

import time

import click
from flask import Flask, current_app
from flask.cli import AppGroup, with_appcontext

from app.core.encrypted_tokens import decrypt_token, encrypt_token
from app.core.errors import Gone, NotFound

PURPOSE, LINK_SECONDS = "ops-page", 600
_TIMESTAMP_BYTES = 8


def build_link() -> str:
    """The address of the page, good for ten minutes."""
    base: str = current_app.extensions["settings"].PUBLIC_BASE_URL
    return f"{base}/ops/{encode_token(int(time.time()) + LINK_SECONDS)}"


def encode_token(expires_at: int) -> str:
    """What the address ends with; `moment` is in seconds since 1970."""
    return encrypt_token(PURPOSE, expires_at.to_bytes(_TIMESTAMP_BYTES, "big"))


def decode_token(token: str) -> int:
    """When a living link ends. Raises NotFound for one that was never given out, Gone for one that has ended."""
    payload = decrypt_token(PURPOSE, token)
    if payload is None:
        raise NotFound()
    expires_at = int.from_bytes(payload, "big")
    if expires_at <= time.time():
        raise Gone("This link was good for ten minutes; the command flask ops link prints a fresh one.")
    return expires_at


ops_commands = AppGroup("ops", help="The operations page.")


def register_commands(app: Flask) -> None:
    """Adds the command to the `flask` of this application."""
    app.cli.add_command(ops_commands)


@ops_commands.command("link")
@with_appcontext
def print_link() -> None:
    """Print a link to the operations page. Anyone who has it may look for ten minutes, and change nothing."""
    click.echo(f"For {LINK_SECONDS // 60} minutes, for anyone who has it:", err=True)
    click.echo(build_link())
