"""The processes of `flask up`, each as a function that returns the exit code.

They import the application by name, as gunicorn does, because commands of the application call them.
"""

import sys
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

from gunicorn.app.wsgiapp import WSGIApplication
from werkzeug.utils import import_string

from app import config
from app.core.relay import serve

CONFIGURATION = Path(__file__).resolve().parent.parent / "gunicorn.conf.py"
FACTORY = "app.startup:create_app_or_exit"
MOCK_HANG_SECONDS = 3.0
"""A timeout of the mock rail. Longer ones only keep people waiting."""


def web() -> int:
    """Serve HTTP by gunicorn until SIGTERM."""
    sys.argv = ["gunicorn", "-c", str(CONFIGURATION), f"{FACTORY}()"]
    WSGIApplication("%(prog)s [OPTIONS] [APP_MODULE]", prog="gunicorn").run()
    return 0


def relay() -> int:
    """Run a relay until SIGTERM."""
    serve(import_string(FACTORY)())
    return 0


def worker() -> int:
    """Run jobs until SIGTERM; return 1 when Redis failed and the worker has to start again."""
    code: int = import_string("app.worker:serve")(import_string(FACTORY)())
    return code


def mock_rail() -> int:
    """Serve the mock rail of these settings until SIGTERM. It keeps its charges and transfers in DATA_DIR."""
    settings = config.load()
    address = urlsplit(settings.rail_url or "")
    # The package is no part of a release; it is imported by name, because nothing else of the program may use it.
    package = import_module("mock_rail")
    package.serve(
        package.Options(
            key=settings.PAYRAIL_KEY,
            secret=settings.PAYRAIL_SECRET,
            host=address.hostname,
            port=address.port or 80,
            callback_url=f"http://127.0.0.1:{settings.PORT}/api/payrail/callbacks",
            journal=settings.DATA_DIR / "mock_rail.jsonl",
            hang=MOCK_HANG_SECONDS,
        )
    )
    return 0
