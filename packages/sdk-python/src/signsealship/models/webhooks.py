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
"""How far a delivery is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Where deliveries go."""

    id: str
    """By which the webhook is known."""
    url: str
    """Where deliveries go."""
    topics: list[str]
    """The topics that it receives."""
    active: bool
    """Whether deliveries are sent."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedWebhook:
    """A webhook that was made, and its secret."""

    id: str
    """By which the webhook is known."""
    secret: str
    """For `parse_webhook`; shown this once."""
    url: str
    """Where deliveries go."""
    topics: list[str]
    """The topics that it receives."""
    signature_header: str
    """The header that bears the signature."""
    standard_webhooks_secret: str
    """The same secret as libraries of Standard Webhooks take it; shown this once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedSecret:
    """A webhook's new secret."""

    id: str
    """By which the webhook is known."""
    secret: str
    """The new one; shown this once."""
    signature_header: str
    """The header that bears the signature."""
    standard_webhooks_secret: str
    """The same secret as libraries of Standard Webhooks take it; shown this once."""
    previous_secret_expires_at: datetime
    """The end of the time in which the old secret also signs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One event on its way to one webhook."""

    delivery_id: str
    """For `webhooks.delivery` and `webhooks.replay`."""
    webhook_id: str
    """The webhook."""
    event_id: str
    """The `id` of the body."""
    event_name: str
    """The topic."""
    state: DeliveryState
    """How far it is."""
    attempts: int
    """How often it was sent."""
    last_status_code: int | None
    """Your receiver's answer."""
    duration_ms: int | None
    """How long that took."""
    reason: str | None
    """Why it failed."""
    destination_url: str
    """Where it went."""
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
    """Newest first."""
    next_cursor: str | None
    """For `cursor` of the next call; None after the last page."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedDelivery:
    """A delivery that repeats another."""

    delivery_id: str
    """The new one."""
    replayed_from: str
    """The old one."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentPayload:
    """The body of a delivery."""

    text: str
    """Recomputed from the records."""
    is_as_sent: bool | None
    """Whether it is what was sent, by its hash; None when nobody knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryRequest:
    """The request that was sent."""

    headers: dict[str, str]
    """As they were sent."""
    payload: SentPayload | None
    """None when the record it was about is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryResponse:
    """Your receiver's answer."""

    status_code: int
    """The HTTP status."""
    headers: dict[str, str]
    """As they came."""
    body: str
    """Its first 4 KiB."""
    is_cut: bool
    """Whether there was more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryExchange:
    """The request of one delivery, and its answer."""

    delivery_id: str
    """The delivery."""
    failure: str | None
    """Why it failed, in words: `Answered 500`; None unless it did."""
    request: DeliveryRequest
    """The request that was sent."""
    response: DeliveryResponse | None
    """None when no answer came."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayedFailures:
    """The deliveries that were sent again at once."""

    replayed: int
    """How many were."""
    left: int
    """How many were not: call again, with `until`, while it is above zero."""
    until: datetime
    """The end of the period, for that call."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTestDelivery:
    """The delivery of a `webhook.test` event."""

    delivery_id: str
    """For `webhooks.delivery`."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookPublicKey:
    """The Ed25519 key behind the `v1a` entries of `webhook-signature`."""

    public_key: str
    """As Standard Webhooks writes it: `whpk_` and the base64 of 32 bytes."""
    public_key_pem: str
    """The same in PEM."""
    environment: Literal["live", "test"]
    """Of the key that asked."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignatureExample:
    """A worked example of a signature."""

    signature_header: str
    """The header that bears the signature."""
    event_header: str
    """The header that names the topic."""
    tolerance_seconds: int
    """How far the signature's time may be from yours."""
    verification: str
    """How to check it, in words."""
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
    """As the delivery would have them."""
