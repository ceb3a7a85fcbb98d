"""The web layer: everything about HTTP that all operations share."""

from typing import TYPE_CHECKING

from flask import Flask
from flask_cors import CORS

from app.core.telemetry import spans
from app.web import access, error_handlers, rate_limits
from app.web.cookies import LazySession
from app.web.envelope import OrjsonProvider
from app.web.middleware import RequestMetrics, RequestMiddleware, TracingMiddleware
from app.web.response_cache import ResponseCacheMiddleware

if TYPE_CHECKING:
    from app.config import Settings


def init_app(app: Flask, settings: "Settings") -> None:
    """Add the web layer to an application."""
    app.json = OrjsonProvider(app)
    app.session_interface = LazySession()
    app.url_map.strict_slashes = False
    app.url_map.merge_slashes = False
    access.init_app(app)
    error_handlers.init_app(app)
    rate_limits.init_app(app)
    if settings.CORS_ORIGINS:
        CORS(
            app,
            origins=settings.CORS_ORIGINS,
            supports_credentials=False,
            always_send=False,
            max_age=600,
            expose_headers=["ETag", "X-Request-Id", "Retry-After", "Idempotent-Replayed"],
        )
    app.wsgi_app = ResponseCacheMiddleware(app.wsgi_app, settings.DATA_DIR)  # type: ignore[method-assign]
    if spans.EXTENSION in app.extensions:
        app.wsgi_app = TracingMiddleware(app.wsgi_app, app.extensions[spans.EXTENSION])  # type: ignore[method-assign]
    https = settings.PUBLIC_BASE_URL.startswith("https")
    app.wsgi_app = RequestMiddleware(app.wsgi_app, RequestMetrics(app), https=https)  # type: ignore[method-assign]
