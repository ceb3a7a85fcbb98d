"""Errors of the API: a stable code, a status, and a sentence that says what to do.

    AppError
    ├── BadRequest 400         the body cannot be read
    ├── Unauthorised 401       no valid token
    ├── Forbidden 403          signed in, but not allowed
    ├── NotFound 404           it does not exist, or belongs to another account
    ├── Conflict 409           the state does not allow it
    ├── Gone 410               a link that has expired
    ├── StaleVersion 412       another request changed it first
    ├── TooLarge 413 · UnsupportedMedia 415
    ├── Unprocessable 422      readable, but wrong
    ├── Throttled 429          too often; has retry_after
    ├── InternalError 500      our fault, without details
    └── Unavailable 503        a dependency is away; has retry_after

A domain declares its own in `<domain>/errors.py`: `class CodeInvalid(Unprocessable)` with `number`, `code` and
`message`. Each class with a code is in the catalogue, of which the docs are made. Importing a class whose number or
code is taken fails. A new Conflict takes `SHARED_NUMBER`: all others of 409 are in use.
"""

from typing import Any, ClassVar

SHARED_NUMBER = 40900
"""The number of every conflict above the first hundred: only 40900 to 40999 fit. Their codes tell them apart."""


class AppError(Exception):
    """An error of the catalogue. `data` goes into the envelope, `headers` into the response."""

    status: ClassVar[int] = 500
    number: ClassVar[int] = 0
    code: ClassVar[str] = ""
    message: ClassVar[str] = ""
    catalogue: ClassVar[dict[str, "type[AppError]"]] = {}

    def __init__(self, message: str | None = None, *, retry_after: int | None = None, **data: Any) -> None:
        super().__init__(message or self.message)
        self.text = message or self.message
        self.data = data
        self.headers = {"Retry-After": str(retry_after)} if retry_after is not None else {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "code" not in vars(cls):
            return
        numbers = {error.number for error in AppError.catalogue.values()} - {SHARED_NUMBER}
        if cls.number in numbers or cls.code in AppError.catalogue or cls.number // 100 != cls.status:
            raise TypeError(f"{cls.__name__}: {cls.code} / {cls.number} is taken or does not fit {cls.status}")
        AppError.catalogue[cls.code] = cls


class BadRequest(AppError):
    status, number, code = 400, 40000, "BAD_REQUEST"
    message = "The request could not be read; check its syntax."


class Unauthorised(AppError):
    status, number, code = 401, 40100, "UNAUTHORISED"
    message = "Sign in first."

    def __init__(self, message: str | None = None, **data: Any) -> None:
        super().__init__(message, **data)
        self.headers["WWW-Authenticate"] = "Bearer"


class Forbidden(AppError):
    status, number, code = 403, 40300, "FORBIDDEN"
    message = "This account may not do that."


class NotFound(AppError):
    status, number, code = 404, 40400, "NOT_FOUND"
    message = "There is nothing here that you can see; check the address and the account."


class MethodNotAllowed(AppError):
    status, number, code = 405, 40500, "METHOD_NOT_ALLOWED"
    message = "This address does not support that method; the Allow header lists those it does."


class Conflict(AppError):
    status, number, code = 409, 40900, "CONFLICT"
    message = "The present state does not allow that; read it again."


class Gone(AppError):
    status, number, code = 410, 41000, "GONE"
    message = "This is no longer available."


class StaleVersion(AppError):
    status, number, code = 412, 41200, "STALE_VERSION"
    message = "It has changed since you read it; read it again and repeat your change."


class TooLarge(AppError):
    status, number, code = 413, 41300, "PAYLOAD_TOO_LARGE"
    message = "The body is too large; send less at once."


class UnsupportedMedia(AppError):
    status, number, code = 415, 41500, "UNSUPPORTED_MEDIA_TYPE"
    message = "This operation does not take that content type."


class Unprocessable(AppError):
    status, number, code = 422, 42200, "UNPROCESSABLE"
    message = "The request is readable but cannot be carried out as it stands."


class Throttled(AppError):
    status, number, code = 429, 42900, "RATE_LIMITED"
    message = "Too many requests; wait for the seconds in Retry-After."


class InternalError(AppError):
    status, number, code = 500, 50000, "INTERNAL_ERROR"
    message = "Something went wrong on our side; quote the requestId when you report it."


class Unavailable(AppError):
    status, number, code = 503, 50300, "SERVICE_UNAVAILABLE"
    message = "A part of the service is away for a moment; try again after the seconds in Retry-After."

    def __init__(self, message: str | None = None, *, retry_after: int = 2, **data: Any) -> None:
        super().__init__(message, retry_after=retry_after, **data)


class MalformedJson(BadRequest):
    number, code = 40001, "MALFORMED_JSON"
    message = "The body is not valid JSON."


class LinkExpired(Gone):
    number, code = 41045, "LINK_EXPIRED"
    message = "This link has expired, or a newer one has replaced it; ask for a new one."


class LinkUsed(Gone):
    number, code = 41046, "LINK_USED"
    message = "This link or code has been used; it works only once."


class DatabaseAway(Unavailable):
    number, code = 50301, "DATABASE_UNAVAILABLE"
    message = "The database does not answer; nothing was changed by this request that was not acknowledged."


class Busy(Unavailable):
    number, code = 50302, "BUSY"
    message = "Others are changing the same thing right now; try again in a moment."


class ValidationFailed(Unprocessable):
    """All problems of the input, as `data.errors`: path, code and message of each."""

    number, code = 42201, "VALIDATION_FAILED"
    message = "Some fields are missing or wrong; data.errors names each."

    def __init__(self, errors: list[dict[str, str]]) -> None:
        super().__init__(errors=errors)

    @classmethod
    def of(cls, path: str, code: str, message: str) -> "ValidationFailed":
        """Return the error for one problem that a schema cannot see."""
        return cls([{"path": path, "code": code, "message": message}])
