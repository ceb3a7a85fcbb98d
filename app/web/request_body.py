"""The body of a request as the client frames it: what cannot be read to its end is the client's error."""

from typing import TYPE_CHECKING

from app.web.refusals import BodyBroken

if TYPE_CHECKING:
    from _typeshed.wsgi import InputStream, WSGIEnvironment


class RequestBody:
    """Reads like the server's stream. A malformed chunk, or an end before the announced length, is BodyBroken."""

    def __init__(self, stream: "InputStream", length: int | None) -> None:
        self._stream, self._left = stream, length

    def read(self, size: int = -1, /) -> bytes:
        """At most `size` bytes, or all. Raises BodyBroken."""
        try:
            data = self._stream.read(size)
        except Exception as error:
            raise BodyBroken() from error
        if self._left is not None:
            self._left -= len(data)
            if self._left > 0 and (size < 0 or (size > 0 and not data)):
                raise BodyBroken()
        return data


def check_framing(environ: "WSGIEnvironment") -> None:
    """Has a request's body, if there is one, read through RequestBody."""
    length = environ.get("CONTENT_LENGTH") or ""
    if length.isdecimal():
        environ["wsgi.input"] = RequestBody(environ["wsgi.input"], int(length))
    elif "HTTP_TRANSFER_ENCODING" in environ:
        environ["wsgi.input"] = RequestBody(environ["wsgi.input"], None)
