"""What gunicorn and the flask command load: `wsgi:app`."""

from app import create_app

app = create_app()
