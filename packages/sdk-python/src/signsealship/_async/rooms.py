"""Rooms."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Literal

from .._parse import given, reads, reads_bytes, reads_nothing
from .._request import Request, new_idempotency_key, path
from ..models.closing import ClosingPassport, ClosingVerification
from ..models.rooms import (
    AddedParticipant,
    AttachedOrder,
    CreatedRoom,
    ParticipantList,
    RoomCharge,
    RoomCheckout,
    RoomCorrection,
    RoomDay,
    RoomList,
    RoomSeal,
    RoomStatus,
    RoomSummary,
    RoomView,
    RotatedRoom,
)
from .pages import all_pages
from .transport import AsyncTransport


def _page(limit: int | None, cursor: str | None) -> Request[RoomList]:
    return Request("GET", "/api/rooms", reads(RoomList), query=given({"limit": limit, "cursor": cursor}))


class AsyncRooms:
    """The orders of one closing, and the passport that seals them."""

    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def create(
        self,
        name: str,
        *,
        reference: str | None = None,
        closes_on: str | None = None,
        idempotency_key: str | None = None,
    ) -> CreatedRoom:
        """
        Makes a room.

        :param reference: your own
        :param closes_on: the day on which the closing is due, such as `2026-11-30`
        :param idempotency_key: as in `orders.create`
        """
        return await self._transport.send(
            Request(
                "POST",
                "/api/rooms",
                reads(CreatedRoom),
                json=given({"name": name, "reference": reference, "closesOn": closes_on}),
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )

    async def list(self, *, limit: int | None = None, cursor: str | None = None) -> RoomList:
        """
        One page, newest first.

        :param limit: 1 to 1,000; default 1,000
        :param cursor: `next_cursor` of the page before
        """
        return await self._transport.send(_page(limit, cursor))

    async def all(self) -> AsyncIterator[RoomSummary]:
        """Iterates over all rooms, newest first; pages are fetched on demand."""
        async for page in all_pages(self._transport, lambda cursor: _page(None, cursor)):
            for room in page.rooms:
                yield room

    async def view(self, room_code: str) -> RoomView:
        """The public view; needs no key."""
        return await self._transport.send(Request("GET", path("/api/rooms/{}", room_code), reads(RoomView)))

    async def attach(self, room_code: str, order_code: str, *, label: str | None = None) -> AttachedOrder:
        """
        Puts an order into a room.

        :param label: what the room calls it
        """
        body = given({"orderCode": order_code, "label": label})
        where = path("/api/rooms/{}/orders", room_code)
        return await self._transport.send(Request("POST", where, reads(AttachedOrder), json=body))

    async def checkout(
        self,
        room_code: str,
        *,
        pay_by: Literal["client", "firm"] | None = None,
        idempotency_key: str | None = None,
    ) -> RoomCheckout:
        """
        Opens one hosted checkout for all payable orders that one payer pays; an open one is returned again.

        :param pay_by: whose orders it pays. Default: the client's, or your firm's if none waits for a client's payment
        :param idempotency_key: as in `orders.create`
        """
        return await self._transport.send(
            Request(
                "POST",
                path("/api/rooms/{}/checkout", room_code),
                reads(RoomCheckout),
                query=given({"pay_by": pay_by}),
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )

    async def charge(self, room_code: str, *, idempotency_key: str | None = None) -> RoomCharge:
        """
        Charges your firm's card or bank account for every payable order that your firm pays.

        The key needs the scope `spend`, and limits that an owner sets in the dashboard.

        :param idempotency_key: as in `orders.create`
        """
        return await self._transport.send(
            Request(
                "POST",
                path("/api/rooms/{}/charge", room_code),
                reads(RoomCharge),
                idempotency_key=idempotency_key or new_idempotency_key(),
            )
        )

    async def detach(self, room_code: str, order_code: str) -> None:
        """Takes an order out of a room."""
        where = path("/api/rooms/{}/orders/{}", room_code, order_code)
        return await self._transport.send(Request("DELETE", where, reads_nothing))

    async def rotate(self, room_code: str) -> RotatedRoom:
        """Issues a new code; the old one stops working at once."""
        where = path("/api/rooms/{}/rotate", room_code)
        return await self._transport.send(Request("POST", where, reads(RotatedRoom)))

    async def set_closes_on(self, room_code: str, closes_on: str | None) -> RoomDay:
        """
        Sets the day on which the closing is due.

        :param closes_on: such as `2026-11-30`; None removes it
        """
        where = path("/api/rooms/{}/closes-on", room_code)
        return await self._transport.send(Request("POST", where, reads(RoomDay), json={"closesOn": closes_on}))

    async def set_seal_when_done(self, room_code: str, seal_when_done: bool) -> RoomSeal:
        """
        Lets the service seal the closing certificate once every order of the room has ended, or stops that.

        :param seal_when_done: False stops it
        """
        where = path("/api/rooms/{}/seal-when-done", room_code)
        body = {"sealWhenDone": seal_when_done}
        return await self._transport.send(Request("POST", where, reads(RoomSeal), json=body))

    async def close(self, room_code: str) -> RoomStatus:
        """Closes a room."""
        where = path("/api/rooms/{}/close", room_code)
        return await self._transport.send(Request("POST", where, reads(RoomStatus)))

    async def reopen(self, room_code: str) -> RoomStatus:
        """Opens a closed room again."""
        where = path("/api/rooms/{}/reopen", room_code)
        return await self._transport.send(Request("POST", where, reads(RoomStatus)))

    async def participants(self, room_code: str) -> ParticipantList:
        """The participants."""
        where = path("/api/rooms/{}/participants", room_code)
        return await self._transport.send(Request("GET", where, reads(ParticipantList)))

    async def add_participant(
        self, room_code: str, *, name: str, email: str, role: str | None = None
    ) -> AddedParticipant:
        """
        Adds a participant.

        :param role: default `client`
        """
        body = given({"name": name, "email": email, "role": role})
        where = path("/api/rooms/{}/participants", room_code)
        return await self._transport.send(Request("POST", where, reads(AddedParticipant), json=body))

    async def remove_participant(self, room_code: str, participant_id: str) -> None:
        """Removes a participant."""
        where = path("/api/rooms/{}/participants/{}", room_code, participant_id)
        return await self._transport.send(Request("DELETE", where, reads_nothing))

    async def correct_address(
        self, room_code: str, *, from_email: str, to_email: str, name: str | None = None
    ) -> RoomCorrection:
        """
        Corrects a person's email address in all of the firm's orders in the room, of its participants, and of people
        who are sent its documents.

        :param from_email: the address to correct
        :param to_email: the right address
        :param name: the person whose address it is, where several people share it; None for everybody who has it
        """
        body = given({"from": from_email, "to": to_email, "name": name})
        where = path("/api/rooms/{}/corrections", room_code)
        return await self._transport.send(Request("POST", where, reads(RoomCorrection), json=body))

    async def seal(self, room_code: str) -> ClosingPassport:
        """Seals the next version of the room's closing passport."""
        where = path("/api/rooms/{}/passport", room_code)
        return await self._transport.send(Request("POST", where, reads(ClosingPassport)))

    async def verify(self, verify_code: str) -> ClosingVerification:
        """Returns the public record. Needs no key: anyone who has the verify code may call this."""
        where = path("/api/verify/room/{}", verify_code)
        return await self._transport.send(Request("GET", where, reads(ClosingVerification)))

    async def certificate(self, verify_code: str) -> bytes:
        """The sealed certificate PDF; needs no key."""
        where = path("/api/verify/room/{}/pdf", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def log_proof(self, verify_code: str) -> bytes:
        """
        The proof that the transparency log contains the version; refused with status 503 in the first seconds.
        """
        where = path("/api/verify/room/{}/tlog-proof", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))

    async def root_ots(self, verify_code: str) -> bytes:
        """
        The `.ots` proof of the log's hourly root, which covers this entry; refused with status 409 until the
        calendars have that root.
        """
        where = path("/api/verify/room/{}/ots", verify_code)
        return await self._transport.send(Request("GET", where, reads_bytes))
