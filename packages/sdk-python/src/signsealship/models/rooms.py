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
"""The meaning of an order's status; base your logic on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreatedRoom:
    """A room that was made."""

    room_code: str
    """The room's code. Anyone who has it can see the room."""
    room_url: str
    """The room's page."""
    name: str
    """The value that was given."""
    reference: str | None
    """Your own reference."""
    status: str
    """`open`."""
    created_at: datetime
    """UTC."""
    closes_on: str | None = None
    """The day on which the closing is due, such as `2026-11-30`; None without one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckoutOrder:
    """An order that a room's checkout pays."""

    order_code: str
    """The order's code."""
    total_cents: int
    """US cents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomCheckout:
    """The hosted checkout of a room."""

    checkout_url: str
    """The address where all of its orders are paid together."""
    orders: list[CheckoutOrder]
    """The payable orders that this payer pays, as the room lists them."""
    total_cents: int
    """The sum of these orders in US cents."""
    pay_by: Literal["client", "firm"]
    """Whose orders it pays: the client's, or your firm's."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargedOrder:
    """An order that a room's charge pays."""

    order_code: str
    """The order's code."""
    charge_id: str
    """The charge's id; the order has its state."""
    total_cents: int
    """US cents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomCharge:
    """The payment of a room's orders by your firm's card or bank account."""

    payment_id: str
    """The id of the one payment for all of these orders."""
    orders: list[ChargedOrder]
    """Every payable order that your firm pays, as the room lists them."""
    total_cents: int
    """The sum of these orders in US cents."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomSummary:
    """A room in a list."""

    room_code: str
    """The room's code. Anyone who has it can see the room."""
    name: str
    """The value that was given."""
    reference: str | None
    """Your own reference."""
    status: str
    """`open` or `closed`."""
    order_count: int
    """How many orders are attached."""
    created_at: datetime
    """UTC."""
    updated_at: datetime
    """UTC."""
    closes_on: str | None = None
    """The day on which the closing is due, such as `2026-11-30`; None without one."""
    seal_when_done: bool | None = None
    """True if the service seals the closing certificate once every order has ended; None if it does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomList:
    """A page of rooms, newest first."""

    rooms: list[RoomSummary]
    """The newest comes first."""
    next_cursor: str | None
    """Pass it as `cursor` to the next call; None after the last page."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardServices:
    """The services of an order."""

    sign: bool
    """True if the document is signed."""
    notarize: bool
    """True if it is notarized."""
    ship: bool
    """True if it is shipped."""
    fax: bool
    """True if it is faxed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSigner:
    """A signer as the room shows them."""

    name: str | None
    """None when none was given."""
    email: str
    """Masked."""
    routing_order: int
    """The signer's turn. Signers with the same number sign in parallel."""
    signed: bool
    """True if the signer has signed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderCard:
    """An order as the room shows it."""

    order_code: str
    """The order's code."""
    label: str | None
    """The order's name in the room."""
    status: str
    """The status. The list can grow: base your logic on `status_group`."""
    status_group: StatusGroup
    """The meaning of the status."""
    services: CardServices
    """The services of the order."""
    signers: list[CardSigner]
    """The signers."""
    evidence_badge: Literal["sealed", "recorded", "none"]
    """The evidence of the order."""
    verify_code: str | None
    """The public verify code."""
    tracking_number: str | None
    """The carrier's tracking number."""
    carrier: str | None
    """The carrier."""
    attached_at: datetime
    """UTC."""
    taken_in: Literal[True] | None = None
    """An operator recorded a document that was signed or notarized elsewhere. None otherwise."""
    simulated: Literal[True] | None = None
    """The sandbox completed the signing of this test order, so nobody's signature is in the document. None otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branding:
    """The firm's branding."""

    brand_name: str | None
    """The name shown instead of the firm's name."""
    accent_color: str | None
    """The color in CSS syntax."""
    logo_url: str | None
    """The address of the logo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomProgress:
    """How many of the room's orders reached each step."""

    total: int
    """Attached orders."""
    signed: int
    """Signed orders."""
    sealed: int
    """Sealed orders."""
    delivered: int
    """Delivered orders."""


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
    """Counted from 1."""
    verify_code: str
    """The code for `rooms.verify`."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomMember:
    """A participant as the room shows them."""

    name: str
    """The value that was given."""
    email: str
    """The email address, in the form that the room shows."""
    role: str
    """`client` unless another was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomView:
    """The public view of a room, for everybody who has its code."""

    room_code: str
    """The room's code."""
    name: str
    """The value that was given."""
    reference: str | None
    """The firm's own reference."""
    status: str
    """`open` or `closed`."""
    partner_name: str
    """The firm."""
    branding: Branding | None
    """The firm's branding; None when it has none."""
    progress: RoomProgress
    """The progress of the orders."""
    orders: list[OrderCard]
    """The attached orders."""
    activity: list[RoomActivity]
    """The newest comes first."""
    passport: RoomPassport | None
    """The latest passport; None when the room was not sealed."""
    participants: list[RoomMember]
    """The participants."""
    created_at: datetime
    """UTC."""
    updated_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedOrder:
    """An order that is in a room now."""

    already_attached: bool
    """True if it was there before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RotatedRoom:
    """A room under its new code."""

    room_code: str
    """The new code."""
    room_url: str
    """The room's page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomCorrection:
    """The orders in which an email address of a room was corrected."""

    room_code: str
    """The room's code."""
    corrected: list[str]
    """The codes of the firm's orders in which the address was replaced."""
    not_corrected: list[str]
    """The firm's orders that were left out, because their record was altered: contact the operator of the service."""
    links_not_mailed: bool
    """True if some new links were not mailed, because a room mails at most 25 a day."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomDay:
    """The day on which a room's closing is due."""

    closes_on: str | None
    """Such as `2026-11-30`; None for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomSeal:
    """The setting for automatic sealing of a room's closing certificate."""

    seal_when_done: bool
    """True: once every order has ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomStatus:
    """A room after it was closed or reopened."""

    status: str
    """`open` or `closed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant:
    """A person who takes part in a room."""

    participant_id: str
    """The id for `rooms.remove_participant`."""
    name: str
    """The value that was given."""
    email: str
    """The value that was given."""
    role: str
    """`client` unless another was given."""
    created_at: datetime
    """UTC."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParticipantList:
    """The people who take part in a room."""

    participants: list[Participant]
    """The oldest comes first."""
    request_id: str
    """The id of the request, for support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedParticipant:
    """Somebody who takes part in a room now."""

    already_present: bool
    """True if they took part before."""
