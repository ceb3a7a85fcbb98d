"""Creates the application for a process, which exits with plain sentences when it cannot start."""

import gc
import sys
from typing import NoReturn

import click
from flask import Flask
from flask.cli import FlaskGroup

from app import create_app
from app.config import SettingsError
from app.embedded import EmbeddedError
from app.version import __version__

WRONG_SETTINGS, CANNOT_START = 2, 1


def create_app_or_exit() -> Flask:
    """Return the application. Exits with 2 and one line for each wrong setting, with 1 without embedded servers.

    The garbage collector ignores what exists then: it would check all of it many times, and again when the
    process ends (0.8 of the 2.4 CPU seconds of `flask --help`).
    """
    try:
        app = create_app()
    except SettingsError as error:
        _exit(f"{error}\nCorrect these settings and start again (docs/settings.md explains each).", WRONG_SETTINGS)
    except EmbeddedError as error:
        _exit(str(error), CANNOT_START)
    gc.freeze()
    return app


def main() -> None:
    """Run the commands of `flask --app wsgi` as `event-commerce`, the console script of the wheel."""
    group = FlaskGroup(create_app=create_app_or_exit, add_version_option=False, help="The event commerce service.")
    click.version_option(__version__, prog_name="event-commerce")(group)
    group.main()


def _exit(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"{message}\n")
    sys.exit(code)
