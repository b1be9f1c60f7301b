"""Signatures of deliveries, by the vectors that the TypeScript package is tested by."""

from __future__ import annotations

import base64
import json
import os
import unittest
from datetime import datetime, timezone
from hashlib import sha256

from signsealship import (
    OrderEvent,
    SignerEvent,
    SignSealShip,
    UnknownEvent,
    WebhookError,
    WebhookTestEvent,
    parse_webhook,
    sign_webhook,
    standard_secret,
    verify_webhook,
)

with open(os.environ["WEBHOOK_VECTORS"], encoding="utf-8") as file:
    VECTORS = json.load(file)

SECRET = "svc_whsec_x"
NOW = 1_772_600_767


def parsed(body: object) -> object:
    text = json.dumps(body)
    return parse_webhook(text, sign_webhook(text, SECRET, now=NOW)["Service-Signature"], SECRET, now=NOW)


class WebhookTest(unittest.TestCase):
    def test_judges_the_vectors(self) -> None:
        for vector in VECTORS:
            body = base64.b64decode(vector["body"])
            reason = None
            with self.subTest(vector["says"]):
                try:
                    event = parse_webhook(body, vector["signature"], vector["secret"], now=vector["now"])
                    self.assertIsInstance(event, WebhookTestEvent)
                except WebhookError as error:
                    reason = error.reason
                self.assertEqual(reason, vector["reason"])
                self.assertEqual(
                    verify_webhook(body, vector["signature"], vector["secret"], now=vector["now"]),
                    reason in (None, "not_json"),
                )

    def test_gives_the_event_of_its_type(self) -> None:
        data = {
            "orderCode": "abc",
            "status": "Paid",
            "environment": "test",
            "occurredAtUtc": "2026-03-04T05:06:07.089Z",
            "later": 1,
        }
        event = parsed({"type": "payment.cleared", "id": "payment.cleared:1", "data": data})
        assert isinstance(event, OrderEvent)
        self.assertEqual((event.type, event.data.order_code), ("payment.cleared", "abc"))
        self.assertEqual(event.data.occurred_at_utc, datetime(2026, 3, 4, 5, 6, 7, 89_000, timezone.utc))
        self.assertIsNone(event.data.external_reference)

    def test_gives_the_event_of_a_signer_with_the_signers_number(self) -> None:
        data = {
            "orderCode": "abc",
            "signer": 2,
            "status": "EsignPending",
            "environment": "test",
            "occurredAtUtc": "2026-03-04T05:06:07.089Z",
        }
        event = parsed({"type": "signature.signed", "id": "signature.signed:abc:2:1-4", "data": data})
        assert isinstance(event, SignerEvent)
        self.assertEqual((event.data.order_code, event.data.signer, event.data.channel), ("abc", 2, None))
        embedded = parsed({"type": "signature.signed", "id": "2", "data": {**data, "channel": "embedded"}})
        assert isinstance(embedded, SignerEvent)
        self.assertEqual(embedded.data.channel, "embedded")
        without = {name: value for name, value in data.items() if name != "signer"}
        self.assertIsInstance(parsed({"type": "signature.signed", "id": "1", "data": without}), UnknownEvent)

    def test_an_event_that_is_newer_than_the_package_is_given_as_it_came(self) -> None:
        for kind in ("order.refunded", "payment.cleared"):
            event = parsed({"type": kind, "id": "1", "data": {"newWord": 1}})
            self.assertEqual(event, UnknownEvent(type=kind, id="1", data={"newWord": 1}))

    def test_json_that_is_no_event_is_refused(self) -> None:
        bodies: list[object] = [None, 1, "a", [], {}, {"type": 1, "id": "1", "data": {}}, {"type": "a", "data": {}}]
        for body in bodies:
            with self.assertRaises(WebhookError) as caught:
                parsed(body)
            self.assertEqual(caught.exception.reason, "not_json")

    def test_takes_the_systems_clock_and_another_tolerance(self) -> None:
        signature = sign_webhook("{}", SECRET)["Service-Signature"]
        self.assertTrue(verify_webhook("{}", signature, SECRET))
        self.assertTrue(verify_webhook(b"{}", signature, SECRET, now=datetime.now(timezone.utc)))
        old = sign_webhook("{}", SECRET, now=NOW)["Service-Signature"]
        self.assertFalse(verify_webhook("{}", old, SECRET))
        self.assertTrue(verify_webhook("{}", old, SECRET, now=NOW + 900, tolerance=900))
        self.assertFalse(verify_webhook("{}", old, SECRET, now=NOW + 901, tolerance=900))
        self.assertFalse(verify_webhook("{}", old, SECRET, now=float("nan")))

    def test_an_empty_secret_by_which_anybody_could_sign_is_an_error(self) -> None:
        signature = sign_webhook("{}", SECRET)["Service-Signature"]
        for use in (lambda: parse_webhook("{}", signature, ""), lambda: sign_webhook("{}", "")):
            with self.assertRaisesRegex(ValueError, "secret is empty"):
                use()

    def test_gives_the_secret_as_standard_webhooks_has_it(self) -> None:
        self.assertEqual(
            standard_secret(SECRET), "whsec_" + base64.b64encode(sha256(SECRET.encode()).digest()).decode()
        )
        with self.assertRaises(ValueError):
            standard_secret("")

    def test_accepts_the_example_that_the_service_gives(self) -> None:
        with SignSealShip(os.environ["SIGNSEALSHIP_URL"]) as client:
            example = client.webhooks.signature_example()
        signature = example.headers[example.signature_header]
        event = parse_webhook(example.raw_body, signature, example.secret, now=example.timestamp)
        self.assertIsInstance(event, WebhookTestEvent)


if __name__ == "__main__":
    unittest.main()
