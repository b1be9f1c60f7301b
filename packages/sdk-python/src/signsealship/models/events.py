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
    """Of the order."""
    occurred_at_utc: datetime
    """When it happened."""
    external_reference: str | None = None
    """None when none was sent with the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderEvent:
    """Something happened to an order."""

    type: Literal["order.created", "payment.cleared", "signature.completed", "shipment.delivered"]
    """The topic."""
    id: str
    """The same id may come twice."""
    data: OrderEventData
    """To which order."""


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
    """When it happened."""
    external_reference: str | None = None
    """None when none was sent with the order."""


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
    """When it happened."""
    started_at_utc: datetime
    """When the recording started."""
    external_reference: str | None = None
    """None when none was sent with the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingStartedEvent:
    """A recording started."""

    type: Literal["recording.started"]
    """`recording.started`."""
    id: str
    """The same id may come twice."""
    data: RecordingStartedData
    """Which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingCompletedData:
    """A recording that ended."""

    order_code: str
    """The order's code."""
    environment: Literal["live", "test"]
    """The environment of the order."""
    occurred_at_utc: datetime
    """When it happened."""
    started_at_utc: datetime
    """When the recording started."""
    ended_at_utc: datetime
    """When the recording ended."""
    recording_sha256: str
    """SHA-256 of the recording's manifest, in hex."""
    external_reference: str | None = None
    """None when none was sent with the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingCompletedEvent:
    """A recording ended, and its manifest is made."""

    type: Literal["recording.completed"]
    """`recording.completed`."""
    id: str
    """The same id may come twice."""
    data: RecordingCompletedData
    """Which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingInterruptedData:
    """A recording that went on in a new take."""

    order_code: str
    """The order's code."""
    environment: Literal["live", "test"]
    """The environment of the order."""
    occurred_at_utc: datetime
    """When it happened."""
    started_at_utc: datetime
    """When the recording started."""
    cause: str
    """`failed`: a line was lost. `stopped`: the recording process. The list may grow."""
    external_reference: str | None = None
    """None when none was sent with the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingInterruptedEvent:
    """Somebody's line was lost, or the recording process stopped."""

    type: Literal["recording.interrupted"]
    """`recording.interrupted`."""
    id: str
    """The same id may come twice."""
    data: RecordingInterruptedData
    """Which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingDeletedData:
    """A recording that is gone; its manifest stays."""

    order_code: str
    """The order's code."""
    environment: Literal["live", "test"]
    """The environment of the order."""
    occurred_at_utc: datetime
    """When it happened."""
    started_at_utc: datetime
    """When the recording started."""
    ended_at_utc: datetime
    """When the recording ended."""
    recording_sha256: str
    """SHA-256 of the recording's manifest, in hex."""
    reason: str
    """`retention`: its time was over. The list may grow."""
    external_reference: str | None = None
    """None when none was sent with the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordingDeletedEvent:
    """A recording was deleted."""

    type: Literal["recording.deleted"]
    """`recording.deleted`."""
    id: str
    """The same id may come twice."""
    data: RecordingDeletedData
    """Which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportSealedData:
    """A PDF that was sealed."""

    passport_id: str
    """For `passports.get`."""
    verify_code: str
    """By which anybody verifies it."""
    verify_url: str
    """Where anybody verifies it."""
    doc_sha256: str
    """Of what came in, in hex."""
    sealed_sha256: str
    """Of the sealed PDF, in hex."""
    status: Literal["sealed"]
    """Always `sealed`."""
    sealed_at_utc: datetime
    """When it was sealed."""
    environment: Literal["live", "test"]
    """Tests prove nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassportSealedEvent:
    """A PDF was sealed."""

    type: Literal["passport.sealed"]
    """`passport.sealed`."""
    id: str
    """The same id may come twice."""
    data: PassportSealedData
    """Which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomOrderAttachedData:
    """A room and the order that is in it now."""

    room_code: str
    """The room's code."""
    room_name: str
    """The room's name."""
    event: Literal["room.order_attached"]
    """The topic once more."""
    order_code: str
    """The order's code."""
    occurred_at_utc: datetime
    """When it happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomOrderAttachedEvent:
    """An order was attached to a room."""

    type: Literal["room.order_attached"]
    """`room.order_attached`."""
    id: str
    """The same id may come twice."""
    data: RoomOrderAttachedData
    """Which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomPassportSealedData:
    """A room and its closing passport."""

    room_code: str
    """The room's code."""
    room_name: str
    """The room's name."""
    event: Literal["room.passport_sealed"]
    """The topic once more."""
    passport_verify_code: str
    """For `rooms.verify`."""
    occurred_at_utc: datetime
    """When it happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomPassportSealedEvent:
    """A room was sealed."""

    type: Literal["room.passport_sealed"]
    """`room.passport_sealed`."""
    id: str
    """The same id may come twice."""
    data: RoomPassportSealedData
    """Which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookTestData:
    """The webhook that is tested."""

    webhook_id: str
    """The webhook."""
    environment: Literal["live", "test"]
    """Of the webhook."""
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
    """Which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownEvent:
    """An event of a type, or of a shape, that is newer than this package."""

    type: str
    """The topic."""
    id: str
    """The same id may come twice."""
    data: Any
    """As it came, in camelCase."""


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
    """From 1, without a gap."""
    head: str
    """The hash over this event and all before it, in hex."""
    type: str
    """The topic."""
    id: str
    """As the body of a delivery has it."""
    occurred_at_utc: datetime
    """When it happened."""
    payload: WebhookEvent | None
    """The body that a webhook is sent; None when the record it was about is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFeed:
    """A part of the firm's events."""

    events: list[FeedEvent]
    """Oldest first."""
    cursor: str
    """For the next call; there always is one."""
    request_id: str
    """Of the request, for support."""
