"""The start page."""

from flask import Blueprint, current_app, render_template

blueprint = Blueprint("console", __name__)


@blueprint.get("/")
def start() -> str:
    """What this is, and where to go from here."""
    return render_template("console/start.html", development=not current_app.extensions["settings"].production)
