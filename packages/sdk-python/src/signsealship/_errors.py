"""The errors of the client, as exceptions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal


class SignSealShipError(Exception):
    """The base of every exception of this package."""


class APIConnectionError(SignSealShipError):
    """The service was not reached, or the connection was cut before its answer was complete."""


class APITimeoutError(APIConnectionError):
    """The service did not answer in time."""


class UnexpectedAnswerError(SignSealShipError):
    """A successful answer whose body does not match the interface, such as a proxy's page."""


class APIError(SignSealShipError):
    """A refusal by the service."""

    status: int
    """The HTTP status."""
    code: str | None
    """The kind of refusal, for programs: `validation`, `not_found`, `rate_limited`. None when it was not named."""
    message: str
    """The reason of the refusal, for people."""
    request_id: str | None
    """The `Request-Id` of the answer, for support."""
    retry_after: float | None
    """Seconds after which a 429 or 503 may be tried again. None when the answer did not say."""
    body: Any
    """The answer's body, parsed when it was JSON."""

    def __init__(
        self,
        message: str,
        *,
        status: int,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        body: Any = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.code = code
        self.request_id = request_id
        self.retry_after = retry_after
        self.body = body

    def __str__(self) -> str:
        facts = [str(self.status), self.code, self.request_id and f"request {self.request_id}"]
        return f"{self.message} ({', '.join(fact for fact in facts if fact)})"


class BadRequestError(APIError):
    """400: something in the request is missing or wrong; the message says what."""


class AuthenticationError(APIError):
    """401: the key is missing or no longer valid."""


class PermissionDeniedError(APIError):
    """403: the key may not do this."""


class NotFoundError(APIError):
    """404: the thing does not exist, or it belongs to another firm."""


class ConflictError(APIError):
    """409: the state does not allow this, or another request uses the same idempotency key."""


class RateLimitError(APIError):
    """429: too many requests; `retry_after` says when to try again."""


class ServerError(APIError):
    """500 and above: the service could not handle the request now."""


_by_status: Mapping[int, type[APIError]] = {
    400: BadRequestError,
    401: AuthenticationError,
    403: PermissionDeniedError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitError,
}


def api_error(status: int, headers: Mapping[str, str], content: bytes) -> APIError:
    """The exception of an answer that is not a success."""
    body: Any = content.decode("utf-8", "replace")
    try:
        body = json.loads(body)
    except ValueError:
        pass  # Some refusals have no body.
    said: Mapping[str, Any] = body if isinstance(body, dict) else {}
    texts = [text for text in (said.get("detail"), said.get("error")) if isinstance(text, str)]
    code = said.get("code")
    kind = _by_status.get(status, ServerError if status >= 500 else APIError)
    return kind(
        texts[0] if texts else f"Answered {status}.",
        status=status,
        code=code if isinstance(code, str) else None,
        request_id=headers.get("Request-Id"),
        retry_after=_seconds(headers.get("Retry-After")),
        body=body,
    )


def _seconds(text: str | None) -> float | None:
    # The header may contain a date, a form that the service does not send.
    return float(text) if text is not None and text.isascii() and text.isdigit() else None


WebhookReason = Literal["missing_signature", "malformed_signature", "outside_tolerance", "wrong_signature", "not_json"]
"""Why a delivery is not to be trusted, or can't be read."""


class WebhookError(SignSealShipError):
    """A delivery that was not signed with your secret, or is not an event."""

    reason: WebhookReason
    """The reason, for programs."""

    def __init__(self, reason: WebhookReason, message: str) -> None:
        super().__init__(message)
        self.reason = reason
