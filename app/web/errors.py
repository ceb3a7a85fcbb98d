"""Errors of the web layer, and those that the proxy in front of the service sends."""

from app.core.errors import AppError, BadRequest, Conflict, Forbidden, Unauthorised, Unprocessable


class MalformedBody(BadRequest):
    number, code = 40003, "BODY_BROKEN"
    message = "The body ended early or its chunks are malformed; send the whole request again."


class TokenMissing(Unauthorised):
    number, code = 40101, "TOKEN_MISSING"
    message = "Send an access token: Authorization: Bearer <token>."


class TokenExpired(Unauthorised):
    number, code = 40102, "TOKEN_EXPIRED"
    message = "The access token has expired; get a new one from /api/auth/refresh."


class TokenInvalid(Unauthorised):
    number, code = 40103, "TOKEN_INVALID"
    message = "The access token is not valid; sign in again."


class SessionEnded(Unauthorised):
    number, code = 40104, "SESSION_ENDED"
    message = "This session has ended; sign in again."


class RoleNotAllowed(Forbidden):
    number, code = 40301, "ROLE_NOT_ALLOWED"
    message = "Your account's role may not do this."


class IdempotencyInProgress(Conflict):
    number, code = 40901, "IDEMPOTENCY_IN_PROGRESS"
    message = "The first request with this idempotency key is still running; ask again in a moment."


class IdempotencyKeyReused(Conflict):
    number, code = 40902, "IDEMPOTENCY_KEY_REUSED"
    message = "This idempotency key was used with another body; take a new key for a new request."


class IdempotencyGrantChanged(Conflict):
    number, code = 40927, "IDEMPOTENCY_GRANT_CHANGED"
    message = (
        "This request was carried out before. Your roles have changed since, so its response is not given again; read "
        "what it made instead of sending it with a new key."
    )


class IdempotencyKeysDiffer(Unprocessable):
    number, code = 42202, "IDEMPOTENCY_KEYS_DIFFER"
    message = "The Idempotency-Key header and idempotencyKey in the body differ; send one of them."


class HostNotTrusted(BadRequest):
    number, code = 40002, "HOST_NOT_TRUSTED"
    message = "This service does not answer to that host name."


class UriTooLong(AppError):
    """Sent by the proxy, whose line limit is the same as that of gunicorn (deploy/nginx/http.conf)."""

    status, number, code = 414, 41400, "URI_TOO_LONG"
    message = "The address is too long; send long input in a body, or ask for less at once."


class UpstreamUnavailable(AppError):
    """Sent by the proxy if the service closes the connection before it responds."""

    status, number, code = 502, 50200, "NO_ANSWER"
    message = (
        "The service gave no answer, so the request may or may not have counted; "
        "repeat it with the same Idempotency-Key."
    )


class UpstreamTimeout(AppError):
    """Sent by the proxy if the service does not respond within its time limit."""

    status, number, code = 504, 50400, "ANSWER_TOO_LATE"
    message = (
        "The answer took too long, so the request may or may not have counted; repeat it with the same Idempotency-Key."
    )
