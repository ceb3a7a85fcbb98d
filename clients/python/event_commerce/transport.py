"""How a call travels: one request, one envelope, one exception."""

import json
import re
import uuid
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

OMITTED: Any = object()
"""The value of a field that is not sent; None is sent as null."""


class ApiError(Exception):
    """What the service refused: HTTP `status`, stable `code`, `message` to show, `data` with details."""

    def __init__(self, status: int, envelope: dict[str, Any]) -> None:
        self.status = status
        self.code = str(envelope.get("shortMessage", "UNREADABLE"))
        self.message = str(envelope.get("message", ""))
        self.data: dict[str, Any] = envelope.get("data") or {}
        self.request_id = envelope.get("requestId")
        super().__init__(f"{self.code}: {self.message} (request {self.request_id})")


class Transport:
    """Holds the tokens. Not for several threads at once: a session has one refresh in flight."""

    def __init__(self, base_url: str, access_token: str | None = None, *, timeout: float = 30) -> None:
        self.base_url, self.access_token, self.timeout = base_url.rstrip("/"), access_token, timeout
        self.refresh_token: str | None = None

    def _call(self, method: str, route: str, **sent: Any) -> Any:
        """The answer. With a refresh token at hand an expired access token is renewed and the call repeated."""
        try:
            return self._once(method, route, **sent)
        except ApiError as error:
            if error.code != "TOKEN_EXPIRED" or self.refresh_token is None:
                raise
            refresh = self._once("POST", "/api/auth/refresh", body={"refreshToken": self.refresh_token})
            self.access_token, self.refresh_token = refresh["accessToken"], refresh["refreshToken"]
            return self._once(method, route, **sent)

    def _once(
        self,
        method: str,
        route: str,
        *,
        path: dict[str, Any] | None = None,
        query: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
        files: dict[str, Any] | None = None,
        content: bytes | None = None,
    ) -> Any:
        url = self.base_url + _filled(route, path or {})
        asked = {name: value for name, value in _given(query).items() if value is not None}
        if asked:
            url += "?" + urlencode(asked, doseq=True)
        headers = {"Accept": "*/*"} | ({"Authorization": f"Bearer {self.access_token}"} if self.access_token else {})
        if files is not None:
            content, headers["Content-Type"] = _form(_given(files))
        elif body is not None and _given(body):
            content, headers["Content-Type"] = json.dumps(_given(body)).encode(), "application/json"
        elif content is not None:
            headers["Content-Type"] = "application/octet-stream"
        try:
            with urlopen(Request(url, content, headers, method=method), timeout=self.timeout) as answer:
                raw: bytes = answer.read()
                is_json = answer.headers.get_content_type() == "application/json"
                return json.loads(raw)["data"] if is_json else raw
        except HTTPError as error:
            raise ApiError(error.code, _envelope(error.read())) from None


def _given(fields: dict[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (fields or {}).items() if value is not OMITTED}


def _filled(route: str, values: dict[str, Any]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: quote(str(values[found[1]]), safe=""), route)


def _envelope(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
        return found if isinstance(found, dict) else {}
    except ValueError:
        return {}


def _form(fields: dict[str, Any]) -> tuple[bytes, str]:
    """A multipart body: bytes are files, everything else is text."""
    edge, parts = uuid.uuid4().hex, []
    for name, value in fields.items():
        is_file = isinstance(value, bytes)
        named = f'form-data; name="{name}"' + (f'; filename="{name}"' if is_file else "")
        parts.append(f"--{edge}\r\nContent-Disposition: {named}\r\n\r\n".encode())
        parts += [value if is_file else str(value).encode(), b"\r\n"]
    return b"".join([*parts, f"--{edge}--\r\n".encode()]), f"multipart/form-data; boundary={edge}"
