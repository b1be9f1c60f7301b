import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf, minimal, orderForm, sender, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner, startService, temporaryFolder } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { type SenderTexts, senderTexts } from "../../../src/orders/order/form/sender-texts.ts";
import { newMember } from "../../firms/members/signed-in-member.ts";

const folder = temporaryFolder();

/**
 * Writes a changed copy of one of the service's data files.
 * @returns the copy's path
 */
function changedFile(name: string, change: (text: string) => string): string {
  const file = join(folder.path, name);
  writeFileSync(file, change(readFileSync(new URL(`../../../data/${name}`, import.meta.url), "utf8")));
  return file;
}

const documentOf = (slug: string, code: string) =>
  `  - slug: ${slug}\n    title: Notice\n    sign: true\n    notarize: false\n    discountCode: ${code}\n\n`;

// Without other services, the document nearly-free costs $0.49, and the document free costs nothing.
const prices = {
  PRICE_BOOK: changedFile("price-book.yaml", (text) =>
    text.replace(
      "discountCodes:",
      "discountCodes:\n  INTRO:\n    label: Introductory rate\n    amountCents: 1031\n  FREE:\n    label: Free\n    amountCents: 9000",
    ),
  ),
  CATALOG: changedFile("catalog.yaml", (text) =>
    text.replace(
      "  - slug: recorded-copy",
      `${documentOf("nearly-free", "INTRO")}${documentOf("free", "FREE")}  - slug: recorded-copy`,
    ),
  ),
};
const service = await forTests(startService({ DATA_DIR: folder.path, RATE_LIMITS: "off", ...prices }));
const partner = await newPartner(service, { tier: "ProOffice" });

type Line = { type: string; label: string; amountCents: number };
type Order = SenderTexts & {
  orderCode: string;
  orderUrl: string;
  status: string;
  faxToNumber: string | null;
  subtotalCents: number;
  discountCents: number;
  totalCents: number;
  lines: Line[];
  checkoutUrl: string | null;
  requestId: string;
  warnings?: string[];
  services: string;
  envelopeStatus: string | null;
  customerEmail: string;
  createdAt: string;
};

async function post(fields: Record<string, string | undefined>, document: Uint8Array | null = examplePdf) {
  const response = await fetch(`${service.baseUrl}/api/partner/orders`, {
    method: "POST",
    headers: partner.headers,
    body: orderForm(fields, document),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Order & { error?: string },
  };
}

async function place(
  fields: Record<string, string | undefined>,
  document: Uint8Array | null = examplePdf,
): Promise<Order> {
  const { status, body } = await post({ ...minimal, ...fields }, document);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

async function refused(
  fields: Record<string, string | undefined>,
  document: Uint8Array | null = examplePdf,
): Promise<string> {
  const { status, body } = await post({ ...minimal, ...fields }, document);
  assert.equal(status, 400, JSON.stringify(body));
  assert.deepEqual(Object.keys(body), ["error"]);
  return body.error ?? "";
}

const fetchOrder = async (code: string): Promise<Order> =>
  (await fetch(`${service.baseUrl}/api/partner/orders/${code}`, { headers: partner.headers })).json() as Promise<Order>;

const types = (order: Order): string[] => order.lines.map((line) => line.type);

describe("placing an order", () => {
  test("returns exactly the contract's fields", async () => {
    const order = await place({ svc_sign: "true", external_reference: "FILE-1" });
    assert.deepEqual(Object.keys(order).sort(), [
      "checkoutUrl",
      "discountCents",
      "externalReference",
      "faxToNumber",
      "lines",
      "orderCode",
      "orderUrl",
      "requestId",
      "status",
      "subtotalCents",
      "totalCents",
    ]);
    assert.match(order.orderCode, /^[0-9a-f]{40}$/);
    assert.equal(order.orderUrl, `/orders/${order.orderCode}`);
    assert.equal(order.status, "QuoteReady");
    assert.equal(order.externalReference, "FILE-1");
    assert.equal(order.faxToNumber, null);
    assert.equal(order.checkoutUrl, null);
  });

  test("with a test key warns of unknown fields, with the likely name, and of missing services", async () => {
    const misspelt = { scv_sign: "true", colour_of_paper: "blue" };
    assert.deepEqual((await place({ ...misspelt, svc_notary: "on" })).warnings, [
      'scv_sign is not a field of this request and was ignored: did you mean "svc_sign"?',
      "colour_of_paper is not a field of this request and was ignored.",
    ]);
    const [, , none] = (await place(misspelt)).warnings ?? [];
    assert.match(none ?? "", /^No service was chosen .* the workflow fee alone\.$/);
    assert.equal((await place({})).warnings?.length, 1);
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`unknown_${n}`, "x"]));
    assert.equal((await place({ ...many, fax_to: "2125550123" })).warnings?.length, 10);
  });

  test("warns of values that mean something else than their sender may expect", async () => {
    const warned = async (fields: Record<string, string>) => (await place(fields)).warnings;
    const signed = { svc_sign: "on" };
    assert.deepEqual(await warned({ ...signed, svc_fax: "on" }), [
      "svc_fax is not a field of this request and was ignored. An order is faxed when it has a number in fax_to.",
    ]);
    assert.deepEqual(await warned({ ...shipping, ship_method: "drone" }), [
      "ship_method drone is neither label nor print_mail, and was read as label.",
    ]);
    for (const method of ["label", " print_mail ", ""])
      assert.equal(await warned({ ...shipping, ship_method: method }), undefined, method);
    const { svc_ship: _, ...address } = shipping;
    assert.deepEqual(await warned({ ...signed, ...address }), [
      `Nothing is shipped without svc_ship, and these fields were ignored: ${Object.keys(address).join(", ")}.`,
    ]);
  });

  test("names the catalog document that has no service, and never a doc_slug that was left out", async () => {
    const said = "No service was chosen. The catalog says that recorded-copy is neither signed nor notarized,";
    const [none, ...others] = (await place({ doc_slug: "recorded-copy" })).warnings ?? [];
    assert.ok(none?.startsWith(said), none);
    assert.deepEqual(others, []);
    const faxed = await place({ doc_slug: "recorded-copy", fax_to: "2125550123", svc_notary: "on" });
    assert.deepEqual(faxed.warnings, [
      "svc_notary was ignored: the catalog decides the services of recorded-copy, and it is not notarized.",
    ]);
    assert.equal((await place({ doc_slug: "quitclaim-deed" })).warnings, undefined);
  });

  test("warns a retry in the same words, and gives a live key no warnings", async () => {
    const send = async (headers: Record<string, string>) => {
      const body = orderForm({ ...minimal, scv_sign: "true" }, examplePdf);
      const response = await fetch(`${service.baseUrl}/api/partner/orders`, { method: "POST", headers, body });
      assert.equal(response.status, 201);
      return response.text();
    };
    const keyed = { ...partner.headers, "Idempotency-Key": "warned-once" };
    const first = await send(keyed);
    assert.match(first, /did you mean/);
    assert.equal(await send(keyed), first);
    const live = await newPartner(service, { live: true });
    assert.ok(!("warnings" in (JSON.parse(await send(live.headers)) as object)));
  });

  test("repeats the Request-Id header in the body", async () => {
    const { headers, body } = await post({ ...minimal });
    assert.equal(headers.get("request-id"), body.requestId);
  });

  test("subtracts the tier discount from the total, only on the workflow fee and without a line", async () => {
    const order = await place({ svc_notary: "on" });
    assert.deepEqual(types(order), ["WorkflowFee", "NotaryFee", "TechFee"]);
    assert.deepEqual([order.subtotalCents, order.discountCents, order.totalCents], [6100, 120, 5980]);
  });

  test("without services costs only the workflow fee, and its services are the empty string", async () => {
    const order = await place({});
    assert.deepEqual(types(order), ["WorkflowFee"]);
    const detail = await fetchOrder(order.orderCode);
    assert.equal(detail.services, "");
    assert.equal(detail.envelopeStatus, null);
  });

  test("joins the bought services by a comma and a space", async () => {
    const order = await place({ svc_sign: "on", svc_notary: "true", ...shipping, fax_to: "2125550123" });
    const detail = await fetchOrder(order.orderCode);
    assert.equal(detail.services, "Sign, Notarize, Ship, Fax");
    assert.equal(detail.envelopeStatus, "Created");
    assert.equal(detail.customerEmail, minimal.email);
    assert.match(detail.createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const { checkoutUrl: _, requestId: __, ...created } = order;
    assert.deepEqual({ ...detail, ...created }, detail);
  });

  test("lets the catalog decide signing and notarization, and adds shipping", async () => {
    const order = await place({ doc_slug: "quitclaim-deed", svc_sign: "false", ...shipping });
    const detail = await fetchOrder(order.orderCode);
    assert.equal(detail.services, "Sign, Notarize, Ship");
  });

  test("prices shipping as postage and handling, and print-and-mail instead of handling", async () => {
    assert.deepEqual(types(await place(shipping)), ["WorkflowFee", "ShippingCarrierRate", "ShippingHandlingFee"]);
    const mailed = await place({ ...shipping, ship_method: "print_mail" });
    assert.deepEqual(types(mailed), ["WorkflowFee", "ShippingCarrierRate", "PrintMailFee"]);
    assert.equal(mailed.lines[2]?.amountCents, 1295);
    assert.ok(types(await place({ ...shipping, ship_method: "pigeon" })).includes("ShippingHandlingFee"));
  });

  test("prices postage from the sender's address when there is one", async () => {
    const near = await place({ ...shipping, ...sender, from_state: "NJ", from_postal: "07102" });
    const far = await place({ ...shipping, ...sender, from_state: "CA", from_postal: "90012" });
    assert.ok((near.lines[1]?.amountCents ?? 0) < (far.lines[1]?.amountCents ?? 0));
  });

  test("waits for a person when no carrier rate exists, without a checkout", async () => {
    const order = await place({ ...shipping, ship_state: "AE", ship_postal: "09012", create_checkout: "true" });
    assert.equal(order.status, "ManualQuoteRequired");
    assert.equal(order.checkoutUrl, null);
    assert.deepEqual(types(order), ["WorkflowFee", "ShippingHandlingFee"]);
  });

  test("normalizes fax numbers to E.164 and charges 9.00", async () => {
    for (const [sent, kept] of [
      ["2125550123", "+12125550123"],
      ["(212) 555-0123", "+12125550123"],
      ["+44 20 7946 0018", "+442079460018"],
    ]) {
      const order = await place({ fax_to: sent });
      assert.equal(order.faxToNumber, kept);
      assert.equal(order.lines.find((line) => line.type === "FaxFee")?.amountCents, 900);
    }
  });

  test("counts empty fields, which browsers send, as absent", async () => {
    const order = await place({ fill_token: "", fax_to: "", from_name: "", external_reference: "", svc_ship: "" });
    assert.deepEqual([order.externalReference, order.faxToNumber], [null, null]);
  });
});

describe("an order is refused, with the field and the rule named,", () => {
  const cases: [name: string, fields: Record<string, string | undefined>, message: RegExp][] = [
    ["without email", { email: undefined }, /^email is required/],
    ["with an email that is none", { email: "signer" }, /^email must be/],
    ["without byod_confirmed", { byod_confirmed: undefined }, /^byod_confirmed is required/],
    ["with byod_confirmed off", { byod_confirmed: "off" }, /^byod_confirmed is required/],
    ["with a flag of another value", { svc_sign: "yes" }, /^svc_sign must be true or on/],
    ["with a slug that the catalog lacks", { doc_slug: "no-such" }, /^doc_slug /],
    ["with a fax number nobody can read", { fax_to: "call me" }, /^fax_to /],
    ["with a fax number of a premium rate", { fax_to: "900-555-0123" }, /^fax_to must not be a premium-rate/],
    ["with a fax number of a premium rate of an area", { fax_to: "+1 212 976 0123" }, /^fax_to must not be a premium/],
    ["with a fax number of Inmarsat", { fax_to: "+870 773 111 632" }, /^fax_to must not be .* satellite/],
    ["with a fax number of a satellite", { fax_to: "+881 6 512 34567" }, /^fax_to must not be .* satellite/],
    ["with a fax number of no country", { fax_to: "+882 16 12345678" }, /^fax_to must not be .* satellite/],
    ["with a fax number that no exchange has", { fax_to: "0000000000" }, /^fax_to /],
    ["with a fax number of nine digits", { fax_to: "212555012" }, /^fax_to /],
    ["with a signer_state of three characters", { signer_state: "TEX" }, /^signer_state /],
    ["with a dest_state that is none", { dest_state: "ZZ" }, /^dest_state /],
    [
      "notarized for a signer in a state that does not recognize it",
      { svc_notary: "true", signer_state: "GA" },
      /^signer_state GA is blocked/,
    ],
    ["with a reference of 121 characters", { external_reference: "x".repeat(121) }, /^external_reference .*120/],
    ["with a NUL in a text", { name: "a\0b" }, /^name must be UTF-8 text/],
    ["shipped without a city", { ...shipping, ship_city: undefined }, /^ship_city is required when svc_ship/],
    ["shipped to a state of three letters", { ...shipping, ship_state: "NYC" }, /^ship_state /],
    ["shipped to a postal code that is none", { ...shipping, ship_postal: "ABC" }, /^ship_postal /],
    ["with a sender's address half given", { from_name: "Acme" }, /^from_line1 is required/],
    ["with a sender's address without a name", { ...sender, from_name: undefined }, /^from_name is required/],
    ["with both document and fill_token", { fill_token: "0".repeat(40) }, /^document and fill_token exclude/],
  ];
  for (const [name, fields, message] of cases)
    test(name, async () => {
      assert.match(await refused(fields), message);
    });

  test("with a discount that leaves less than the smallest payment", async () => {
    const reason = /^doc_slug must not be nearly-free with these services: .*“Introductory rate”.* \$0\.49, .*\$0\.50/;
    assert.match(await refused({ doc_slug: "nearly-free" }), reason);
    assert.equal((await place({ doc_slug: "nearly-free", fax_to: "2125550123" })).totalCents, 949);
    assert.equal((await place({ doc_slug: "free" })).totalCents, 0);
  });
  test("at a price that its estimate refuses in the same words, and the page Prices with the document's title", async () => {
    const ask = async (query: Record<string, string>) => {
      const url = `${service.baseUrl}/api/partner/prices/estimate?${new URLSearchParams({ pages: "2", ...query })}`;
      const answer = await fetch(url, { headers: partner.headers });
      return { status: answer.status, ...((await answer.json()) as { error?: string; totalCents?: number }) };
    };
    const { status, error } = await ask({ doc_slug: "nearly-free" });
    assert.deepEqual([status, error], [400, await refused({ doc_slug: "nearly-free" })]);
    assert.equal((await ask({ doc_slug: "nearly-free", fax_to: "2125550123" })).totalCents, 949);
    assert.equal((await ask({ doc_slug: "free" })).totalCents, 0);
    const { headers } = await newMember(service, "prices@firm.example", partner.key);
    const page = await fetch(`${service.baseUrl}/dashboard/prices?pages=2&type=nearly-free`, { headers });
    assert.match(await page.text(), /Document type must not be “Notice” with these services: .* \$0\.49/);
  });
  test("with neither document nor fill_token", async () => {
    assert.match(await refused({}, null), /^document or fill_token is required/);
  });
  test("with a document that is not a PDF", async () => {
    assert.match(await refused({}, Buffer.from("GIF89a")), /^document must be a PDF/);
  });
  test("with a fill_token in capitals, too short or unknown", async () => {
    assert.match(await refused({ fill_token: "A".repeat(40) }, null), /^fill_token must be 40 lowercase hex/);
    assert.match(await refused({ fill_token: "a".repeat(39) }, null), /^fill_token must be 40 lowercase hex/);
    assert.match(await refused({ fill_token: "a".repeat(40) }, null), /^fill_token is unknown, used or expired/);
  });
});

describe("an order of $0.00", () => {
  async function freeOrder(payBy: string) {
    const firm = await newPartner(service, { tier: "ProOffice" });
    const post = async (path: string, body: unknown) => {
      const isForm = body instanceof FormData;
      const answer = await fetch(`${service.baseUrl}/api/partner/${path}`, {
        method: "POST",
        headers: { ...firm.headers, ...(!isForm && { "Content-Type": "application/json" }) },
        body: isForm ? body : JSON.stringify(body),
      });
      assert.ok(answer.ok, `${answer.status} ${path}`);
      return (await answer.json()) as { orderCode: string; status: string };
    };
    const { orderCode } = await post("orders", orderForm({ ...minimal, doc_slug: "free", pay_by: payBy }));
    return { firm, post, orderCode };
  }

  test("waits for a delayed payment, which settles after days like any other", async () => {
    const { firm, post, orderCode } = await freeOrder("client");
    const path = `sandbox/orders/${orderCode}/checkout`;
    assert.equal((await post(path, { outcome: "delayed" })).status, "AwaitingPayment");
    await post("sandbox/clock", { advanceSeconds: 4 * 86_400 + 60 });
    const url = `${service.baseUrl}/api/partner/orders/${orderCode}`;
    await until(
      async () => ((await (await fetch(url, { headers: firm.headers })).json()) as Order).status === "EsignPending",
    );
  });

  test("is not offered to be charged to its firm's card, and its page names the way on", async () => {
    const { firm, post, orderCode } = await freeOrder("firm");
    await post("sandbox/billing/method", { method: "card" });
    const { headers } = await newMember(service, "owner@free.example", firm.key);
    const look = async (path: string) => (await fetch(service.baseUrl + path, { headers })).text();
    const page = await look(`/dashboard/orders/${orderCode}`);
    assert.match(page, /It costs \$0\.00, and nothing is charged: to complete it, pay it in the sandbox below\./);
    assert.doesNotMatch(page, /Charge \$0\.00/);
    const billing = await look("/dashboard/billing");
    assert.match(billing, /Visa/);
    for (const text of [billing, await look("/dashboard")]) assert.doesNotMatch(text, /waits? to be charged/);
  });
});

describe("a fill token", () => {
  test("of a catalog's document orders that document", async () => {
    const file = join(folder.path, "slug.pdf");
    writeFileSync(file, examplePdf);
    const { fillToken } = await service.cli("fill", "add", file, "--slug", "quitclaim-deed");
    const order = await place({ fill_token: fillToken }, null);
    assert.equal((await fetchOrder(order.orderCode)).services, "Sign, Notarize");
    await assert.rejects(
      service.cli("fill", "add", file, "--slug", "nope"),
      /ended with 2: .*--slug must name a document/,
    );
  });

  test("gives its document to only one order", async () => {
    const file = join(folder.path, "filled.pdf");
    writeFileSync(file, examplePdf);
    const { fillToken, expiresAt } = await service.cli("fill", "add", file);
    assert.match(fillToken ?? "", /^[0-9a-f]{40}$/);
    assert.ok(Date.parse(expiresAt ?? "") > Date.now());
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => post({ ...minimal, fill_token: fillToken }, null)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 400, 400, 400, 400]);
    assert.match(await refused({ fill_token: fillToken }, null), /^fill_token is unknown, used or expired/);
  });
});

describe("text parts", () => {
  test("arrive unchanged, even when they are labelled as JSON", async () => {
    const form = orderForm(minimal);
    form.append("external_reference", new Blob(['{"a": 1}'], { type: "application/json" }));
    // FormData gives each Blob a file name, so the part without a file name is written as text.
    const whole = Buffer.from(await new Response(form).arrayBuffer()).toString("latin1");
    const type = `multipart/form-data; boundary=${/--(\S+)/.exec(whole)?.[1]}`;
    const body = Buffer.from(
      whole.replace('name="external_reference"; filename="blob"', 'name="external_reference"'),
      "latin1",
    );
    const url = `${service.baseUrl}/api/partner/orders`;
    const response = await fetch(url, { method: "POST", headers: { ...partner.headers, "Content-Type": type }, body });
    assert.equal(((await response.json()) as Order).externalReference, '{"a": 1}');
  });

  test("keep their white space in answers, and are found by it", async () => {
    const order = await place({ external_reference: "  R 7 " });
    assert.equal(order.externalReference, "  R 7 ");
    const url = `${service.baseUrl}/api/partner/orders?external_reference=${encodeURIComponent("  R 7 ")}`;
    const list = (await (await fetch(url, { headers: partner.headers })).json()) as { orders: Order[] };
    assert.equal(list.orders[0]?.orderCode, order.orderCode);
  });

  for (const [name, { member, maxLength }] of Object.entries(senderTexts))
    test(`${name} comes back as sent, and is refused when it is one character too long`, async () => {
      const text = "é".repeat(maxLength);
      const order = await place({ [name]: text });
      assert.equal(order[member], text);
      assert.equal((await fetchOrder(order.orderCode))[member], text);
      assert.equal((await fetchOrder((await place({})).orderCode))[member], null);
      assert.equal(await refused({ [name]: `${text}x` }), `${name} must have at most ${maxLength} characters.`);
    });
});

describe("credentials", () => {
  const attempt = async (authorization?: string) => {
    const response = await fetch(
      `${service.baseUrl}/api/partner/orders`,
      authorization ? { headers: { Authorization: authorization } } : {},
    );
    return {
      status: response.status,
      challenge: response.headers.get("www-authenticate"),
      body: await response.text(),
    };
  };

  test("with any fault get the same answer", async () => {
    const revoked = await newPartner(service);
    await service.cli("key", "revoke", revoked.keyId);
    const answers = await Promise.all([
      attempt(),
      attempt("Bearer"),
      attempt("Basic dXNlcjpwYXNz"),
      attempt("Bearer svc_pk_nonsense"),
      attempt(`Bearer svc_pk_test_${"a".repeat(52)}`),
      attempt(`Bearer ${revoked.key}`),
    ]);
    for (const answer of answers)
      assert.deepEqual(answer, {
        status: 401,
        challenge: "Bearer",
        body: '{"error":"A valid partner API key is required."}',
      });
  });

  test("of another partner or of the other environment reveal nothing about an order", async () => {
    const order = await place({});
    const foreign = await newPartner(service);
    const unknown = await fetch(`${service.baseUrl}/api/partner/orders/${"0".repeat(40)}`, {
      headers: partner.headers,
    });
    const { key: liveKey } = await service.cli("key", "issue", partner.partnerId);
    for (const headers of [foreign.headers, { Authorization: `Bearer ${liveKey}` }]) {
      const response = await fetch(`${service.baseUrl}/api/partner/orders/${order.orderCode}`, { headers });
      assert.equal(response.status, 404);
      assert.equal(await response.text(), await unknown.clone().text());
      const list = (await (await fetch(`${service.baseUrl}/api/partner/orders`, { headers })).json()) as {
        orders: unknown[];
      };
      assert.deepEqual(list.orders, []);
    }
  });

  test("of a live key stop working when live access is withdrawn", async () => {
    const firm = await newPartner(service, { live: true });
    const get = () => fetch(`${service.baseUrl}/api/partner/orders`, { headers: firm.headers });
    assert.equal((await get()).status, 200);
    await service.cli("partner", "set", firm.partnerId, "--live", "off");
    assert.equal((await get()).status, 401);
  });
});
