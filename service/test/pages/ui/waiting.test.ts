import assert from "node:assert/strict";
import { test } from "node:test";
import type { RoomView } from "../../../src/closing/rooms/rooms.ts";
import { statusGroupOf } from "../../../src/orders/order/order.ts";
import { waitingIn } from "../../../src/pages/ui/orders/progress.ts";

type Card = RoomView["orders"][number];
type Signer = Card["signers"][number];

const signer = (name: string | null, routingOrder: number, signed = false): Signer => ({
  name,
  email: "d***@example.com",
  routingOrder,
  signed,
});
const services = { sign: true, notarize: true, ship: false, fax: false };
const card = (status: string, signers: Signer[] = []) =>
  ({ status, statusGroup: statusGroupOf(status), signers, services }) as unknown as Card;
const waits = (...orders: Card[]) => waitingIn({ orders });

test("names the people whose turn it is, and counts documents that wait for the same", () => {
  const both = [signer("Ana Ortega", 1), signer("Marcus Ortega", 1), signer("Lee Lender", 2)];
  assert.equal(
    waits(card("EsignPending", both), card("QuoteReady"), card("EsignPending", both), card("NotarizationPending")),
    "2 documents wait for Ana Ortega and Marcus Ortega to sign. 1 document waits for payment. 1 document waits for the notary.",
  );
  const later = [signer("Ana Ortega", 1, true), signer(null, 2)];
  assert.equal(waits(card("EsignPending", later)), "1 document waits for d***@example.com to sign.");
});

test("says nothing of documents that are finished, canceled or refunded, and of those of which nobody has to act", () => {
  assert.equal(waits(), "");
  assert.equal(waits(card("Completed"), card("Cancelled"), card("Refunded"), card("Delivered"), card("Paid")), "");
  assert.equal(waits(card("EsignPending", [signer("Ana Ortega", 1, true)])), "");
});

test("says that a signed document with another service waits for that service to begin", () => {
  const signed = card("EsignComplete", [signer("Ana Ortega", 1, true)]);
  assert.equal(waits(signed), "1 document waits for its next service to begin.");
  assert.equal(waits(signed, signed), "2 documents wait for their next service to begin.");
  const isNotarized = card("NotarizationComplete");
  assert.equal(waits(isNotarized, isNotarized), "2 documents wait to be completed.");
  const ships = { ...isNotarized, services: { ...services, ship: true } };
  assert.equal(
    waits(ships, { ...signed, services: { ...services, notarize: false } }),
    "1 document waits for its next service to begin. 1 document waits to be completed.",
  );
});

test("says that somebody must act after trouble, and that a parcel is on its way", () => {
  assert.equal(
    waits(card("EsignDeclined"), card("FaxFailed"), card("Shipped"), card("ManualQuoteRequired")),
    "2 documents need somebody to act: see their orders. 1 document is on the way to the recipient. 1 document waits for a price.",
  );
});
