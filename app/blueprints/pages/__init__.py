"""HTML pages: start page, password reset, stall applications, tickets, payouts, operations and API documentation.

Development adds the mailbox.
"""

from flask import Flask

from app.blueprints.pages import (
    claim,
    csrf,
    dev_mail,
    docs,
    documents,
    holder_page,
    home,
    invitation_page,
    merchant_activation,
    ops,
    pay,
    reset,
    stop_payout_page,
    tracked_links,
    unsubscribe,
)
from app.blueprints.pages.rendering import mark_breaks_of_path, mark_code_spans, render_unknown_path
from app.config import Settings
from app.web.error_handlers import ERROR_PAGE_KEY

PAGES = (
    reset,
    documents,
    pay,
    merchant_activation,
    invitation_page,
    claim,
    holder_page,
    tracked_links,
    unsubscribe,
    stop_payout_page,
    ops,
)


def register(app: Flask, settings: Settings) -> None:
    """Register the pages of this environment."""
    csrf.init_app(app, settings)
    app.extensions[ERROR_PAGE_KEY] = render_unknown_path
    app.add_template_filter(mark_code_spans, "code_spans")
    app.add_template_filter(mark_breaks_of_path, "breaks_of_path")
    app.register_blueprint(home.blueprint)
    for page in PAGES:
        app.register_blueprint(page.blueprint)
    app.register_blueprint(docs.blueprint)
    if not settings.production:
        app.register_blueprint(dev_mail.blueprint)
