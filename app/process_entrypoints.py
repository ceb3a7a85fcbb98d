"""The three processes of the service, each as a function that returns the exit code.

They import the application by name, as gunicorn does, because commands of the application call them.
"""

import sys
from pathlib import Path

from gunicorn.app.wsgiapp import WSGIApplication
from werkzeug.utils import import_string

from app.core.relay import serve

CONFIGURATION = Path(__file__).resolve().parent.parent / "gunicorn.conf.py"
FACTORY = "app.startup:create_app_or_exit"


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
