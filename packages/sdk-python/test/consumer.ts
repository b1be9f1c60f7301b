/**
 * A program with right and wrong lines. mypy must accept the right lines. Each wrong line has a comment that ignores
 * its error, and mypy reports such a comment if there is no error.
 */
export const consumer = `
from typing_extensions import assert_type
from datetime import datetime
from signsealship import AsyncSignSealShip, OrderDetail, OrderEvent, SignSealShip, parse_webhook

client = SignSealShip("https://sign.example.com")
assert_type(client.orders.get("a"), OrderDetail)
assert_type(client.orders.get("a").created_at, datetime)
client.orders.create(b"", email="a@example.com", byod_confirmed=True, svc_sign=True)
client.orders.create(b"", email="a@example.com", byod_confirmed=True, scv_sign=True)  # type: ignore[call-arg]
client.orders.create(b"", email="a@example.com", byod_confirmed=True, svc_sign="yes")  # type: ignore[arg-type]
client.orders.create(b"", email="a@example.com")  # type: ignore[call-arg]
client.orders.get("a").order_cod  # type: ignore[attr-defined]
client.webhooks.create("https://a.example.com", ["order.creatd"])  # type: ignore[list-item]

event = parse_webhook(b"", None, "s")
if isinstance(event, OrderEvent):
    assert_type(event.data.external_reference, str | None)


async def later() -> None:
    async with AsyncSignSealShip("https://sign.example.com") as client:
        assert_type(await client.orders.get("a"), OrderDetail)
        async for order in client.orders.all():
            assert_type(order.order_code, str)
`;
