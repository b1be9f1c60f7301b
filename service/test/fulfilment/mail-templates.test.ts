import assert from "node:assert/strict";
import { test } from "node:test";
import { mailOf } from "../../src/fulfilment/mail-templates.ts";

const greetingFor = (customerName: string | null): string | undefined =>
  mailOf(
    "payment_received",
    {
      code: "a".repeat(40),
      customerEmail: "dana@example.com",
      customerName,
      totalCents: 9_900,
      partnerName: "Acme Title",
      replyTo: null,
      carrier: null,
      trackingNumber: null,
    },
    { page: "https://sign.example/orders/1", documents: "https://sign.example/orders/1/documents/2" },
  ).text.split("\n")[0];

test("a client is greeted by name, in any script", () => {
  for (const name of [
    "Dana Reyes",
    "J. R. O’Neill",
    "Zoë Ng-Müller, Jr.",
    "山田 太郎",
    "नेहा शर्मा",
    "Trust No. 2 (Elm & Oak)",
  ])
    assert.equal(greetingFor(name), `Hello ${name},`);
  assert.equal(greetingFor(null), "Hello,");
});

test("what could be read as an address, or is longer than a name, is not sent on", () => {
  for (const name of [
    "Dana https://evil.example/pay",
    "Pay at evil.example",
    "www.evil",
    "evil.co/x",
    "dana@evil.example",
    "Your account is suspended. Call +1 (900) 555 0123 at once to have it restored, or lose it",
    "Dana: urgent!",
  ])
    assert.equal(greetingFor(name), "Hello,", name);
});
