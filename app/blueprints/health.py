"""Liveness and readiness."""

from flask import Response
from marshmallow import fields

from app.version import __version__
from app.web import readiness
from app.web.access import PUBLIC
from app.web.blueprint import Blueprint
from app.web.envelope import envelope_response
from app.web.schema import Schema

HEALTH = f'{{"ok":true,"version":"{__version__}"}}'.encode()
blp = Blueprint("health", __name__, description="Liveness and readiness")


class Health(Schema):
    """The data of `/health`."""

    ok = fields.Boolean(required=True)
    version = fields.String(required=True, metadata={"example": __version__, "description": "of the program"})


class Readiness(Schema):
    """The data of `/ready`."""

    ready = fields.Boolean(required=True)
    database = fields.String(required=True, metadata={"enum": ["up", "down"], "example": "up"})
    migrations = fields.String(
        required=True, metadata={"enum": ["current", "pending", "unknown"], "example": "current"}
    )
    payrail = fields.String(required=True, metadata={"enum": ["live", "mock", "disabled"], "example": "mock"})
    payrail_link = fields.String(metadata={"enum": ["up", "down"], "example": "up", "description": "Live mode only."})
    redis = fields.String(required=True, metadata={"enum": ["up", "down"], "example": "up"})
    relay = fields.String(required=True, metadata={"enum": ["up", "down"], "example": "up"})
    workers = fields.Integer(required=True, metadata={"example": 1})


@blp.get("/health", access=PUBLIC, returns=Health)
def health() -> Response:
    """Report that the process runs. It uses no other service."""
    return envelope_response(HEALTH)


@blp.get("/ready", access=PUBLIC, returns=Readiness, errors=[readiness.NotReady])
def ready() -> readiness.ReadinessReport:
    """Report whether the service can do its work.

    It is ready if the database answers within a second and has all migrations and, in live mode, the payment rail is
    reachable. Redis, relay and workers are only reported.
    """
    return readiness.require_ready()
