"""Pages for people: the start page, a new password, the API's documentation, and in development the mailbox."""

from flask import Flask

from app.blueprints.console import csrf, dev_mail, docs, merchant_invite, pages, reset
from app.config import Settings


def register(app: Flask, settings: Settings) -> None:
    """Adds the pages that this environment may show."""
    csrf.init_app(app, settings)
    app.register_blueprint(pages.blueprint)
    app.register_blueprint(reset.blueprint)
    app.register_blueprint(merchant_invite.blueprint)
    app.register_blueprint(docs.blueprint)
    if not settings.production:
        app.register_blueprint(dev_mail.blueprint)
