"""A span for each request, named after its route. Only there when somebody collects them."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from app.core.telemetry.spans import Spans
from app.web.envelope import REQUEST_ID
from app.web.measuring import route_of

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment


class Traced:
    """Wraps a WSGI application, inside the layer that gives requests their ids."""

    def __init__(self, application: "WSGIApplication", spans: Spans) -> None:
        self.application, self.spans = application, spans

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        method, carried = environ["REQUEST_METHOD"], environ.get("HTTP_TRACEPARENT", "")
        headers = {"traceparent": carried} if carried else None
        with self.spans.span(method, headers, method=method, request_id=environ[REQUEST_ID]) as told:

            def start(status: str, *more: Any) -> Callable[[bytes], object]:
                told.update(status=int(status[:3]), route=route_of(environ))
                told["name"] = f"{method} {told['route']}"
                return start_response(status, *more)

            return self.application(environ, start)
