"""What gunicorn and the flask command load: `wsgi:app`."""

import gc

# Looking through what is made here, again and again, would take a fifth of every start.
gc.disable()

from app.startup import create_app_or_exit  # noqa: E402

app = create_app_or_exit()
gc.enable()
