"""Tests of both clients against a running service."""

from __future__ import annotations

import os
import unittest
from datetime import timedelta
from pathlib import Path
from typing import Any

from signsealship import (
    APIConnectionError,
    APIError,
    AsyncSignSealShip,
    AuthenticationError,
    BadRequestError,
    NotFoundError,
    OrderEvent,
    SignatureField,
    Signer,
    SignSealShip,
    check_chain,
)

URL = os.environ["SIGNSEALSHIP_URL"]
KEY = os.environ["SIGNSEALSHIP_KEY"]
DEED = Path(os.environ["SIGNSEALSHIP_PDF"])
FIELDS: dict[str, Any] = {"email": "signer@example.com", "byod_confirmed": True, "svc_sign": True}
UNKNOWN = "00000000-0000-4000-8000-000000000000"


class ClientTest(unittest.TestCase):
    client: SignSealShip
    anybody: SignSealShip

    @classmethod
    def setUpClass(cls) -> None:
        cls.client = SignSealShip(URL + "/", KEY)
        cls.anybody = SignSealShip(URL)
        cls.addClassCleanup(cls.client.close)
        cls.addClassCleanup(cls.anybody.close)

    def test_places_lists_and_fetches_orders_and_repeats_one_by_its_key(self) -> None:
        fields = {**FIELDS, "external_reference": "A b&c é"}
        order = self.client.orders.create(DEED, idempotency_key="python-order-0001", **fields)
        again = self.client.orders.create(
            DEED.read_bytes(), file_name=DEED.name, idempotency_key="python-order-0001", **fields
        )
        self.assertEqual(again.order_code, order.order_code)
        self.assertEqual(order.total_cents, sum(line.amount_cents for line in order.lines))
        detail = self.client.orders.get(order.order_code)
        self.assertEqual((detail.services, detail.external_reference), ("Sign", "A b&c é"))
        self.assertIsNotNone(detail.created_at.tzinfo)
        page = self.client.orders.list(external_reference="A b&c é", limit=5)
        self.assertEqual([each.order_code for each in page.orders], [order.order_code])
        self.assertIsNone(page.next_cursor)

    def test_names_signers_and_places_and_is_told_which_of_them_cant_be(self) -> None:
        place: SignatureField = {
            "kind": "signature",
            "signer": 1,
            "page": 1,
            "x": 72,
            "y": 600.5,
            "width": 180,
            "height": 40,
            "required": True,
        }
        signers: list[Signer] = [
            {"name": "Jane Doe", "email": "jane@example.com", "auth": "access_code", "access_code": "Q7-1234"}
        ]
        order = self.client.orders.create(DEED, **FIELDS, signers=signers, fields=[place])
        (signer,) = self.client.orders.signers(order.order_code).signers
        self.assertEqual((signer.status, signer.auth), ("pending", "access_code"))
        with self.assertRaisesRegex(BadRequestError, r"fields\[0\] lies outside page 1"):
            place["x"] = 600
            self.client.orders.create(DEED, **FIELDS, signers=signers, fields=[place])

    def test_walks_a_test_order_through_the_sandbox_and_fetches_its_documents(self) -> None:
        code = self.client.orders.create(DEED, **FIELDS).order_code
        self.assertEqual(self.client.sandbox.checkout(code, "decline").status, "PaymentFailed")
        self.assertEqual(self.client.sandbox.checkout(code).fired_events, ["payment.cleared"])
        self.assertEqual(self.client.sandbox.advance(code, "signature.completed").fired_events, ["signature.completed"])
        self.assertEqual(self.client.sandbox.advance(code).status, "Completed")
        documents = self.client.orders.documents(code).documents
        self.assertEqual(documents[0].kind, "original")
        self.assertEqual(self.client.orders.document(code, documents[0].document_id), DEED.read_bytes())

    def test_makes_rooms_attaches_views_without_a_key_rotates_closes_and_reopens(self) -> None:
        order_code = self.client.orders.create(DEED, **FIELDS).order_code
        room = self.client.rooms.create("12 Elm Street", reference="R")
        self.assertFalse(self.client.rooms.attach(room.room_code, order_code, label="Deed").already_attached)
        self.client.rooms.add_participant(room.room_code, name="Jane Roe", email="jane@example.com")
        (participant,) = self.client.rooms.participants(room.room_code).participants
        self.assertEqual(participant.role, "client")
        view = self.anybody.rooms.view(room.room_code)
        self.assertEqual((view.orders[0].label, view.progress.total), ("Deed", 1))
        self.client.rooms.remove_participant(room.room_code, participant.participant_id)
        code = self.client.rooms.rotate(room.room_code).room_code
        with self.assertRaises(NotFoundError):
            self.anybody.rooms.view(room.room_code)
        self.assertEqual(self.client.rooms.close(code).status, "closed")
        self.assertEqual(self.client.rooms.reopen(code).status, "open")
        self.client.rooms.detach(code, order_code)
        passport = self.client.rooms.seal(code)
        verified = self.anybody.rooms.verify(passport.verify_code)
        self.assertTrue(verified.chain_ok)
        assert verified.manifest is not None
        self.assertEqual(verified.manifest.passport.room_name, "12 Elm Street")
        self.assertTrue(self.anybody.rooms.certificate(passport.verify_code).startswith(b"%PDF-"))
        self.assertIn(code, [each.room_code for each in self.client.rooms.all()])

    def test_seals_a_document_and_anybody_verifies_and_downloads_it(self) -> None:
        sealed = self.client.passports.seal(DEED)
        self.assertEqual(self.client.passports.get(sealed.passport_id).sealed_sha256, sealed.sealed_sha256)
        self.assertEqual(self.anybody.passports.verify(sealed.verify_code).verdict, "verified_test")
        self.assertTrue(self.anybody.passports.document(sealed.verify_code).startswith(b"%PDF-"))
        self.assertTrue(self.anybody.passports.evidence(sealed.verify_code).startswith(b"PK"))

    def test_manages_webhooks(self) -> None:
        webhooks = self.client.webhooks
        hook = webhooks.create("https://hooks.example.com/a", ["order.created"])
        self.assertNotEqual(webhooks.rotate(hook.id).secret, hook.secret)
        delivery_id = webhooks.test(hook.id).delivery_id
        self.assertEqual(webhooks.feed(hook.id)[0].delivery_id, delivery_id)
        self.assertEqual(webhooks.delivery(delivery_id).event_name, "webhook.test")
        self.assertEqual(webhooks.replay(delivery_id).replayed_from, delivery_id)
        self.assertEqual(len(list(webhooks.all_deliveries(topic="webhook.test", limit=1))), 2)
        sent = webhooks.exchange(delivery_id).request
        assert sent.payload is not None
        self.assertIn("webhook.test", sent.payload.text)
        since = self.client.webhooks.delivery(delivery_id).created_at
        self.assertEqual(webhooks.replay_failed(hook.id, since).left, 0)
        legacy = self.client.passports.subscribe("https://hooks.example.com/b")
        self.assertEqual([each.id for each in webhooks.list()], [legacy.webhook_id, hook.id])
        self.client.passports.unsubscribe(legacy.webhook_id)
        webhooks.remove(hook.id)
        self.assertEqual(webhooks.list(), [])

    def test_moves_the_test_clock(self) -> None:
        clock = self.client.sandbox.clock
        before = clock.get()
        self.assertEqual(clock.advance(seconds=3600).advanced_seconds, 3600)
        self.assertGreater(clock.advance(to=before.test_time + timedelta(days=2)).advanced_seconds, 2 * 86_000)
        self.assertEqual(clock.reset().advanced_seconds, 0)

    def test_follows_events_and_finds_their_chain_whole(self) -> None:
        start = self.client.events.list(cursor="latest").cursor
        code = self.client.orders.create(DEED, **FIELDS).order_code
        first = next(self.client.events.follow(cursor=start, topics=["order.created"]))
        assert isinstance(first.payload, OrderEvent)
        self.assertEqual((first.type, first.payload.data.order_code), ("order.created", code))
        events = self.client.events.list(limit=100).events
        last, fault = check_chain(events)
        self.assertEqual((fault, last.position), (None, len(events)))
        with self.assertRaises(NotFoundError):
            self.client.webhooks.public_key()
        made = self.client.webhooks.make_public_key()
        self.assertEqual(self.client.webhooks.public_key().public_key, made.public_key)

    def test_tells_of_the_firm(self) -> None:
        me = self.client.me()
        assert me.key is not None
        self.assertEqual((me.environment, me.tier, me.key.prefix), ("test", "trial", "svc_pk_test_"))
        self.assertEqual(self.client.launchpad().partner.tier, "trial")
        self.assertEqual(self.client.analytics(days=30).window_days, 30)
        with self.assertRaises(NotFoundError):
            self.client.playbooks.list()
        with self.assertRaises(NotFoundError):
            self.client.playbooks.run("none", kind="x", n=1, sure=True)

    def test_a_refusal_has_status_code_message_and_request_id(self) -> None:
        with self.assertRaises(NotFoundError) as caught:
            self.client.webhooks.remove(UNKNOWN)
        error = caught.exception
        self.assertEqual((error.status, error.code, error.message), (404, "not_found", "No such webhook."))
        self.assertRegex(str(error.request_id), "^[0-9a-f-]{36}$")
        self.assertEqual(str(error), f"No such webhook. (404, not_found, request {error.request_id})")
        with self.assertRaises(AuthenticationError):
            self.anybody.me()
        with self.assertRaises(APIError) as unknown:
            self.anybody.passports.verify("x")
        self.assertEqual(unknown.exception.code, "verdict_unknown")
        with self.assertRaisesRegex(NotFoundError, "Order not found"):
            self.client.orders.get("../webhooks")
        nobody = SignSealShip("http://127.0.0.1:9", max_retries=0)
        with nobody, self.assertRaisesRegex(APIConnectionError, r"^No answer from http://127\.0\.0\.1:9 \(.+\)\.$"):
            nobody.me()


class AsyncClientTest(unittest.IsolatedAsyncioTestCase):
    async def test_does_what_the_other_does(self) -> None:
        async with AsyncSignSealShip(URL, KEY) as client:
            first = await client.orders.create(DEED, **FIELDS, external_reference="async")
            second = await client.with_options(timeout=30).orders.create(DEED, **FIELDS, external_reference="async")
            codes = [each.order_code async for each in client.orders.all(external_reference="async", limit=1)]
            self.assertEqual(codes, [second.order_code, first.order_code])
            with self.assertRaises(NotFoundError):
                await client.orders.get("none")
            sealed = await client.passports.seal(DEED)
            self.assertTrue((await client.passports.document(sealed.verify_code)).startswith(b"%PDF-"))


if __name__ == "__main__":
    unittest.main()
