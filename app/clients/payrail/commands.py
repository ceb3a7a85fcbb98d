"""`flask payrail mock-server`."""

import threading
from contextlib import suppress
from pathlib import Path

import click
from flask import Flask, current_app
from flask.cli import AppGroup, with_appcontext

from app.clients.payrail.mock_server import MockServer, Options
from app.clients.payrail.mock_server.faults import BadFault, Fault, read

payrail = AppGroup("payrail", help="The payment rail.")


def register(app: Flask) -> None:
    """Add the commands to the application's `flask`."""
    app.cli.add_command(payrail)


@payrail.command("mock-server")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8090, show_default=True, help="0 chooses a free port.")
@click.option("--key", help="The caller's key; PAYRAIL_KEY, or else `mock-key`.")
@click.option("--secret", help="The shared secret; PAYRAIL_SECRET, or else `mock-secret`.")
@click.option("--callback-url", help="The URL of signed callbacks; without it none are sent.")
@click.option(
    "--faults", "faults_file", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Faults as JSON."
)
@click.option(
    "--fault", "fault_texts", multiple=True, help="One fault: a word (hang) or an object of JSON. Repeatable."
)
@click.option("--log", "journal", type=click.Path(path_type=Path), help="Append events to this file.")
@with_appcontext
def mock_server(
    host: str,
    port: int,
    key: str | None,
    secret: str | None,
    callback_url: str | None,
    faults_file: Path | None,
    fault_texts: tuple[str, ...],
    journal: Path | None,
) -> None:
    """Serve a rail that moves no money, over the protocol of docs/payrail.md, with faults on demand."""
    settings = current_app.extensions["settings"]
    server = MockServer(
        Options(
            key=key or settings.PAYRAIL_KEY or "mock-key",
            secret=secret or settings.PAYRAIL_SECRET or "mock-secret",
            host=host,
            port=port,
            callback_url=callback_url,
            journal=journal,
            faults=tuple(_faults([*([faults_file.read_text()] if faults_file else []), *fault_texts])),
        )
    )
    with server.running():
        click.echo(f"The mock rail answers on {server.url}; Ctrl-C ends it.")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


def _faults(texts: list[str]) -> list[Fault]:
    try:
        return [item for text in texts for item in read(text)]
    except (BadFault, TypeError) as error:
        raise click.BadParameter(str(error)) from error
