"""Metrics of the node that is asked, and of the work that all nodes share."""

from typing import Any

from app.web.access import PUBLIC
from app.web.blueprint import Blueprint
from app.web.metrics_endpoint import endpoint

blp = Blueprint("metrics", __name__, description="For those who watch the service")


@blp.get("/metrics", access=PUBLIC, content_type="text/plain", errors=[endpoint.MetricsClosed])
def metrics() -> Any:
    """Tell all metrics in Prometheus's text format.

    Open to this machine itself and to the bearer of `METRICS_TOKEN`; anybody else gets 403.
    """
    return endpoint.build_metrics_response()
