"""The bodies of deliveries. De-duplicate by `id`; expect further types."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Union


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEventData:
    """Members of every order topic."""

    order_code: str
    """The order's code."""
    status: str
    """The order's status then."""
    environment: Literal["live", "test"]
    """The environment of the order."""
    occurred_at_utc: datetime
    """The time of the event."""
    external_reference: str | None = None
    """The `external_reference` of the order; None when none was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEvent:
    """Something happened to an order."""

    type: Literal["order.created", "payment.cleared", "signature.completed", "shipment.delivered"]
    """The topic."""
    id: str
    """The same id may come twice."""
    data: OrderEventData
    """The order and its status."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignerEventData:
    """Members of every topic of a signer."""

    order_code: str
    """The order's code."""
    signer: int
    """The signer's number in the order, from 1."""
    status: str
    """The order's status then."""
    environment: Literal["live", "test"]
    """The environment of the order."""
    occurred_at_utc: datetime
    """The time of the event."""
    channel: str | None = None
    """How the signer came to the signing page, such as `mail_link`. None in `signature.requested` and in
    older events. The list may grow."""
    external_reference: str | None = None
    """The `external_reference` of the order; None when none was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignerEvent:
    """A signer was asked to sign, opened the document, signed or declined."""

    type: Literal["signature.requested", "signature.viewed", "signature.signed", "signature.declined"]
    """The signer's act."""
    id: str
    """The same id may come twice."""
    data: SignerEventData
    """The order and the signer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingStartedData:
    """A recording of a session with a notary."""

    order_code: str
    """The order's code."""
    environment: Literal["live", "test"]
    """The environment of the order."""
    occurred_at_utc: datetime
    """The time of the event."""
    started_at_utc: datetime
    """When the recording started."""
    external_reference: str | None = None
    """The `external_reference` of the order; None when none was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingStartedEvent:
    """A recording started."""

    type: Literal["recording.started"]
    """`recording.started`."""
    id: str
    """The same id may come twice."""
    data: RecordingStartedData
    """The recording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingCompletedData:
    """A recording that ended."""

    order_code: str
    """The order's code."""
    environment: Literal["live", "test"]
    """The environment of the order."""
    occurred_at_utc: datetime
    """The time of the event."""
    started_at_utc: datetime
    """When the recording started."""
    ended_at_utc: datetime
    """When the recording ended."""
    recording_sha256: str
    """SHA-256 of the recording's manifest, in hex."""
    external_reference: str | None = None
    """The `external_reference` of the order; None when none was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingCompletedEvent:
    """A recording ended, and its manifest is made."""

    type: Literal["recording.completed"]
    """`recording.completed`."""
    id: str
    """The same id may come twice."""
    data: RecordingCompletedData
    """The recording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingInterruptedData:
    """A recording that continued in a new take."""

    order_code: str
    """The order's code."""
    environment: Literal["live", "test"]
    """The environment of the order."""
    occurred_at_utc: datetime
    """The time of the event."""
    started_at_utc: datetime
    """When the recording started."""
    cause: str
    """
    The cause: `failed` when a connection was lost, `stopped` when the recording process stopped. The list may grow.
    """
    external_reference: str | None = None
    """The `external_reference` of the order; None when none was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingInterruptedEvent:
    """Somebody's connection was lost, or the recording process stopped."""

    type: Literal["recording.interrupted"]
    """`recording.interrupted`."""
    id: str
    """The same id may come twice."""
    data: RecordingInterruptedData
    """The recording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingDeletedData:
    """A recording that was deleted; its manifest stays."""

    order_code: str
    """The order's code."""
    environment: Literal["live", "test"]
    """The environment of the order."""
    occurred_at_utc: datetime
    """The time of the event."""
    started_at_utc: datetime
    """When the recording started."""
    ended_at_utc: datetime
    """When the recording ended."""
    recording_sha256: str
    """SHA-256 of the recording's manifest, in hex."""
    reason: str
    """The reason: `retention` when the retention plan deleted it. The list may grow."""
    external_reference: str | None = None
    """The `external_reference` of the order; None when none was sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingDeletedEvent:
    """A recording was deleted."""

    type: Literal["recording.deleted"]
    """`recording.deleted`."""
    id: str
    """The same id may come twice."""
    data: RecordingDeletedData
    """The recording."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportSealedData:
    """A PDF that was sealed."""

    passport_id: str
    """The id for `passports.get`."""
    verify_code: str
    """The public verify code."""
    verify_url: str
    """The address of the public verify page."""
    doc_sha256: str
    """The SHA-256 of the original document, in hex."""
    sealed_sha256: str
    """The SHA-256 of the sealed PDF, in hex."""
    status: Literal["sealed"]
    """Always `sealed`."""
    sealed_at_utc: datetime
    """When it was sealed."""
    environment: Literal["live", "test"]
    """The environment; a document in `test` proves nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportSealedEvent:
    """A PDF was sealed."""

    type: Literal["passport.sealed"]
    """`passport.sealed`."""
    id: str
    """The same id may come twice."""
    data: PassportSealedData
    """The passport."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomOrderAttachedData:
    """A room and the order that is in it now."""

    room_code: str
    """The room's code."""
    room_name: str
    """The room's name."""
    event: Literal["room.order_attached"]
    """The same as `type`."""
    order_code: str
    """The order's code."""
    occurred_at_utc: datetime
    """The time of the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomOrderAttachedEvent:
    """An order was attached to a room."""

    type: Literal["room.order_attached"]
    """`room.order_attached`."""
    id: str
    """The same id may come twice."""
    data: RoomOrderAttachedData
    """The room and the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomPassportSealedData:
    """A room and its closing passport."""

    room_code: str
    """The room's code."""
    room_name: str
    """The room's name."""
    event: Literal["room.passport_sealed"]
    """The same as `type`."""
    passport_verify_code: str
    """The code for `rooms.verify`."""
    occurred_at_utc: datetime
    """The time of the event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomPassportSealedEvent:
    """A room was sealed."""

    type: Literal["room.passport_sealed"]
    """`room.passport_sealed`."""
    id: str
    """The same id may come twice."""
    data: RoomPassportSealedData
    """The room and its passport."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTestData:
    """The webhook that is tested."""

    webhook_id: str
    """The webhook."""
    environment: Literal["live", "test"]
    """The environment of the webhook."""
    occurred_at_utc: datetime
    """When the test was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTestEvent:
    """Somebody tests the webhook."""

    type: Literal["webhook.test"]
    """`webhook.test`."""
    id: str
    """The same id may come twice."""
    data: WebhookTestData
    """The webhook."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEvent:
    """An event of a type, or of a shape, that is newer than this package."""

    type: str
    """The topic."""
    id: str
    """The same id may come twice."""
    data: Any
    """The data as received, in camelCase."""


WebhookEvent = Union[
    OrderEvent,
    SignerEvent,
    RecordingStartedEvent,
    RecordingCompletedEvent,
    RecordingInterruptedEvent,
    RecordingDeletedEvent,
    PassportSealedEvent,
    RoomOrderAttachedEvent,
    RoomPassportSealedEvent,
    WebhookTestEvent,
    UnknownEvent,
]
"""The body of a delivery."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedEvent:
    """An event of the feed, and its place among all events of the firm in one environment."""

    position: int
    """The event's position, counted from 1 without gaps."""
    head: str
    """The hash over this event and all earlier ones, in hex."""
    type: str
    """The topic."""
    id: str
    """The same value as in the body of a delivery."""
    occurred_at_utc: datetime
    """The time of the event."""
    payload: WebhookEvent | None
    """The body that a webhook gets; None when the record that it described was deleted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFeed:
    """A part of the firm's events."""

    events: list[FeedEvent]
    """The oldest comes first."""
    cursor: str
    """The cursor for the next call; always present."""
    request_id: str
    """The id of the request, for support."""
