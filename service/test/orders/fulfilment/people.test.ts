import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type CaughtMail, startMailCatcher } from "@signsealship/testing/doubles/mail-catcher";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf, minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";

const folder = temporaryFolder();
const signed = join(folder.path, "signed.pdf");

const [stripe, mails] = await Promise.all([forTests(startStripe()), forTests(startMailCatcher())]);
const service = await forTests(
  startService({
    DATA_DIR: folder.path,
    RATE_LIMITS: "off",
    ...stripe.settings("live"),
    SMTP_URL: mails.url,
    MAIL_FROM: "SignSealShip <orders@example.com>",
  }),
);
writeFileSync(signed, makePdf({ text: "Signed" }));
const { headers } = await newPartner(service, { live: true, name: "Acme & <b>Sons</b>" });

async function paidOrder(fields: Record<string, string>): Promise<string> {
  const body = orderForm({ ...minimal, create_checkout: "true", ...fields });
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode, checkoutUrl } = (await response.json()) as { orderCode: string; checkoutUrl: string };
  await stripe.deliver(service.baseUrl, stripe.pay(stripe.sessionOf(checkoutUrl)));
  return orderCode;
}

const move = async (code: string, ...args: string[]) =>
  (await service.cli<{ orderCode: string; status: string }>("order", "move", code, ...args)).status;

async function refused(code: string, ...args: string[]): Promise<string> {
  const env = { DATA_DIR: folder.path };
  const run = await runCli(env, "order", "move", code, ...args, "--json");
  assert.equal(run.code, 1, run.stdout);
  return (JSON.parse(run.stdout) as { error: string }).error;
}

type OrderShown = {
  status: string;
  documents: { kind: string; sha256: string }[];
  shipments: { status: string; trackingNumber: string | null }[];
  history: { toStatus: string; actor: string; detail: unknown }[];
};
const show = (code: string) => service.cli<OrderShown>("order", "show", code);

test("a person moves an order from signing to delivery, and its client is mailed", async () => {
  const code = await paidOrder({ svc_sign: "true", svc_notary: "true", ...shipping });
  const asked = await until(() => mails.caught.find(({ subject }) => subject.includes("please sign")));
  assert.match(asked.text, /Your payment of \$[\d.]+ has cleared/, "one mail tells of the payment and asks to sign");
  assert.match(await refused(code, "EsignComplete"), /needs the document/);
  assert.equal(await move(code, "EsignComplete", "--document", signed), "EsignComplete");
  // The first move also starts the notarization. The second move, to the pending status of shipping, starts shipping.
  assert.equal(await move(code, "NotarizationComplete", "--document", signed), "NotarizationComplete");
  assert.equal(await move(code, "ShippingPending"), "ShippingPending");
  assert.match(await refused(code, "Shipped", "--carrier", "USPS"), /carrier and a tracking number/);
  assert.match(
    await refused(code, "Shipped", "--untracked"),
    /Enter the carrier and a tracking number\. .* no tracking number, say so\./,
  );
  assert.match(
    await refused(code, "Shipped", "--carrier", "USPS", "--tracking", "9400 1-2", "--untracked"),
    /has a tracking number, and says that there is none/,
  );
  for (const number of ["###", "9400 1<2", "none"])
    assert.match(
      await refused(code, "Shipped", "--carrier", "USPS", "--tracking", number),
      /must have a digit, and no characters but letters/,
    );
  assert.equal(await move(code, "Shipped", "--carrier", "USPS <1>", "--tracking", "9400 1-2"), "Shipped");
  assert.equal(await move(code, "Delivered"), "Delivered");
  assert.equal(await move(code, "Completed"), "Completed");

  const { documents, shipments } = await show(code);
  assert.deepEqual(
    documents.map(({ kind }) => kind),
    ["original", "sealed", "notarized"],
  );
  // The stored document was sealed, so its hash is not that of the uploaded one.
  assert.notEqual(documents[1]?.sha256, createHash("sha256").update(readFileSync(signed)).digest("hex"));
  assert.deepEqual(
    shipments.map(({ status, trackingNumber }) => [status, trackingNumber]),
    [["Delivered", "9400 1-2"]],
  );

  // The quote is mailed only if the order is not paid quickly, so that mail is ignored.
  const mine = (mail: CaughtMail) => mail.text.includes(code) && !mail.subject.includes("quote");
  await until(() => mails.caught.filter(mine).length === 4);
  const subjects = mails.caught
    .filter(mine)
    .map(({ subject }) => subject)
    .sort();
  assert.deepEqual(subjects, [
    "[Acme & <b>Sons</b>] Delivered",
    "[Acme & <b>Sons</b>] On its way",
    "[Acme & <b>Sons</b>] Signed and sealed",
    "[Acme & <b>Sons</b>] Your order is complete",
  ]);
  for (const mail of mails.caught.filter(mine)) {
    assert.equal(mail.to, "signer@example.com");
    assert.match(mail.html, /Acme &amp; &lt;b&gt;Sons&lt;\/b&gt;/);
    assert.match(mail.text, /Acme & <b>Sons<\/b>/);
  }
  assert.match(
    mails.caught
      .filter(mine)
      .map(({ html }) => html)
      .join(),
    /USPS &lt;1&gt;/,
  );
});

test("plain mail without a tracking number is recorded as such, and the client and the room see its carrier", async () => {
  const code = await paidOrder({ ...shipping });
  assert.equal(await move(code, "Shipped", "--carrier", "First-Class Mail", "--untracked"), "Shipped");
  assert.deepEqual(
    (await show(code)).shipments.map(({ status, trackingNumber }) => [status, trackingNumber]),
    [["Shipped", null]],
  );
  const mail = await until(() =>
    mails.caught.find(({ text, subject }) => text.includes(code) && subject.includes("On its way")),
  );
  assert.match(mail.text, /was handed to First-Class Mail\.[\s\S]*Carrier: First-Class Mail/);
  assert.doesNotMatch(mail.text, /Tracking number|null/);
  const page = await (await fetch(`${service.baseUrl}/orders/${code}`)).text();
  assert.match(page, /First-Class Mail/);
  assert.doesNotMatch(page, /Tracking number/);
  const post = async (path: string, body: object) =>
    (await fetch(`${service.baseUrl}/api/${path}`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify(body),
    })) as Response;
  const { roomCode } = (await (await post("rooms", { name: "Elm Street" })).json()) as { roomCode: string };
  assert.ok((await post(`rooms/${roomCode}/orders`, { orderCode: code })).ok);
  const room = (await (await fetch(`${service.baseUrl}/api/rooms/${roomCode}`)).json()) as {
    orders: { carrier: string | null; trackingNumber: string | null }[];
  };
  assert.deepEqual(
    room.orders.map(({ carrier, trackingNumber }) => [carrier, trackingNumber]),
    [["First-Class Mail", null]],
  );
  assert.match(await (await fetch(`${service.baseUrl}/rooms/${roomCode}`)).text(), /First-Class Mail/);
});

test("a client is mailed the quote with a link to pay, once, and the link is unbroken in the sent mail", async () => {
  const form = orderForm({ ...minimal, svc_sign: "true", name: "Zoë Ng" }, null);
  form.append(
    "document",
    new Blob([new Uint8Array(examplePdf)], { type: "application/pdf" }),
    "Título de propiedad.pdf",
  );
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body: form });
  const { orderCode } = (await response.json()) as { orderCode: string };
  const about = () => mails.caught.filter(({ raw }) => raw.includes(orderCode));
  const mail = await until(() => about()[0]);
  assert.match(mail.text, /^Hello Zoë Ng,/);
  assert.match(mail.text, /Document: Título de propiedad\r\nAmount: \$/);
  assert.match(mail.raw, new RegExp(`^http://localhost:\\d+/orders/${orderCode}\r$`, "m"));
  assert.match(mail.raw, /^From: .*Acme & <b>Sons<\/b> via SignSealShip.* <orders@example\.com>\r$/m);
  assert.match(mail.subject, /=\?UTF-8\?Q\?/);
  assert.equal(await move(orderCode, "Cancelled", "--reason", "asked for"), "Cancelled");
  await until(() => about().some(({ text }) => text.includes("was canceled before it was paid")));
  assert.equal(about().length, 2);
});

test("holds, failures and reopenings need a reason, and a release restores the earlier state", async () => {
  const code = await paidOrder({ svc_notary: "true" });
  assert.match(await refused(code, "OnHold"), /needs a reason/);
  assert.equal(await move(code, "OnHold", "--reason", "the notary is ill"), "OnHold");
  assert.match(
    await refused(code, "NotarizationComplete", "--document", signed),
    /OnHold cannot move to NotarizationComplete/,
  );
  assert.equal(await move(code, "--release"), "NotarizationPending");
  assert.match(await refused(code, "--release"), /not on hold/);
  assert.equal(await move(code, "IdentityLocked", "--reason", "three tries"), "IdentityLocked");
  assert.equal(await move(code, "NotarizationPending"), "NotarizationPending");
  const { history } = await show(code);
  assert.deepEqual(
    history.filter(({ detail }) => detail).map(({ toStatus, actor, detail }) => [toStatus, actor, detail]),
    [
      ["OnHold", "operator", { reason: "the notary is ill" }],
      ["IdentityLocked", "operator", { reason: "three tries" }],
    ],
  );
});

test("only the processor moves an order to Paid, and nobody skips a status", async () => {
  const body = orderForm({ ...minimal, svc_sign: "true" });
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
  const { orderCode } = (await response.json()) as { orderCode: string };
  assert.match(await refused(orderCode, "Paid"), /Only the payment processor/);
  assert.match(await refused(orderCode, "PaymentFailed"), /Only the payment processor/);
  assert.match(
    await refused(orderCode, "Completed"),
    /QuoteReady cannot move to Completed; it can move to .*Cancelled/,
  );
  assert.match(await refused(orderCode, "Nonsense"), /cannot move to Nonsense/);
  assert.match(await refused("0".repeat(40), "Cancelled", "--reason", "x"), /Order not found/);
  assert.equal((await show(orderCode)).status, "QuoteReady");
  assert.equal(await move(orderCode, "Cancelled", "--reason", "asked for"), "Cancelled");
});

test("the order's own document is refused as the signed one, and the order does not move", async () => {
  const code = await paidOrder({ svc_sign: "true" });
  const own = join(folder.path, "own.pdf");
  writeFileSync(own, examplePdf);
  assert.match(await refused(code, "EsignComplete", "--document", own), /nothing was added/);
  assert.equal((await show(code)).status, "EsignPending");
});

test("a document that cannot be sealed is refused by name, and the order does not move", async () => {
  const code = await paidOrder({ svc_sign: "true" });
  const broken = join(folder.path, "broken.pdf");
  writeFileSync(broken, "not a PDF");
  const message = await refused(code, "EsignComplete", "--document", broken);
  assert.ok(message.length > 0);
  const { status, documents } = await show(code);
  assert.equal(status, "EsignPending");
  assert.equal(documents.length, 1);
});

test("a wrong command line exits with 2", async () => {
  for (const args of [
    ["x"],
    ["x", "Paid", "--release"],
    ["x", "QuoteReady", "--amount-cents", "1.5"],
    ["x", "QuoteReady", "--amount-cents", "-x"],
    ["x", "Paid", "--nope"],
    [],
  ])
    assert.equal((await runCli({ DATA_DIR: folder.path }, "order", "move", ...args)).code, 2, args.join(" "));
});

test("an unreachable mail server delays and loses nothing", async () => {
  const before = mails.caught.length;
  mails.refuseNext(2);
  const code = await paidOrder({ svc_sign: "true" });
  assert.equal((await show(code)).status, "EsignPending");
  const told = /Your payment of \$[\d.]+ has cleared/;
  await until(() => mails.caught.slice(before).some(({ text }) => told.test(text)));
});
