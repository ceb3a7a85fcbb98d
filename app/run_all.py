"""`flask up`: all processes on one machine under one supervisor; `make run` starts it."""

import os
import secrets
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

import click
from flask import current_app
from flask.cli import with_appcontext

from app import config, demo, process_entrypoints
from app.accounts import signing_keys
from app.child_processes import Process
from app.config import Settings
from app.core import migrations
from app.core.db import db
from app.supervisor import Supervisor

LOCAL_HOSTS = ("127.0.0.1", "localhost")


@click.command("up")
@click.option("--port", type=click.IntRange(1, 65535), help="Instead of PORT.")
@click.option("--workers", default=1, envvar="RQ_WORKERS", show_default=True, help="RQ workers.")
@click.option("--demo/--no-demo", "has_demo", default=True, help="With or without demo data on the first start.")
@with_appcontext
def up(port: int | None, workers: int, has_demo: bool) -> None:
    """Run everything: migrations, demo data on the first start, web, workers and relay."""
    settings = _with_port(current_app.extensions["settings"], port)
    current_app.extensions["settings"] = settings
    _check_free(settings.PORT)
    if mock_port := _find_mock_port(settings):
        _check_free(mock_port)
    if migrations.is_pending():
        migrations.upgrade()
    signing_keys.get_current_key()
    demo_was_seeded = has_demo and not settings.production and demo.seed()
    secret = settings.BOOTSTRAP_SECRET or (None if settings.production else _load_secret(settings.DATA_DIR))
    click.echo(_format_banner(settings, secret, has_demo=has_demo, demo_was_seeded=demo_was_seeded))
    _close_connections()
    sys.exit(Supervisor(_list_processes(settings, workers, secret)).run())


def _close_connections() -> None:
    """Close the database connections, which forked children cannot share."""
    db.session.remove()
    db.engine.dispose()


def _list_processes(settings: Settings, workers: int, secret: str | None) -> list[Process]:
    environment = {
        **_store_settings(settings),
        "PUBLIC_BASE_URL": settings.PUBLIC_BASE_URL,
        "PORT": str(settings.PORT),
        **({"BOOTSTRAP_SECRET": secret} if secret else {}),
    }
    return [
        *([Process("mock-rail", process_entrypoints.mock_rail, environment)] if _find_mock_port(settings) else []),
        Process("web", process_entrypoints.web, environment),
        Process("relay", process_entrypoints.relay, environment),
        *(Process(f"worker-{number}", process_entrypoints.worker, environment) for number in range(1, workers + 1)),
    ]


def _with_port(settings: Settings, port: int | None) -> Settings:
    """Return the settings with PORT in the environment, so that links have the chosen port."""
    return settings if port is None else config.load({**os.environ, **_store_settings(settings), "PORT": str(port)})


def _find_mock_port(settings: Settings) -> int | None:
    """Return the port of the mock rail on this machine; None if another rail is used, or none."""
    address = urlsplit(settings.rail_url or "")
    is_local_mock = settings.PAYRAIL_MODE == "mock" and address.hostname in LOCAL_HOSTS
    return (address.port or 80) if is_local_mock else None


def _store_settings(settings: Settings) -> dict[str, str]:
    return {"DATABASE_URL": settings.DATABASE_URL, "REDIS_URL": settings.REDIS_URL}


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            message = f"Port {port} is taken ({error.strerror}); choose another with PORT=."
            raise click.ClickException(message) from error


def _load_secret(folder: Path) -> str:
    """Return the bootstrap secret of this machine, the same on every start."""
    path = folder / "bootstrap_secret"
    try:
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
                file.write(secrets.token_urlsafe(24))
        return path.read_text().strip()
    except OSError as error:
        raise click.ClickException(f"DATA_DIR: {folder} cannot be used: {error.strerror}.") from error


def _format_banner(settings: Settings, secret: str | None, *, has_demo: bool, demo_was_seeded: bool) -> str:
    base = settings.PUBLIC_BASE_URL
    lines = ["", f"  Event commerce      {base}", f"  API docs            {base}/docs"]
    if not settings.production:
        lines += [
            f"  Sign in             {base}/sign-in",
            f"  Mail, SMS, push     {base}/dev/mail",
            *(
                [f"  Payment rail        {settings.rail_url}   (mock: no money moves)"]
                if _find_mock_port(settings)
                else []
            ),
            f"  Bootstrap secret    {secret}   (makes the first admin, where there is none)",
        ]
    if has_demo and not settings.production:
        lines += [
            f"  Demo accounts       password: {demo.PASSWORD}" + ("   (created just now)" if demo_was_seeded else ""),
            *(f"    {person.role:<10} {person.email}" for person in demo.PEOPLE),
        ]
    lines += [f"  Data                {settings.DATA_DIR}", "  Ctrl-C stops everything.", ""]
    return "\n".join(lines)
