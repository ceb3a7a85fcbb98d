"""The application factory, which connects all parts."""

import atexit
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from app import cli, config, jobs
from app.accounts.models import PROFILES
from app.clients import payrail
from app.config import Settings
from app.core import connections, languages, logs, metrics, migrations, replica, telemetry
from app.core.db import db
from app.embedded import servers
from app.merchants.models import MerchantProfile
from app.version import __version__ as __version__

MAX_BODY = 1024 * 1024


class SynchronousFlask(Flask):
    """Flask without views that are coroutines. It asks of each function for each request whether it is one."""

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return func


def create_app(settings: Settings | None = None) -> Flask:
    """Return a Flask application for the settings, by default those of the environment."""
    settings = _with_embedded_servers(settings or config.load())
    logs.configure(settings.LOG_LEVEL)
    app = SynchronousFlask(__name__)
    app.extensions["settings"] = settings
    app.config.update(_flask_config(settings))
    metrics.init(settings.METRICS_DIR)
    telemetry.init_app(app, settings)
    PROFILES["merchant"] = MerchantProfile
    languages.init_app(app)
    db.init_app(app)
    replica.init_app(app, settings)
    migrations.init_app(app)
    jobs.init_app(app)
    payrail.init_app(app, settings)
    _register_web(app, settings)
    cli.register(app)
    return app


def _register_web(app: Flask, settings: Settings) -> None:
    from app import blueprints, web

    web.init_app(app, settings)
    blueprints.register_blueprints(app, settings)
    if settings.PROXY_HOPS:
        hops = settings.PROXY_HOPS
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]


def _with_embedded_servers(settings: Settings) -> Settings:
    """Return the settings with embedded PostgreSQL and Redis where none is named; they stop with this process."""
    if settings.DATABASE_URL and settings.REDIS_URL:
        return settings
    stack = ExitStack()
    embedded = stack.enter_context(servers(settings.DATA_DIR / "stores"))
    atexit.register(stack.close)
    return replace(
        settings,
        DATABASE_URL=settings.DATABASE_URL or embedded.database_url,
        REDIS_URL=settings.REDIS_URL or embedded.redis_url,
    )


def _flask_config(settings: Settings) -> dict[str, object]:
    return {
        "SECRET_KEY": settings.SECRET_KEY,
        "TRUSTED_HOSTS": settings.TRUSTED_HOSTS or None,
        "MAX_CONTENT_LENGTH": MAX_BODY,
        "MAX_FORM_MEMORY_SIZE": 512 * 1024,
        "MAX_FORM_PARTS": 100,
        "SQLALCHEMY_DATABASE_URI": connections.to_sqlalchemy_url(settings.DATABASE_URL),
        "SQLALCHEMY_ENGINE_OPTIONS": connections.engine_options(settings),
    }
