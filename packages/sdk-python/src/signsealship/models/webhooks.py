"""Webhooks and their deliveries."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

Topic = Literal[
    "passport.sealed",
    "room.order_attached",
    "room.passport_sealed",
    "order.created",
    "payment.cleared",
    "signature.completed",
    "shipment.delivered",
    "signature.requested",
    "signature.viewed",
    "signature.signed",
    "signature.declined",
    "recording.started",
    "recording.completed",
    "recording.interrupted",
    "recording.deleted",
]
"""The topics of webhooks."""

DeliveryState = Literal["pending", "delivered", "failed"]
"""The state of a delivery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """The URL to which deliveries are sent."""

    id: str
    """The webhook's id."""
    url: str
    """The URL to which deliveries are sent."""
    topics: list[str]
    """The topics that it receives."""
    active: bool
    """True if deliveries are sent."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedWebhook:
    """A webhook that was made, and its secret."""

    id: str
    """The webhook's id."""
    secret: str
    """The secret for `parse_webhook`; shown only once."""
    url: str
    """The URL to which deliveries are sent."""
    topics: list[str]
    """The topics that it receives."""
    signature_header: str
    """The name of the header with the signature."""
    standard_webhooks_secret: str
    """The same secret in the form of Standard Webhooks libraries; shown only once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedSecret:
    """A webhook's new secret."""

    id: str
    """The webhook's id."""
    secret: str
    """The new secret; shown only once."""
    signature_header: str
    """The name of the header with the signature."""
    standard_webhooks_secret: str
    """The same secret in the form of Standard Webhooks libraries; shown only once."""
    previous_secret_expires_at: datetime
    """The end of the time in which the old secret also signs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event on its way to one webhook."""

    delivery_id: str
    """The id for `webhooks.delivery` and `webhooks.replay`."""
    webhook_id: str
    """The webhook."""
    event_id: str
    """The `id` of the body."""
    event_name: str
    """The topic."""
    state: DeliveryState
    """The state of the delivery."""
    attempts: int
    """The number of attempts."""
    last_status_code: int | None
    """The status of your receiver's response."""
    duration_ms: int | None
    """The duration of that attempt."""
    reason: str | None
    """The reason of the failure."""
    destination_url: str
    """The URL to which it was sent."""
    created_at: datetime
    """UTC."""
    completed_at: datetime | None
    """UTC; None while it is pending."""
    replayed_from: str | None
    """The delivery that this one repeats."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryList:
    """A page of deliveries, newest first."""

    deliveries: list[Delivery]
    """The newest comes first."""
    next_cursor: str | None
    """Pass it as `cursor` to the next call; None after the last page."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedDelivery:
    """A delivery that repeats another."""

    delivery_id: str
    """The id of the new delivery."""
    replayed_from: str
    """The id of the old delivery."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPayload:
    """The body of a delivery."""

    text: str
    """The text, recomputed from the records."""
    is_as_sent: bool | None
    """True if the text equals the sent one, by its hash; None when that is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRequest:
    """The request that was sent."""

    headers: dict[str, str]
    """The headers that were sent."""
    payload: SentPayload | None
    """None when the record that it described was deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryResponse:
    """Your receiver's answer."""

    status_code: int
    """The HTTP status."""
    headers: dict[str, str]
    """The headers of the response."""
    body: str
    """The first 4 KiB of the body."""
    is_cut: bool
    """True if the body was longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryExchange:
    """The request of one delivery, and its answer."""

    delivery_id: str
    """The delivery."""
    failure: str | None
    """The reason of the failure, in words: `Answered 500`; None for other deliveries."""
    request: DeliveryRequest
    """The request that was sent."""
    response: DeliveryResponse | None
    """None when no response arrived."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedFailures:
    """The result of one call that replays failed deliveries."""

    replayed: int
    """How many deliveries were replayed."""
    left: int
    """How many are left: while this is above zero, call again with `until`."""
    until: datetime
    """The end of the period, for the next call."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTestDelivery:
    """The delivery of a `webhook.test` event."""

    delivery_id: str
    """The id for `webhooks.delivery`."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookPublicKey:
    """The Ed25519 key behind the `v1a` entries of `webhook-signature`."""

    public_key: str
    """As Standard Webhooks writes it: `whpk_` and the base64 of 32 bytes."""
    public_key_pem: str
    """The same key as PEM."""
    environment: Literal["live", "test"]
    """The environment of the key."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureExample:
    """A worked example of a signature."""

    signature_header: str
    """The name of the header with the signature."""
    event_header: str
    """The header that names the topic."""
    tolerance_seconds: int
    """The largest accepted difference between the signature's time and yours."""
    verification: str
    """How to check the signature, in words."""
    secret: str
    """The example's secret."""
    signing_key: str
    """The hex SHA-256 of the secret: the key of the HMAC."""
    timestamp: int
    """Seconds since 1970."""
    raw_body: str
    """The body, byte for byte."""
    signed_string: str
    """The signed text: the time, a dot, the body."""
    headers: dict[str, str]
    """The headers that the delivery would have."""
