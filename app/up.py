"""`flask up`: everything on one machine under one supervisor; what `make run` starts."""

import os
import secrets
import socket
import sys
from pathlib import Path

import click
from flask import current_app
from flask.cli import with_appcontext

from app import demo, serving
from app.accounts import keys
from app.config import Settings
from app.core import migrations
from app.core.db import db
from app.forks import Process
from app.supervisor import Supervisor


@click.command("up")
@click.option("--port", default=8000, envvar="PORT", show_default=True)
@click.option("--workers", default=1, envvar="RQ_WORKERS", show_default=True, help="RQ workers.")
@with_appcontext
def up(port: int, workers: int) -> None:
    """Run everything: migrations, demo data on the first start, web, workers and relay."""
    settings: Settings = current_app.extensions["settings"]
    _check_free(port)
    if migrations.pending():
        migrations.upgrade()
    keys.current()
    fresh = not settings.production and demo.seed()
    secret = settings.BOOTSTRAP_SECRET or (None if settings.production else _kept_secret(settings.DATA_DIR))
    click.echo(_banner(settings, port, secret, fresh=fresh))
    _let_go()
    sys.exit(Supervisor(_processes(settings, port, workers, secret)).run())


def _let_go() -> None:
    """Closes what two processes cannot share, for the children are forks of this one."""
    db.session.remove()
    db.engine.dispose()


def _processes(settings: Settings, port: int, workers: int, secret: str | None) -> list[Process]:
    environment = {
        "DATABASE_URL": settings.DATABASE_URL,
        "REDIS_URL": settings.REDIS_URL,
        "PUBLIC_BASE_URL": _base_url(settings, port),
        "PORT": str(port),
        **({"BOOTSTRAP_SECRET": secret} if secret else {}),
    }
    return [
        Process("web", serving.web, environment),
        Process("relay", serving.relay, environment),
        *(Process(f"worker-{number}", serving.worker, environment) for number in range(1, workers + 1)),
    ]


def _base_url(settings: Settings, port: int) -> str:
    return settings.PUBLIC_BASE_URL if "PUBLIC_BASE_URL" in os.environ else f"http://localhost:{port}"


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError as error:
            sentence = f"Port {port} is taken ({error.strerror}); choose another with PORT=."
            raise click.ClickException(sentence) from error


def _kept_secret(folder: Path) -> str:
    """A bootstrap secret of this machine's own, the same on every start."""
    path = folder / "bootstrap_secret"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(24))
    return path.read_text().strip()


def _banner(settings: Settings, port: int, secret: str | None, *, fresh: bool) -> str:
    base = _base_url(settings, port)
    lines = ["", f"  Event commerce      {base}", f"  API docs            {base}/docs"]
    if not settings.production:
        lines += [
            f"  Mail, SMS, push     {base}/dev/mail",
            f"  Bootstrap secret    {secret}   (makes the first admin)",
            f"  Demo accounts       password: {demo.PASSWORD}" + ("   (created just now)" if fresh else ""),
            *(f"    {who.role:<10} {who.email}" for who in demo.PEOPLE),
        ]
    lines += [f"  Data                {settings.DATA_DIR}", "  Ctrl-C stops everything.", ""]
    return "\n".join(lines)
