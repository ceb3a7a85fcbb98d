"""Metrics of this node, and of the work that all nodes share."""

from flask import Response

from app.web.access import PUBLIC
from app.web.blueprint import Blueprint
from app.web.metrics_endpoint import response

blp = Blueprint("metrics", __name__, description="For those who watch the service")


@blp.get("/metrics", access=PUBLIC, content_type="text/plain", errors=[response.MetricsClosed])
def metrics() -> Response:
    """Read all metrics in the text format of Prometheus.

    Clients on this machine and clients with `METRICS_TOKEN` as the Bearer token may read them; others get 403.
    """
    return response.build_metrics_response()
