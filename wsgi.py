"""What gunicorn and the flask command load: `wsgi:app`."""

import gc

# What is made here stays: looking through all of it again and again would take a fifth of every start.
gc.disable()

from app import create_app  # noqa: E402

app = create_app()
gc.freeze()
gc.enable()
