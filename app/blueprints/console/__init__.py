"""HTML pages: start page, password reset, stall applications, tickets, payouts, operations and API documentation.

Development adds the mailbox.
"""

from flask import Flask

from app.blueprints.console import (
    activate,
    allocator,
    claim,
    csrf,
    dev_mail,
    docs,
    documents,
    home,
    merchant_invite,
    ops,
    pay,
    payout_stop,
    reset,
    tracked_links,
    unsubscribe,
)
from app.blueprints.console.rendering import render_error
from app.config import Settings
from app.web.error_handlers import ERROR_PAGE_KEY

PAGES = (
    reset,
    documents,
    pay,
    activate,
    merchant_invite,
    claim,
    allocator,
    tracked_links,
    unsubscribe,
    payout_stop,
    ops,
)


def register(app: Flask, settings: Settings) -> None:
    """Register the pages of this environment."""
    csrf.init_app(app, settings)
    app.extensions[ERROR_PAGE_KEY] = render_error
    app.register_blueprint(home.blueprint)
    for page in PAGES:
        app.register_blueprint(page.blueprint)
    app.register_blueprint(docs.blueprint)
    if not settings.production:
        app.register_blueprint(dev_mail.blueprint)
