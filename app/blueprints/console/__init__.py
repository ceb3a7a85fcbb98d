"""Pages for people: start, a new password, the way to a stall, tickets, the API's documentation.

In development the mailbox as well.
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
from app.blueprints.console.rendering import error_page
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
    """Adds the pages that this environment may show."""
    csrf.init_app(app, settings)
    app.extensions[ERROR_PAGE_KEY] = error_page
    app.register_blueprint(home.blueprint)
    for page in PAGES:
        app.register_blueprint(page.blueprint)
    app.register_blueprint(docs.blueprint)
    if not settings.production:
        app.register_blueprint(dev_mail.blueprint)
