"""The application factory: the only wiring."""

import atexit
from contextlib import ExitStack
from dataclasses import replace

from flask import Flask
from werkzeug.middleware.proxy_fix import ProxyFix

from app import cli, config, jobs
from app.accounts.models import PROFILES
from app.config import Settings
from app.core import engine_options, logs, metrics, migrations, replica, telemetry
from app.core.db import db
from app.embedded import servers
from app.merchants.models import MerchantProfile

MAX_BODY = 1024 * 1024


def create_app(settings: Settings | None = None) -> Flask:
    """A Flask application that serves `settings` (the environment's, when not given)."""
    settings = _with_stores(settings or config.load())
    logs.configure(settings.LOG_LEVEL)
    app = Flask(__name__)
    app.extensions["settings"] = settings
    app.config.update(_flask_config(settings))
    metrics.init_app(app, settings.METRICS_DIR)
    telemetry.init_app(app, settings)
    PROFILES["merchant"] = MerchantProfile
    db.init_app(app)
    replica.init_app(app, settings)
    migrations.init_app(app)
    jobs.init_app(app)
    _web(app, settings)
    cli.register(app)
    return app


def _web(app: Flask, settings: Settings) -> None:
    from app import blueprints, web

    web.init_app(app, settings)
    blueprints.register_blueprints(app, settings)
    if settings.PROXY_HOPS:
        hops = settings.PROXY_HOPS
        app.wsgi_app = ProxyFix(app.wsgi_app, x_for=hops, x_proto=hops, x_host=hops)  # type: ignore[method-assign]


def _with_stores(settings: Settings) -> Settings:
    """The embedded PostgreSQL and Redis in place of those that no setting names, for as long as this process."""
    if settings.DATABASE_URL and settings.REDIS_URL:
        return settings
    stack = ExitStack()
    result = stack.enter_context(servers(settings.DATA_DIR / "stores"))
    atexit.register(stack.close)
    return replace(
        settings,
        DATABASE_URL=settings.DATABASE_URL or result.database_url,
        REDIS_URL=settings.REDIS_URL or result.redis_url,
    )


def _flask_config(settings: Settings) -> dict[str, object]:
    return {
        "SECRET_KEY": settings.SECRET_KEY,
        "TRUSTED_HOSTS": settings.TRUSTED_HOSTS or None,
        "MAX_CONTENT_LENGTH": MAX_BODY,
        "MAX_FORM_MEMORY_SIZE": 512 * 1024,
        "MAX_FORM_PARTS": 100,
        "SQLALCHEMY_DATABASE_URI": engine_options.to_sqlalchemy_url(settings.DATABASE_URL),
        "SQLALCHEMY_ENGINE_OPTIONS": engine_options.engine_options(settings),
    }
