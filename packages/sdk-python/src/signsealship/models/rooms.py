"""Rooms: the orders of one closing, and the closing passport that seals them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

StatusGroup = Literal[
    "open",
    "signing",
    "signed",
    "notarizing",
    "notarized",
    "shipping",
    "shipped",
    "delivered",
    "complete",
    "attention",
]
"""The meaning of an order's status; drive logic from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedRoom:
    """A room that was made."""

    room_code: str
    """By which the room is known; who has it sees the room."""
    room_url: str
    """The room's page."""
    name: str
    """As it was given."""
    reference: str | None
    """Your own."""
    status: str
    """`open`."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckoutOrder:
    """An order that a room's checkout pays."""

    order_code: str
    """By which the order is known."""
    total_cents: int
    """US cents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomCheckout:
    """The hosted checkout of a room."""

    checkout_url: str
    """Where all of its orders are paid together."""
    orders: list[CheckoutOrder]
    """Every payable order of your firm, as the room lists them."""
    total_cents: int
    """Their sum in US cents."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomSummary:
    """A room in a list."""

    room_code: str
    """By which the room is known; who has it sees the room."""
    name: str
    """As it was given."""
    reference: str | None
    """Your own."""
    status: str
    """`open` or `closed`."""
    order_count: int
    """How many orders are attached."""
    created_at: datetime
    """UTC."""
    updated_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomList:
    """A page of rooms, newest first."""

    rooms: list[RoomSummary]
    """Newest first."""
    next_cursor: str | None
    """For `cursor` of the next call; None after the last page."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardServices:
    """The services of an order."""

    sign: bool
    """Signed."""
    notarize: bool
    """Notarized."""
    ship: bool
    """Shipped."""
    fax: bool
    """Faxed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSigner:
    """A signer as the room shows them."""

    name: str | None
    """None when none was given."""
    email: str
    """Masked."""
    routing_order: int
    """Signers of one number sign in parallel."""
    signed: bool
    """Whether they have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCard:
    """An order as the room shows it."""

    order_code: str
    """The order's code."""
    label: str | None
    """The order's name in the room."""
    status: str
    """The vocabulary can grow: drive logic from `status_group`."""
    status_group: StatusGroup
    """The meaning of the status."""
    services: CardServices
    """The services of the order."""
    signers: list[CardSigner]
    """Who signs."""
    evidence_badge: Literal["sealed", "recorded", "none"]
    """The evidence of the order."""
    verify_code: str | None
    """By which anybody verifies it."""
    tracking_number: str | None
    """Of the carrier."""
    carrier: str | None
    """Who ships it."""
    attached_at: datetime
    """UTC."""
    taken_in: Literal[True] | None = None
    """A document that was signed or notarized elsewhere is on record: an operator took it in. None otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branding:
    """The firm's look."""

    brand_name: str | None
    """In place of the firm's name."""
    accent_color: str | None
    """As CSS spells it."""
    logo_url: str | None
    """Of a picture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomProgress:
    """How many of the room's orders are how far."""

    total: int
    """Attached."""
    signed: int
    """Signed."""
    sealed: int
    """Sealed."""
    delivered: int
    """Delivered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomActivity:
    """Something that happened to an order of the room."""

    order_code: str
    """The order's code."""
    action: str
    """The change, in words."""
    from_status: str | None
    """The status before."""
    to_status: str | None
    """The status after."""
    occurred_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomPassport:
    """The latest closing passport of the room."""

    version: int
    """From 1."""
    verify_code: str
    """For `rooms.verify`."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomMember:
    """A participant as the room shows them."""

    name: str
    """As it was given."""
    email: str
    """As the room shows it."""
    role: str
    """`client` unless another was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomView:
    """A room as everybody sees it who has its code."""

    room_code: str
    """The room's code."""
    name: str
    """As it was given."""
    reference: str | None
    """The firm's own."""
    status: str
    """`open` or `closed`."""
    partner_name: str
    """The firm."""
    branding: Branding | None
    """The firm's look; None when it has none."""
    progress: RoomProgress
    """How far the orders are."""
    orders: list[OrderCard]
    """Those attached."""
    activity: list[RoomActivity]
    """Newest first."""
    passport: RoomPassport | None
    """The latest; None when the room was not sealed."""
    participants: list[RoomMember]
    """Who takes part."""
    created_at: datetime
    """UTC."""
    updated_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedOrder:
    """An order that is in a room now."""

    already_attached: bool
    """It was there before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedRoom:
    """A room under its new code."""

    room_code: str
    """The new code."""
    room_url: str
    """The room's page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomStatus:
    """A room after it was closed or reopened."""

    status: str
    """`open` or `closed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """Who takes part in a room."""

    participant_id: str
    """For `rooms.remove_participant`."""
    name: str
    """As it was given."""
    email: str
    """As it was given."""
    role: str
    """`client` unless another was given."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantList:
    """Who takes part in a room."""

    participants: list[Participant]
    """Oldest first."""
    request_id: str
    """Of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedParticipant:
    """Somebody who takes part in a room now."""

    already_present: bool
    """They did before."""
