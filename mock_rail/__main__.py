"""The command line of the mock rail: `python -m mock_rail`."""

import threading
from contextlib import suppress
from pathlib import Path

import click

from mock_rail.faults import Fault, InvalidFault, parse_faults
from mock_rail.server import MockServer, Options


@click.command("mock_rail")
@click.option("--host", default="127.0.0.1", show_default=True)
@click.option("--port", default=8090, show_default=True, help="0 chooses a free port.")
@click.option("--key", envvar="PAYRAIL_KEY", default="mock-key", help="The caller's key, else PAYRAIL_KEY or mock-key.")
@click.option(
    "--secret",
    envvar="PAYRAIL_SECRET",
    default="mock-secret",
    help="The shared secret, else PAYRAIL_SECRET or mock-secret.",
)
@click.option("--callback-url", help="The URL of signed callbacks; without it none are sent.")
@click.option(
    "--faults", "faults_file", type=click.Path(path_type=Path, exists=True, dir_okay=False), help="Faults as JSON."
)
@click.option(
    "--fault", "fault_texts", multiple=True, help="One fault: a word (hang) or an object of JSON. Repeatable."
)
@click.option("--log", "journal", type=click.Path(path_type=Path), help="Keep charges and transfers in this file.")
def main(
    host: str,
    port: int,
    key: str,
    secret: str,
    callback_url: str | None,
    faults_file: Path | None,
    fault_texts: tuple[str, ...],
    journal: Path | None,
) -> None:
    """Serve a rail that moves no money, over the protocol of docs/payrail.md, with faults on demand."""
    texts = [*([faults_file.read_text()] if faults_file else []), *fault_texts]
    options = Options(
        key=key,
        secret=secret,
        host=host,
        port=port,
        callback_url=callback_url,
        journal=journal,
        faults=tuple(_parse_faults(texts)),
    )
    with MockServer(options).running() as server:
        click.echo(f"The mock rail answers on {server.url}; Ctrl-C ends it.")
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


def _parse_faults(texts: list[str]) -> list[Fault]:
    try:
        return [fault for text in texts for fault in parse_faults(text)]
    except (InvalidFault, TypeError) as error:
        raise click.BadParameter(str(error)) from error


if __name__ == "__main__":
    main()
