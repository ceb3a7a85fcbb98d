"""The tests of the web layer run the whole application with a small shop in it."""

from collections.abc import Callable, Iterator

import pytest
from flask import Flask

from app.core.db import db, transaction_engine
from tests.http import Client
from tests.settings import app_for
from tests.web import shop


@pytest.fixture(scope="session")
def application(application: Flask) -> Iterator[Flask]:
    """The same database as everybody's, in an application that serves the shop as well."""
    settings = application.extensions["settings"]
    app = app_for(database_url=settings.DATABASE_URL, redis_url=settings.REDIS_URL, data_dir=settings.DATA_DIR)
    shop.register(app)
    with app.app_context():
        shop.metadata.create_all(db.engine)
    yield app
    with app.app_context():
        shop.metadata.drop_all(db.engine)
        db.engine.dispose()


@pytest.fixture(autouse=True)
def _empty_shop(app: Flask) -> None:
    with transaction_engine(db.engine).begin() as connection:
        connection.execute(shop.item.delete())
    shop.before.clear()
    shop.after.clear()


Served = Callable[..., Client]


@pytest.fixture
def served(app: Flask) -> Iterator[Served]:
    """Makes a client of the shop under other settings."""
    ours, made = app.extensions["settings"], []

    def serve(**settings: str) -> Client:
        other = app_for(**{"database_url": ours.DATABASE_URL, "redis_url": ours.REDIS_URL, **settings})
        shop.register(other)
        made.append(other)
        return Client(other.test_client())

    yield serve
    for item in made:
        with item.app_context():
            db.engine.dispose()
