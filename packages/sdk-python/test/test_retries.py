"""The requests that are sent again, and those that are not."""

from __future__ import annotations

import asyncio
import json
import os
import time
import unittest
from collections.abc import Callable
from pathlib import Path
from datetime import datetime, timezone
from unittest import mock

import httpx

from signsealship import (
    APIConnectionError,
    APIError,
    APITimeoutError,
    AsyncSignSealShip,
    AuthenticationError,
    ConflictError,
    RateLimitError,
    ServerError,
    SignSealShip,
    UnexpectedAnswerError,
)

DEED = Path(os.environ["SIGNSEALSHIP_PDF"])

Answer = Callable[[httpx.Request], httpx.Response]

CREATED = {
    "requestId": "r",
    "orderCode": "a",
    "orderUrl": "/o/a",
    "status": "QuoteReady",
    "externalReference": None,
    "faxToNumber": None,
    "subtotalCents": 1,
    "discountCents": 0,
    "totalCents": 1,
    "lines": [{"type": "WorkflowFee", "label": "Fee", "amountCents": 1}],
    "checkoutUrl": None,
}


def ok(_request: httpx.Request) -> httpx.Response:
    return httpx.Response(200, json={**CREATED, "orders": [], "nextCursor": None})


def refused(status: int, retry_after: str | None = "0", code: str = "x") -> Answer:
    headers = {} if retry_after is None else {"Retry-After": retry_after}
    return lambda _request: httpx.Response(status, headers=headers, json={"code": code, "detail": "Later."})


def answered(content: bytes) -> Answer:
    return lambda _request: httpx.Response(200, content=content)


def cut(request: httpx.Request) -> httpx.Response:
    raise httpx.RemoteProtocolError("cut off", request=request)


def silent(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadTimeout("", request=request)


class Scripted:
    """A service that gives its answers in turn, and then the last one again."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = answers
        self.sent: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return self.answers[min(len(self.sent), len(self.answers)) - 1](request)

    def client(self, max_retries: int = 2) -> SignSealShip:
        http = httpx.Client(transport=httpx.MockTransport(self))
        return SignSealShip("https://sign.example.com", "svc_pk_test_x", max_retries=max_retries, http_client=http)


def place(client: SignSealShip) -> None:
    client.orders.create(b"%PDF-1.7", email="a@example.com", byod_confirmed=True, svc_sign=True, svc_ship=False)


class RetriesTest(unittest.TestCase):
    def setUp(self) -> None:
        self.sleep = self.patched("time.sleep")

    def patched(self, name: str) -> mock.Mock:
        patch = mock.patch(name)
        self.addCleanup(patch.stop)
        started: mock.Mock = patch.start()
        return started

    def test_reads_are_sent_again_when_they_were_not_answered(self) -> None:
        service = Scripted(refused(503), cut, ok)
        service.client().orders.list()
        self.assertEqual(len(service.sent), 3)
        waits = [call.args[0] for call in self.sleep.call_args_list]
        self.assertEqual(waits[0], 0)
        self.assertTrue(0.5 <= waits[1] <= 1.0, waits)

    def test_a_write_under_a_key_is_sent_again_with_the_same_key_and_body(self) -> None:
        service = Scripted(refused(429), refused(502), refused(409, code="idempotency_in_flight"), ok)
        place(service.client(max_retries=3))
        keys = {request.headers["Idempotency-Key"] for request in service.sent}
        self.assertEqual((len(service.sent), len(keys)), (4, 1))
        self.assertRegex(keys.pop(), "^sdk-[0-9a-f-]{36}$")
        for request in service.sent:
            self.assertIn(b'name="email"', request.content)
            self.assertIn(b'filename="document.pdf"\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.7', request.content)
            self.assertIn(b'name="svc_sign"\r\n\r\ntrue', request.content)
            self.assertNotIn(b"svc_ship", request.content)

    def test_other_writes_and_other_refusals_are_sent_once(self) -> None:
        service = Scripted(refused(503), ok)
        with self.assertRaises(ServerError):
            service.client().rooms.close("a")
        self.assertEqual(len(service.sent), 1)
        for status in (400, 401, 403, 404, 409, 422, 500):
            service = Scripted(refused(status), ok)
            with self.assertRaises(APIError) as caught:
                place(service.client())
            self.assertEqual((caught.exception.status, len(service.sent)), (status, 1))

    def test_payments_that_are_not_set_up_are_not_asked_for_again(self) -> None:
        service = Scripted(refused(503, code="payments_not_configured"), ok)
        with self.assertRaises(ServerError):
            service.client().orders.checkout("a")
        self.assertEqual(len(service.sent), 1)

    def test_a_document_is_bytes_or_the_path_of_a_file(self) -> None:
        for document in (b"%PDF-1.7", str(DEED), DEED):
            service = Scripted(ok)
            service.client().orders.create(document, email="a@example.com", byod_confirmed=True, svc_sign=True)
            name = b"document.pdf" if isinstance(document, bytes) else DEED.name.encode()
            self.assertIn(b'filename="' + name + b'"\r\nContent-Type: application/pdf\r\n\r\n%PDF-', service.sent[0].content)
        with self.assertRaises(FileNotFoundError):
            service.client().orders.create("none.pdf", email="a@example.com", byod_confirmed=True, svc_sign=True)

    def test_an_open_file_is_sent_from_its_start_in_each_try(self) -> None:
        service = Scripted(refused(503), ok)
        with DEED.open("rb") as file:
            service.client().orders.create(file, email="a@example.com", byod_confirmed=True, svc_sign=True)
        bodies = [request.content.split(b"\r\n\r\n%PDF-")[-1].rsplit(b"\r\n--")[0] for request in service.sent]
        self.assertEqual(len(bodies), 2)
        for body in bodies:
            self.assertEqual(b"%PDF-" + body, DEED.read_bytes())

    def test_gives_the_last_response_beside_the_result(self) -> None:
        service = Scripted(
            refused(503), lambda _request: httpx.Response(200, headers={"Request-Id": "r2"}, json={"orders": [], "nextCursor": None, "requestId": "r"})
        )
        client = service.client()
        orders, response = client.with_response(lambda each: each.orders.list())
        self.assertEqual((orders.orders, response.status_code, response.headers["Request-Id"]), ([], 200, "r2"))
        with self.assertRaisesRegex(ValueError, "sends no request"):
            client.with_response(lambda _each: None)

    def test_gives_up_after_max_retries(self) -> None:
        service = Scripted(refused(504))
        with self.assertRaises(ServerError):
            service.client().me()
        self.assertEqual(len(service.sent), 3)
        service = Scripted(cut)
        with self.assertRaises(APIConnectionError):
            service.client().with_options(max_retries=0).me()
        self.assertEqual(len(service.sent), 1)

    def test_does_not_wait_for_long_and_says_how_long_was_asked_for(self) -> None:
        service = Scripted(refused(429, "66"), ok)
        with self.assertRaises(RateLimitError) as caught:
            service.client().me()
        self.assertEqual((caught.exception.retry_after, caught.exception.message), (66, "Later."))
        self.assertEqual(len(service.sent), 1)
        service = Scripted(refused(429, "60"), ok)
        service.client().orders.list()
        self.assertEqual(len(service.sent), 2)

    def test_an_answer_that_cant_be_read_is_not_asked_for_again(self) -> None:
        for content in (b"<p>A proxy</p>", b"[]", b'{"firmName":1}', b"\xff"):
            service = Scripted(answered(content))
            with self.assertRaises(UnexpectedAnswerError):
                service.client().me()
            self.assertEqual(len(service.sent), 1)

    def test_a_refusal_without_a_body_is_a_refusal(self) -> None:
        service = Scripted(lambda _request: httpx.Response(409, headers={"Request-Id": "r", "Retry-After": "soon"}))
        with self.assertRaises(ConflictError) as caught:
            service.client().me()
        error = caught.exception
        self.assertEqual(
            (error.message, error.code, error.request_id, error.retry_after), ("Answered 409.", None, "r", None)
        )

    def test_says_that_time_is_over(self) -> None:
        with self.assertRaises(APITimeoutError):
            Scripted(silent).client().me()

    def test_does_not_follow_elsewhere_with_the_key(self) -> None:
        service = Scripted(lambda _request: httpx.Response(302, headers={"Location": "https://other.example.com/"}))
        with self.assertRaises(APIError):
            service.client().me()
        self.assertEqual([request.url.host for request in service.sent], ["sign.example.com"])

    def test_an_address_that_is_none_is_refused_and_a_part_of_a_path_stays_one(self) -> None:
        for wrong in ("sign.example.com", "ftp://sign.example.com", "https://"):
            with self.assertRaisesRegex(ValueError, "base_url"):
                SignSealShip(wrong)
        for empty in ("", " "):
            with self.assertRaisesRegex(ValueError, "key must be a partner key"):
                SignSealShip("https://sign.example.com", empty)
        service = Scripted(ok)
        for part in ("..", "../webhooks", "a/b?c#d", "é %"):
            with self.assertRaises(UnexpectedAnswerError):
                service.client().orders.get(part)
        paths = [request.url.raw_path.decode() for request in service.sent]
        self.assertEqual(
            [path.removeprefix("/api/partner/orders/") for path in paths],
            ["%2E%2E", "%2E%2E%2Fwebhooks", "a%2Fb%3Fc%23d", "%C3%A9%20%25"],
        )

    def test_the_key_is_not_shown(self) -> None:
        client = Scripted(ok).client()
        self.assertNotIn("svc_pk_test_x", repr(vars(client)) + repr(client._transport.options))


class Limited:
    """A service with a limit in windows of a minute, which a patched sleep ends."""

    def __init__(self, quota: int, orders: int) -> None:
        self.quota = quota
        self.orders = orders
        self.used = [0]

    def sleep(self, seconds: float) -> None:
        if seconds > 50:
            self.used.append(0)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.used[-1] += 1
        left = self.quota - self.used[-1]
        headers = {
            "RateLimit-Policy": f'"partner-write";q={self.quota};w=60',
            "RateLimit": f'"partner-write";r={max(0, left)};t=60',
        }
        if left < 0:
            return httpx.Response(429, headers={**headers, "Retry-After": "60"}, json={"error": "Later."})
        start = int(request.url.params.get("cursor", "0"))
        end = min(self.orders, start + int(request.url.params["limit"]))
        order = {
            "status": "Completed",
            "statusGroup": "complete",
            "totalCents": 1,
            "services": "Sign",
            "externalReference": None,
            "customerEmail": "a@example.com",
            "createdAt": "2026-03-04T05:06:07.089Z",
        }
        page = [{**order, "orderCode": str(n)} for n in range(start, end)]
        cursor = str(end) if end < self.orders else None
        return httpx.Response(200, headers=headers, json={"orders": page, "nextCursor": cursor, "requestId": "r"})


class PagesTest(unittest.TestCase):
    def test_reads_7000_orders_under_a_limit_and_leaves_a_quarter_of_it(self) -> None:
        service = Limited(quota=60, orders=7000)
        http = httpx.Client(transport=httpx.MockTransport(service))
        client = SignSealShip("https://sign.example.com", "svc_pk_test_x", http_client=http)
        with mock.patch("time.sleep", side_effect=service.sleep):
            codes = {order.order_code for order in client.orders.all()}
        self.assertEqual((len(codes), service.used), (7000, [45, 25]))


EVENT = {"position": 7, "head": "0", "type": "a", "id": "1", "occurredAtUtc": "2026-03-04T05:06:07Z", "payload": None}


def feed(*events: object) -> Answer:
    return answered(json.dumps({"events": events, "cursor": "8", "requestId": "r"}).encode())


class FollowTest(unittest.TestCase):
    def test_goes_on_where_it_was_when_the_service_was_away_and_ends_when_it_is_refused(self) -> None:
        service = Scripted(feed(EVENT), cut, silent, refused(500), feed(), feed(EVENT), refused(401))
        with mock.patch("time.sleep") as sleep:
            events = service.client(max_retries=0).events.follow(cursor="6", topics=["a"])
            self.assertEqual([next(events).position, next(events).position], [7, 7])
            with self.assertRaises(AuthenticationError):
                next(events)
        self.assertEqual([call.args[0] for call in sleep.call_args_list], [1, 2, 4, 1])
        self.assertEqual([request.url.params["cursor"] for request in service.sent], ["6", *["8"] * 6])

    def test_waits_for_no_longer_than_its_client_does(self) -> None:
        for timeout, wait in ((60.0, "25"), (12.0, "7"), (1.0, "0")):
            service = Scripted(feed(EVENT))
            next(service.client().with_options(timeout=timeout).events.follow())
            self.assertEqual(service.sent[0].url.params["wait"], wait)


UNTIL = "2026-03-04T05:06:07.089Z"


def replayed(count: int, left: int) -> Answer:
    return answered(json.dumps({"replayed": count, "left": left, "until": UNTIL, "requestId": "r"}).encode())


class ReplayTest(unittest.TestCase):
    def test_replays_all_that_failed_in_one_period_and_waits_while_many_are_on_their_way(self) -> None:
        service = Scripted(replayed(200, 5), refused(409), replayed(5, 0))
        since = datetime(2026, 3, 4, tzinfo=timezone.utc)
        with mock.patch("time.sleep") as sleep:
            self.assertEqual(service.client().webhooks.replay_all_failed("w", since), 205)
        self.assertEqual([call.args[0] for call in sleep.call_args_list], [5])
        first, *others = [json.loads(request.content) for request in service.sent]
        self.assertEqual(first, {"since": "2026-03-04T00:00:00.000Z"})
        self.assertEqual(others, [{**first, "until": UNTIL}] * 2)

    def test_ends_when_too_many_are_on_their_way_for_long_and_at_any_other_refusal(self) -> None:
        since = datetime(2026, 3, 4, tzinfo=timezone.utc)
        for status, calls in ((409, 121), (404, 1)):
            service = Scripted(refused(status))
            with mock.patch("time.sleep"), self.assertRaises(APIError):
                service.client().webhooks.replay_all_failed("w", since)
            self.assertEqual(len(service.sent), calls)


class AsyncRetriesTest(unittest.IsolatedAsyncioTestCase):
    async def test_sends_again_without_blocking_others(self) -> None:
        service = Scripted(refused(503, "1"), cut, ok)
        http = httpx.AsyncClient(transport=httpx.MockTransport(service))
        client = AsyncSignSealShip("https://sign.example.com", http_client=http)
        with mock.patch("asyncio.sleep") as sleep, mock.patch("time.sleep", side_effect=AssertionError):
            await client.orders.list()
        self.assertEqual((len(service.sent), sleep.await_args_list[0].args[0]), (3, 1))

    async def test_ends_when_it_is_cancelled(self) -> None:
        async def hanging(_request: httpx.Request) -> httpx.Response:
            await asyncio.sleep(60)
            return httpx.Response(200)

        http = httpx.AsyncClient(transport=httpx.MockTransport(hanging))
        client = AsyncSignSealShip("https://sign.example.com", http_client=http)
        began = time.monotonic()
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(client.me(), 0.01)
        self.assertLess(time.monotonic() - began, 10)


if __name__ == "__main__":
    unittest.main()
