"""The three processes of the service, each as a function that gives its exit code.

The application is named rather than imported, as gunicorn does it: the application's own commands start these.
"""

import sys
from pathlib import Path

from gunicorn.app.wsgiapp import WSGIApplication
from werkzeug.utils import import_string

from app.core import relay as relays

CONFIGURATION = Path(__file__).resolve().parent.parent / "gunicorn.conf.py"
FACTORY = "app.startup:create_app_or_exit"


def web() -> int:
    """Serves HTTP by gunicorn until SIGTERM."""
    sys.argv = ["gunicorn", "-c", str(CONFIGURATION), f"{FACTORY}()"]
    WSGIApplication("%(prog)s [OPTIONS] [APP_MODULE]", prog="gunicorn").run()
    return 0


def relay() -> int:
    """Rings for due work until SIGTERM."""
    relays.serve(import_string(FACTORY)())
    return 0


def worker() -> int:
    """Runs jobs until SIGTERM; 1 when Redis broke off and it has to be started again."""
    code: int = import_string("app.worker:serve")(import_string(FACTORY)())
    return code
