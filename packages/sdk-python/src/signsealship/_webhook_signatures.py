"""The signatures of deliveries."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from datetime import datetime

from ._errors import UnexpectedAnswerError, WebhookError, WebhookReason
from ._parse import parse
from .models.events import WebhookEvent

SIGNATURE_HEADER = "Service-Signature"
"""The name of the header with the signature; header names are case-insensitive."""

_MOST_CANDIDATES = 10


def _bytes(payload: bytes | str) -> bytes:
    return payload.encode() if isinstance(payload, str) else payload


def _seconds(now: float | datetime | None) -> float:
    if now is None:
        return time.time()
    return now.timestamp() if isinstance(now, datetime) else now


def _hash(secret: str) -> bytes:
    if secret == "":
        raise ValueError("The webhook's secret is empty.")  # Anyone could sign with an empty secret.
    return hashlib.sha256(secret.encode()).digest()


def _mac(payload: bytes | str, secret: str, t: str) -> str:
    """HMAC-SHA256 under the hex SHA-256 of the secret, over `<unix seconds>.<body>`."""
    key = _hash(secret).hex().encode()
    return hmac.new(key, t.encode() + b"." + _bytes(payload), hashlib.sha256).hexdigest()


def _parse_header(header: str) -> tuple[str, list[str]] | None:
    """`t=<unix seconds>,v1=<hex>[,v1=<hex>...]`; entries of other names are of a later scheme and ignored."""
    t: str | None = None
    candidates: list[str] = []
    for entry in header.split(","):
        name, _, value = (part.strip() for part in entry.partition("="))
        if name == "t":
            if t is not None or not re.fullmatch("[0-9]{1,12}", value):
                return None
            t = value
        elif name == "v1" and re.fullmatch("[0-9a-f]{64}", value):
            candidates.append(value)
    # A rotation has only a few signatures. A limit is needed because each costs an HMAC before the sender is
    # authenticated.
    if t is None or not 1 <= len(candidates) <= _MOST_CANDIDATES:
        return None
    return t, candidates


def _fault(
    payload: bytes | str, signature: str | None, secret: str, tolerance: float, now: float | datetime | None
) -> WebhookReason | None:
    if not signature:
        return "missing_signature"
    parsed = _parse_header(signature)
    if parsed is None:
        return "malformed_signature"
    t, candidates = parsed
    if not abs(_seconds(now) - int(t)) <= tolerance:
        return "outside_tolerance"
    mac = _mac(payload, secret, t)
    # Compares all of them in constant time, even after a match.
    return None if any([hmac.compare_digest(mac, each) for each in candidates]) else "wrong_signature"


_WORDS: dict[WebhookReason, str] = {
    "missing_signature": f"The delivery has no {SIGNATURE_HEADER} header.",
    "malformed_signature": f"The {SIGNATURE_HEADER} header is not t=<unix seconds>,v1=<hex>.",
    "outside_tolerance": "The signature was not made about now: check this machine's clock.",
    "wrong_signature": (
        "No signature matches the body and the secret: pass the body as it came, and the secret of this webhook."
    ),
    "not_json": "The body is signed, but is not an event in JSON.",
}


def verify_webhook(
    payload: bytes | str,
    signature: str | None,
    secret: str,
    *,
    tolerance: float = 300,
    now: float | datetime | None = None,
) -> bool:
    """
    True if a delivery was signed with your secret, about now. The arguments are those of `parse_webhook`.

    :raises ValueError: for an empty secret
    """
    return _fault(payload, signature, secret, tolerance, now) is None


def parse_webhook(
    payload: bytes | str,
    signature: str | None,
    secret: str,
    *,
    tolerance: float = 300,
    now: float | datetime | None = None,
) -> WebhookEvent:
    """
    The event of a delivery, once its signature is accepted.

    :param payload: the body exactly as it came, before any parser; text is taken as UTF-8
    :param signature: the value of `Service-Signature`; None when the delivery has none
    :param secret: the signing secret, `svc_whsec_...`; during a rotation either the old or the new one
    :param tolerance: seconds that the signature may be old, or ahead
    :param now: the present instant, or seconds since 1970. Default: the system's clock
    :raises WebhookError: that names its `reason`
    :raises ValueError: for an empty secret
    """
    fault = _fault(payload, signature, secret, tolerance, now)
    if fault is not None:
        raise WebhookError(fault, _WORDS[fault])
    try:
        event: WebhookEvent = parse(WebhookEvent, json.loads(_bytes(payload).decode()), "The event")
        return event
    except (ValueError, RecursionError, UnexpectedAnswerError):
        raise WebhookError("not_json", _WORDS["not_json"]) from None


def sign_webhook(payload: bytes | str, secret: str, *, now: float | datetime | None = None) -> dict[str, str]:
    """
    The headers of a delivery as the service would send it, for tests of your receiver.

    :param payload: the JSON text that the request will have, byte for byte
    :param now: when it is signed. Default: the system's clock
    """
    t = str(int(_seconds(now)))
    return {"Content-Type": "application/json", SIGNATURE_HEADER: f"t={t},v1={_mac(payload, secret, t)}"}


def standard_secret(secret: str) -> str:
    """
    Converts a secret for Standard Webhooks libraries, which check `webhook-signature`: `whsec_` and the base64 of
    its SHA-256.

    :raises ValueError: for an empty secret
    """
    return f"whsec_{base64.b64encode(_hash(secret)).decode()}"
