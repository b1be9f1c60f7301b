"""The package, compared with the description that the service publishes."""

from __future__ import annotations

import inspect
import json
import os
import re
import unittest
import urllib.request
from collections.abc import Iterator
from functools import reduce
from typing import Any, get_args, get_type_hints

import httpx
from operations import CALLS, NOT_IN_CLIENT, OWN_CALLS, Call
from shapes import SAYS_ONLY_DONE, Shapes

from signsealship import (
    OrderFields,
    RotatedRoom,
    SignatureField,
    Signer,
    SignerReplacement,
    SignSealShip,
    UnknownEvent,
    WebhookEvent,
)

with urllib.request.urlopen(os.environ["SIGNSEALSHIP_URL"] + "/openapi.json") as answer:
    DESCRIPTION = json.load(answer)
SHAPES = Shapes(DESCRIPTION)
OPERATIONS: dict[str, tuple[str, str, dict[str, Any]]] = {
    operation["operationId"]: (method.upper(), path, operation)
    for path, methods in DESCRIPTION["paths"].items()
    for method, operation in methods.items()
}


def content_of(operation: dict[str, Any]) -> dict[str, Any]:
    (success,) = (each for status, each in operation["responses"].items() if status.startswith("2"))
    content: dict[str, Any] = success["content"]
    return content


def sent_by(call: Call, content: bytes) -> tuple[httpx.Request, object]:
    """The request that a call sends, and the value that it makes of the answer."""
    sent: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, content=content)

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        result = call(SignSealShip("https://sign.example.com", "svc_pk_test_x", http_client=http))
    (request,) = sent
    return request, result


def names_in(part: object) -> Iterator[str]:
    """The calls of a client, or of a part of it."""
    for name, each in inspect.getmembers(part):
        if not name.startswith("_"):
            yield from [name] if callable(each) else (f"{name}.{inner}" for inner in names_in(each))


class OpenApiTest(unittest.TestCase):
    def test_every_operation_is_a_call_and_every_call_is_an_operation(self) -> None:
        self.assertEqual(CALLS.keys() | NOT_IN_CLIENT, OPERATIONS.keys())
        client = SignSealShip("https://sign.example.com")
        self.assertEqual({name for name, _ in CALLS.values()} | OWN_CALLS, set(names_in(client)))

    def test_every_call_sends_what_is_described(self) -> None:
        for operation_id, (_, call) in CALLS.items():
            method, path, operation = OPERATIONS[operation_id]
            with self.subTest(operation_id):
                content = content_of(operation).get("application/json")
                example = SHAPES.example(content["schema"], full=True) if content else {}
                request, _ = sent_by(call, json.dumps(example).encode())
                self.assertEqual(request.method, method)
                self.assertRegex(request.url.path, "^" + re.sub(r"\{\w+\}", "[^/]+", path) + "$")
                parameters = operation.get("parameters", [])
                queries = {each["name"] for each in parameters if each["in"] == "query"}
                self.assertEqual(set(request.url.params.keys()), queries)
                self.assertEqual(
                    "Idempotency-Key" in request.headers,
                    any(each["name"].lower() == "idempotency-key" for each in parameters),
                )
                body = operation.get("requestBody", {})
                bodies = body.get("content", {})
                media_type = request.headers.get("Content-Type", "").partition(";")[0]
                self.assertIn(media_type, bodies if body.get("required") else {"", *bodies})
                if media_type == "application/json":
                    schema = SHAPES.resolved(bodies[media_type]["schema"])
                    self.assertEqual(json.loads(request.content).keys(), schema["properties"].keys())

    def test_every_answer_is_of_the_published_type(self) -> None:
        client = SignSealShip("https://sign.example.com")
        for operation_id, (name, call) in CALLS.items():
            *parts, last = name.split(".")
            method = getattr(reduce(getattr, parts, client), last)
            kind = eval(method.__annotations__["return"], method.__globals__)
            content = content_of(OPERATIONS[operation_id][2]).get("application/json")
            with self.subTest(operation_id):
                if kind is bytes:
                    self.assertIsNone(content)
                    continue
                assert content is not None
                schema = SHAPES.resolved(content["schema"])
                members = schema.get("properties", {}).keys() - SAYS_ONLY_DONE
                if kind is None:
                    self.assertLessEqual(members, {"webhookId"})
                    continue
                if operation_id == "listWebhookDeliveries":
                    self.assertEqual(members, {"deliveries"})
                    schema = schema["properties"]["deliveries"]
                self.assertEqual(list(SHAPES.faults(kind, schema, operation_id)), [])
                for full in (True, False):
                    sent_by(call, json.dumps(SHAPES.example(content["schema"], full=full)).encode())

    def test_what_is_given_has_the_published_fields(self) -> None:
        form = SHAPES.resolved(OPERATIONS["createOrder"][2]["requestBody"]["content"]["multipart/form-data"]["schema"])
        self.assertEqual(OrderFields.__annotations__.keys() | {"document"}, form["properties"].keys())
        self.assertEqual(OrderFields.__required_keys__, set(form["required"]))
        for name, kind in (("signers", Signer), ("fields", SignatureField)):
            schema = form["properties"][name]["contentSchema"]["items"]
            self.assertEqual(list(SHAPES.faults(kind, schema, name)), [])
        replacement = SHAPES.named["SignerReplacement"]
        self.assertEqual(list(SHAPES.faults(SignerReplacement, replacement, "signer")), [])

    def test_every_event_is_of_the_published_type(self) -> None:
        hints = {kind: get_type_hints(kind) for kind in get_args(WebhookEvent) if kind is not UnknownEvent}
        kinds = {name: kind for kind, hint in hints.items() for name in get_args(hint["type"])}
        self.assertEqual(kinds.keys(), DESCRIPTION["webhooks"].keys())
        for name, kind in kinds.items():
            schema = DESCRIPTION["webhooks"][name]["post"]["requestBody"]["content"]["application/json"]["schema"]
            data = SHAPES.resolved(schema)["properties"]["data"]
            self.assertEqual(list(SHAPES.faults(hints[kind]["data"], data, name)), [])

    def test_a_difference_is_found(self) -> None:
        schema = {"type": "object", "required": ["roomCode"], "properties": {"roomCode": {"type": "string"}}}
        faults = SHAPES.faults(RotatedRoom, schema, "room")
        self.assertEqual(list(faults), ["room.roomUrl is not published"])


if __name__ == "__main__":
    unittest.main()
