"""Every operation that the SDK knows, by its name in the published description, and a call of it with every argument."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any

from signsealship import SignSealShip

Call = Callable[[SignSealShip], object]

NOON = datetime(2026, 12, 12, 12, tzinfo=timezone.utc)
PDF = b"%PDF-1.7"
FIELDS: dict[str, Any] = {"email": "a@example.com", "byod_confirmed": True, "svc_sign": True}
SIGNER: dict[str, Any] = {"name": "Jane Doe", "email": "jane@example.com", "language": "es", "auth": "link"}
MORE: dict[str, Any] = {"phone": "5125550100", "access_code": "1234"}
ACCESS = {
    "firm_name": "Acme",
    "contact_name": "Jane",
    "work_email": "jane@example.com",
    "role": "Counsel",
    "expected_volume": "9",
    "use_case": "Deeds",
    "recaptcha_token": "x",
}
FILL: dict[str, Any] = {
    "doc_slug": "deed",
    "template_version": 1,
    "name": "Jane Doe",
    "email": "jane@example.com",
    "language": "es",
    "days": 30,
    "return_url": "https://a.example.com",
    "values": {"buyer": "Jane Doe"},
    "labels": {"buyer": "Buyer"},
    "send": False,
    "complete": True,
}
CORRECTION: dict[str, Any] = {
    "email": "jane@example.com",
    "fax_to": "+12125550123",
    "ship_name": "Lender",
    "ship_line1": "1 Main Street",
    "ship_line2": "Suite 2",
    "ship_city": "Albany",
    "ship_state": "NY",
    "ship_postal": "12207",
}
DELIVERIES: dict[str, Any] = {
    "limit": 1,
    "cursor": "c",
    "topic": "order.created",
    "order": "o",
    "external_reference": "r",
    "status": "failed",
    "webhook": "w",
    "since": NOON,
}

CALLS: Mapping[str, tuple[str, Call]] = {
    "getMe": ("me", lambda c: c.me()),
    "getLaunchpad": ("launchpad", lambda c: c.launchpad()),
    "getAnalytics": ("analytics", lambda c: c.analytics(days=1)),
    "requestAccess": ("request_access", lambda c: c.request_access(**ACCESS)),
    "listPlaybooks": ("playbooks.list", lambda c: c.playbooks.list()),
    "runPlaybook": ("playbooks.run", lambda c: c.playbooks.run("k", order="x")),
    "createOrder": ("orders.create", lambda c: c.orders.create(PDF, **FIELDS)),
    "listOrders": (
        "orders.list",
        lambda c: c.orders.list(limit=1, status="Paid", external_reference="r", cursor="c"),
    ),
    "estimatePrice": (
        "orders.estimate",
        lambda c: c.orders.estimate(
            pages=3,
            doc_slug="deed",
            svc_sign=True,
            svc_notary=True,
            svc_ship=True,
            svc_fax=True,
            fax_to="2125550123",
            ship_method="label",
            ship_state="TX",
            ship_postal="78701",
        ),
    ),
    "getOrder": ("orders.get", lambda c: c.orders.get("o")),
    "mintCheckout": ("orders.checkout", lambda c: c.orders.checkout("o")),
    "listOrderDocuments": ("orders.documents", lambda c: c.orders.documents("o")),
    "downloadOrderDocument": ("orders.document", lambda c: c.orders.document("o", "d")),
    "downloadOrderDocumentLogProof": (
        "orders.document_log_proof",
        lambda c: c.orders.document_log_proof("o", "d"),
    ),
    "downloadOrderDocumentRootOts": (
        "orders.document_root_ots",
        lambda c: c.orders.document_root_ots("o", "d"),
    ),
    "listOrderReceipts": ("orders.receipts", lambda c: c.orders.receipts("o")),
    "downloadOrderReceipt": ("orders.receipt", lambda c: c.orders.receipt("o", "n")),
    "listStatements": ("billing.statements", lambda c: c.billing.statements()),
    "getStatement": ("billing.statement", lambda c: c.billing.statement("2026-11")),
    "listSigners": ("orders.signers", lambda c: c.orders.signers("o")),
    "remindSigner": ("orders.remind_signer", lambda c: c.orders.remind_signer("o", 1)),
    "replaceSigner": ("orders.replace_signer", lambda c: c.orders.replace_signer("o", 1, **SIGNER, **MORE)),
    "unlockSigner": ("orders.unlock_signer", lambda c: c.orders.unlock_signer("o", 1)),
    "listCopyLinks": ("orders.copy_links", lambda c: c.orders.copy_links("o")),
    "endCopyLink": ("orders.end_copy_link", lambda c: c.orders.end_copy_link("o", "1-1")),
    "readInPersonRequest": ("orders.in_person", lambda c: c.orders.in_person("o")),
    "answerInPersonRequest": ("orders.answer_in_person", lambda c: c.orders.answer_in_person("o", agrees=True)),
    "listCorrections": ("orders.corrections", lambda c: c.orders.corrections("o")),
    "correctOrder": ("orders.correct", lambda c: c.orders.correct("o", **CORRECTION)),
    "replaceDocument": (
        "orders.replace_document",
        lambda c: c.orders.replace_document("o", PDF, fields=FIELDS.get("fields"), find_places=True),
    ),
    "sendOrderAgain": ("orders.send_again", lambda c: c.orders.send_again("o")),
    "askRefund": ("orders.ask_refund", lambda c: c.orders.ask_refund("o", reason="r", amount_cents=1)),
    "embedSigner": ("orders.embed_signer", lambda c: c.orders.embed_signer("o", 1, "https://a.example.com")),
    "listEmbedOrigins": ("embed_origins.list", lambda c: c.embed_origins.list()),
    "addEmbedOrigin": ("embed_origins.add", lambda c: c.embed_origins.add("https://a.example.com")),
    "removeEmbedOrigin": ("embed_origins.remove", lambda c: c.embed_origins.remove("i")),
    "verifyEnvelope": ("orders.verify_envelope", lambda c: c.orders.verify_envelope("v")),
    "downloadEnvelopeLogProof": ("orders.envelope_log_proof", lambda c: c.orders.envelope_log_proof("v")),
    "downloadCustodyLogProof": ("orders.custody_log_proof", lambda c: c.orders.custody_log_proof("v")),
    "downloadEnvelopeRootOts": ("orders.envelope_root_ots", lambda c: c.orders.envelope_root_ots("v")),
    "downloadCustodyRootOts": ("orders.custody_root_ots", lambda c: c.orders.custody_root_ots("v")),
    "sandboxCheckout": ("sandbox.checkout", lambda c: c.sandbox.checkout("o", "decline")),
    "sandboxRoomCheckout": (
        "sandbox.room_checkout",
        lambda c: c.sandbox.room_checkout("r", "decline", pay_by="firm"),
    ),
    "sandboxAdvance": ("sandbox.advance", lambda c: c.sandbox.advance("o", "payment.cleared")),
    "putTestPaymentMethod": (
        "sandbox.payment_method",
        lambda c: c.sandbox.payment_method("bank", per_order_cents=1, per_month_cents=2),
    ),
    "getTestClock": ("sandbox.clock.get", lambda c: c.sandbox.clock.get()),
    "advanceTestClock": ("sandbox.clock.advance", lambda c: c.sandbox.clock.advance(seconds=1, to=NOON)),
    "resetTestClock": ("sandbox.clock.reset", lambda c: c.sandbox.clock.reset()),
    "createBulk": ("bulk.create", lambda c: c.bulk.create("a,b", template="t", byod_confirmed=True)),
    "getBulk": ("bulk.get", lambda c: c.bulk.get("b")),
    "listBulkRows": ("bulk.rows", lambda c: c.bulk.rows("b", limit=1, cursor="1")),
    "placeBulk": ("bulk.place", lambda c: c.bulk.place("b")),
    "retryBulk": ("bulk.retry", lambda c: c.bulk.retry("b")),
    "cancelBulk": ("bulk.cancel", lambda c: c.bulk.cancel("b")),
    "createFill": ("fills.create", lambda c: c.fills.create("t", **FILL)),
    "listFills": ("fills.list", lambda c: c.fills.list(limit=1, cursor="c")),
    "getFill": ("fills.get", lambda c: c.fills.get("f")),
    "cancelFill": ("fills.cancel", lambda c: c.fills.cancel("f")),
    "sendFill": ("fills.send", lambda c: c.fills.send("f")),
    "getTemplateQuestions": ("fills.questions", lambda c: c.fills.questions("t")),
    "getDocumentQuestions": ("fills.document_questions", lambda c: c.fills.document_questions("deed")),
    "createTemplate": ("templates.create", lambda c: c.templates.create(PDF, name="Lease", svc_sign=True)),
    "createTemplateVersion": ("templates.add_version", lambda c: c.templates.add_version("t", PDF, name="Lease 2")),
    "listTemplates": ("templates.list", lambda c: c.templates.list(archived=True, limit=1, cursor="c")),
    "getTemplate": ("templates.get", lambda c: c.templates.get("t")),
    "getTemplateVersion": ("templates.version", lambda c: c.templates.version("t", 1)),
    "archiveTemplate": ("templates.archive", lambda c: c.templates.archive("t")),
    "restoreTemplate": ("templates.restore", lambda c: c.templates.restore("t")),
    "matchTemplate": ("templates.match", lambda c: c.templates.match(PDF)),
    "proposeFields": (
        "templates.propose_fields",
        lambda c: c.templates.propose_fields(PDF, roles=[{"name": "Buyer"}]),
    ),
    "createRoom": ("rooms.create", lambda c: c.rooms.create("Elm", reference="r", closes_on="2026-11-30")),
    "listRooms": ("rooms.list", lambda c: c.rooms.list(limit=1, cursor="c")),
    "viewRoom": ("rooms.view", lambda c: c.rooms.view("r")),
    "attachOrder": ("rooms.attach", lambda c: c.rooms.attach("r", "o", label="Deed")),
    "detachOrder": ("rooms.detach", lambda c: c.rooms.detach("r", "o")),
    "mintRoomCheckout": ("rooms.checkout", lambda c: c.rooms.checkout("r", pay_by="client")),
    "chargeRoom": ("rooms.charge", lambda c: c.rooms.charge("r")),
    "rotateRoom": ("rooms.rotate", lambda c: c.rooms.rotate("r")),
    "setClosesOn": ("rooms.set_closes_on", lambda c: c.rooms.set_closes_on("r", "2026-11-30")),
    "setSealWhenDone": ("rooms.set_seal_when_done", lambda c: c.rooms.set_seal_when_done("r", True)),
    "closeRoom": ("rooms.close", lambda c: c.rooms.close("r")),
    "reopenRoom": ("rooms.reopen", lambda c: c.rooms.reopen("r")),
    "listParticipants": ("rooms.participants", lambda c: c.rooms.participants("r")),
    "addParticipant": (
        "rooms.add_participant",
        lambda c: c.rooms.add_participant("r", name="Jane", email="j@example.com", role="lender"),
    ),
    "removeParticipant": ("rooms.remove_participant", lambda c: c.rooms.remove_participant("r", "p")),
    "correctRoomAddress": (
        "rooms.correct_address",
        lambda c: c.rooms.correct_address("r", from_email="a@example.com", to_email="b@example.com", name="Jane"),
    ),
    "sealRoom": ("rooms.seal", lambda c: c.rooms.seal("r")),
    "verifyRoomPassport": ("rooms.verify", lambda c: c.rooms.verify("v")),
    "downloadClosingCertificate": ("rooms.certificate", lambda c: c.rooms.certificate("v")),
    "sealPassport": ("passports.seal", lambda c: c.passports.seal(PDF)),
    "getPassport": ("passports.get", lambda c: c.passports.get("p")),
    "verifyPassport": ("passports.verify", lambda c: c.passports.verify("v")),
    "downloadSealedPdf": ("passports.document", lambda c: c.passports.document("v")),
    "downloadProofLogProof": ("passports.log_proof", lambda c: c.passports.log_proof("v")),
    "downloadClosingLogProof": ("rooms.log_proof", lambda c: c.rooms.log_proof("v")),
    "downloadProofRootOts": ("passports.root_ots", lambda c: c.passports.root_ots("v")),
    "downloadClosingRootOts": ("rooms.root_ots", lambda c: c.rooms.root_ots("v")),
    "downloadEvidence": ("passports.evidence", lambda c: c.passports.evidence("v")),
    "downloadProofCertificate": ("passports.certificate", lambda c: c.passports.certificate("v")),
    "downloadOwnProofCertificate": ("passports.own_certificate", lambda c: c.passports.own_certificate("p")),
    "downloadProofCertificateLogProof": (
        "passports.certificate_log_proof",
        lambda c: c.passports.certificate_log_proof("v"),
    ),
    "downloadProofCertificateRootOts": (
        "passports.certificate_root_ots",
        lambda c: c.passports.certificate_root_ots("v"),
    ),
    "downloadOwnProofCertificateLogProof": (
        "passports.own_certificate_log_proof",
        lambda c: c.passports.own_certificate_log_proof("p"),
    ),
    "downloadOwnProofCertificateRootOts": (
        "passports.own_certificate_root_ots",
        lambda c: c.passports.own_certificate_root_ots("p"),
    ),
    "createPassportWebhook": ("passports.subscribe", lambda c: c.passports.subscribe("https://a.example.com")),
    "deletePassportWebhook": ("passports.unsubscribe", lambda c: c.passports.unsubscribe("w")),
    "listEvents": (
        "events.list",
        lambda c: c.events.list(cursor="1", limit=1, topics=["order.created", "payment.cleared"], wait=0),
    ),
    "getWebhookPublicKey": ("webhooks.public_key", lambda c: c.webhooks.public_key()),
    "makeWebhookPublicKey": ("webhooks.make_public_key", lambda c: c.webhooks.make_public_key()),
    "listWebhooks": ("webhooks.list", lambda c: c.webhooks.list()),
    "createWebhook": ("webhooks.create", lambda c: c.webhooks.create("https://a.example.com", ["order.created"])),
    "deleteWebhook": ("webhooks.remove", lambda c: c.webhooks.remove("w")),
    "rotateWebhookSecret": ("webhooks.rotate", lambda c: c.webhooks.rotate("w")),
    "listWebhookDeliveries": ("webhooks.feed", lambda c: c.webhooks.feed("w")),
    "listDeliveries": ("webhooks.deliveries", lambda c: c.webhooks.deliveries(**DELIVERIES)),
    "getDelivery": ("webhooks.delivery", lambda c: c.webhooks.delivery("d")),
    "getDeliveryExchange": ("webhooks.exchange", lambda c: c.webhooks.exchange("d")),
    "replayFailedDeliveries": ("webhooks.replay_failed", lambda c: c.webhooks.replay_failed("w", NOON, NOON)),
    "replayDelivery": ("webhooks.replay", lambda c: c.webhooks.replay("d")),
    "testWebhook": ("webhooks.test", lambda c: c.webhooks.test("w")),
    "getWebhookSignatureExample": ("webhooks.signature_example", lambda c: c.webhooks.signature_example()),
}

NOT_IN_CLIENT = {"linkPartner"}
"""Operations of people and of the dashboard, which the client leaves out."""

OWN_CALLS = {
    "orders.all",
    "rooms.all",
    "templates.all",
    "fills.all",
    "webhooks.all_deliveries",
    "webhooks.replay_all_failed",
    "events.follow",
    "with_options",
    "close", "with_response"}
"""Calls of the client that are not operations."""
