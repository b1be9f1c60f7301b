import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { mailOf as composed } from "../../../src/kernel/platform/mail/mail-jobs.ts";
import { letterOf, letterTogether } from "../../../src/orders/fulfilment/client-letters.ts";
import { mailWords } from "../../../src/orders/fulfilment/mail-words.ts";
import type { MailMoment } from "../../../src/orders/order/order.ts";
import { links, order } from "./mail-samples.ts";

const at = "2026-01-05T10:00:00.000Z";
const mailOf = (...about: Parameters<typeof letterOf>) => composed(letterOf(...about));
const moments = Object.keys(mailWords) as MailMoment[];

const greetingFor = (customerName: string | null): string | undefined =>
  mailOf("payment_received", at, { ...order, customerName }, links).text.split("\n")[0];

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

test("a text that looks like an address, or is longer than a name, is not sent", () => {
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

test("each mail states its firm and subject, has one link on a line of its own, and one button", () => {
  for (const moment of moments) {
    const mail = mailOf(moment, at, order, links);
    assert.match(mail.subject, /^\[Acme Title & Escrow\] .+: Deed of trust$/, moment);
    assert.equal(mail.onBehalfOf, "Acme Title & Escrow");
    assert.equal(mail.replyTo, "closings@acme.example");
    const urls = mail.text.split("\n").filter((line) => line.includes("https://"));
    assert.equal(urls.length, 1, moment);
    assert.ok([links.page, links.documents].includes(urls[0] ?? ""), urls[0]);
    assert.equal(mail.html.match(/<a /g)?.length, 1);
    assert.match(mail.html, /Acme Title &amp; Escrow/);
    assert.match(mail.text, /Sent by SignSealShip for Acme Title & Escrow\. You receive it because/);
  }
});

test("a mail with a link to finished documents shows the state of the log, in its header, too", () => {
  const checkpoint = "sign.example.com/log/live\n12\nroot=\n\n— signature\n";
  for (const moment of moments) {
    const letter = letterOf(moment, at, order, links);
    assert.equal(letter.isOfFinished, letter.link?.url === links.documents, moment);
  }
  const mail = composed({ ...letterOf("signed", at, order, links), checkpoint });
  assert.equal(mail.checkpoint, checkpoint);
  for (const body of [mail.text, mail.html]) assert.match(body, /log sign\.example\.com\/log\/live 12 root=/);
  assert.equal(mailOf("signed", at, order, links).checkpoint, undefined);
});

test("a sentence that ends with a firm's name has one period", () => {
  const firm = { ...order.firm, name: "Demo Title Co." };
  for (const moment of moments) {
    const { text, html } = mailOf(moment, at, { ...order, firm }, links);
    assert.ok(!text.includes("..") && !html.includes("Co.."), moment);
    assert.match(text, /Sent by SignSealShip for Demo Title Co\. You receive it/);
  }
});

test("docs/mails.md lists each moment of an order by its subject", () => {
  const page = readFileSync(new URL("../../../../docs/mails.md", import.meta.url), "utf8");
  for (const moment of moments)
    assert.ok(page.includes(`| ${mailWords[moment]({ ...order, firm: "Acme" }).subject} |`), moment);
});

test("the mails of one kind differ by their time, and a repeated mail is recognized", () => {
  const once = mailOf("on_hold", at, order, links).id;
  assert.equal(mailOf("on_hold", at, order, links).id, once);
  assert.notEqual(mailOf("on_hold", "2026-01-06T10:00:00.000Z", order, links).id, once);
});

test("the documents are linked when there are finished ones, otherwise the order's page", () => {
  for (const moment of moments) {
    const { text } = mailOf(moment, at, order, links);
    const finished = moment === "signed" || moment === "completed";
    assert.equal(text.includes(links.documents), finished, moment);
  }
});

test("a parcel is named with its number, a fax by the end of its number, and unknown facts are omitted", () => {
  const of = (moment: MailMoment, more = {}) => mailOf(moment, at, { ...order, ...more }, links).text;
  for (const moment of ["shipped", "ready_for_pickup", "delivered"] as const)
    assert.match(of(moment), /Carrier: USPS\nTracking number: 9400111899223197428490/);
  assert.match(of("fax_failed"), /number that ends in 0199/);
  assert.ok(!of("fax_delivered").includes("+1312555"));
  assert.match(of("refunded"), /Amount: \$109\.50/);
  assert.match(
    of("refunded", { lostCents: 9_50 }),
    /already took \$9\.50 back[\s\S]*5 to 10 working days[\s\S]*Amount: \$100\.00/,
  );
  const free = of("payment_received", { totalCents: 0 });
  assert.match(mailOf("payment_received", at, { ...order, totalCents: 0 }, links).subject, /Your order has begun/);
  assert.match(free, /There is nothing to pay for the document/);
  assert.doesNotMatch(free, /\$|[Pp]ayment received|cleared/);
  const freeQuote = of("quote_ready", { totalCents: 0 });
  assert.match(freeQuote, /There is nothing to pay for it\./);
  assert.doesNotMatch(freeQuote, /\$|[Pp]ay online|[Rr]eview and pay|payment/);
  const unknown = { carrier: null, trackingNumber: null, faxTo: null, refundedCents: null, title: null };
  for (const moment of moments) assert.doesNotMatch(of(moment, unknown), /null|undefined|: *$/, moment);
});

test("the mail about a refund promises no money when the payer's bank had taken all of it back", () => {
  const lost = { ...order, lostCents: order.totalCents };
  const together = letterTogether("refunded", { id: "x", closing: null, firm: order.firm }, [
    { ...lost, links },
    { ...lost, links },
  ]);
  for (const mail of [mailOf("refunded", at, lost, links), composed(together)]) {
    assert.match(mail.subject, /closed/);
    assert.match(mail.text, /already took \$(?:109\.50|219\.00) back/);
    assert.doesNotMatch(mail.text, /working days|was refunded|Amount:/);
  }
});

test("the mail about a payment after the cancellation says whether it was sent back", () => {
  assert.match(
    mailOf("paid_late", at, { ...order, refundedCents: null }, links).text,
    /is being sent back[\s\S]*\$109\.50/,
  );
  assert.match(mailOf("paid_late", at, order, links).text, /was sent back/);
});

test("a name or title that looks like an address, or breaks a line, is in no part of any mail", () => {
  for (const odd of [
    "evil.example",
    "Pay at www.evil",
    "https://evil.example",
    "Acme\r\nBcc: eve@evil.example",
    "Acme\u202Emoc",
  ]) {
    const firm = { ...order.firm, name: odd, contactEmail: null };
    for (const moment of moments) {
      const mail = mailOf(moment, at, { ...order, firm, title: odd, customerName: odd }, links);
      assert.equal(mail.onBehalfOf, undefined);
      for (const part of [mail.subject, mail.text, mail.html])
        assert.ok(!part.includes(odd) && !part.includes("evil"), `${moment}: ${part}`);
      assert.doesNotMatch(mail.subject, /[\r\n[]/);
    }
  }
});

test("names are text: their markup has no effect, and only a color and an https logo are shown", () => {
  const firm = {
    name: "Acme & <b>Sons</b>",
    accentColor: "red; background: url(x)",
    logoUrl: "javascript:alert(1)",
    contactEmail: null,
  };
  const { html, text } = mailOf("shipped", at, { ...order, firm, trackingNumber: '9<2"' }, links);
  assert.ok(html.includes("Acme &amp; &lt;b&gt;Sons&lt;/b&gt;") && html.includes("9&lt;2&quot;"));
  assert.ok(text.includes("Acme & <b>Sons</b>"));
  assert.doesNotMatch(html, /<b>|url\(|javascript|<img/);
});
