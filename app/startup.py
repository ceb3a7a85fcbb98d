"""The application for a process of its own: what cannot start says why in sentences, and exits."""

import sys
from typing import NoReturn

from flask import Flask

from app import create_app
from app.config import SettingsError
from app.embedded import EmbeddedError

WRONG_SETTINGS, CANNOT_START = 2, 1


def create_app_or_exit() -> Flask:
    """The application that the environment describes. Exits with 2 on wrong settings, after one line for each."""
    try:
        return create_app()
    except SettingsError as error:
        _exit(f"{error}\nNothing was started: correct these settings (docs/settings.md explains each).", WRONG_SETTINGS)
    except EmbeddedError as error:
        _exit(str(error), CANNOT_START)


def _exit(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"{message}\n")
    sys.exit(code)
