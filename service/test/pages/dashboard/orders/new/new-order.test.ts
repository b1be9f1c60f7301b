import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf, minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { until } from "@signsealship/testing/until";
import { newUuid } from "../../../../../src/kernel/platform/ids.ts";
import { senderTextNames, senderTexts } from "../../../../../src/orders/order/order.ts";
import { senderTextWords } from "../../../../../src/pages/dashboard/orders/words.ts";
import { openMembersService } from "../../../../firms/members/members-service.ts";
import { newMember, postForm } from "../../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());

const path = "/dashboard/orders/new";

async function member(of?: { key: string }) {
  const { key } = of ?? (await running.newPartner());
  const { headers } = await newMember(running.service, running.somebody(), key);
  const send = async (form: FormData) => {
    const answer = await fetch(running.service.baseUrl + path, {
      method: "POST",
      redirect: "manual",
      headers,
      body: form,
    });
    return { status: answer.status, text: await answer.text(), location: answer.headers.get("location") ?? "" };
  };
  const page = async (at: string) => (await running.call(at, { headers })).body as string;
  const quote = async (fields: Record<string, string>) =>
    (await postForm(`${running.service.baseUrl}${path}/quote`, fields, headers)).text();
  return { send, page, quote, headers, key };
}

test("refuses a ZIP code of another state, for an address that is used", async () => {
  const { send } = await member();
  const astray = { ...minimal, ...shipping, ship_state: "CA", ship_postal: "78701-1234" };
  const refused = await send(orderForm({ ...astray, email: "x" }));
  assert.equal(refused.status, 400);
  for (const words of ["“Client’s email” must be", "“Recipient’s ZIP code” must belong to “Recipient’s state”"])
    assert.ok(refused.text.includes(words), words);
  assert.match((await send(orderForm(astray))).text, /78701-1234 is in Texas\./);
  assert.equal((await send(orderForm({ ...astray, svc_ship: "" }))).status, 303);
  for (const state of ["TX", "OK"]) assert.equal((await send(orderForm({ ...astray, ship_state: state }))).status, 303);
});

const tokenIn = (text: string) => /name="fill_token" value="([0-9a-f]{40})"/.exec(text)?.[1] ?? "";

function named(form: FormData, name: string): FormData {
  form.set("document", form.get("document") as File, name);
  return form;
}

test("a refused form keeps its file and reports all faults; sent again without the file, the order has it and its name", async () => {
  const { send, page } = await member();
  const wrong = named(
    orderForm({ email: "x", svc_ship: "true", external_reference: "x".repeat(121) }),
    "Deed of trust.pdf",
  );
  const refused = await send(wrong);
  assert.equal(refused.status, 400);
  for (const words of [
    "“Client’s email” must be",
    "Confirm that this",
    "“Recipient’s name” is required",
    "“File number” must have",
  ])
    assert.ok(refused.text.includes(words), words);
  assert.match(refused.text, /We kept <strong class="breakable">Deed of trust<\/strong> \(1 page\)/);
  const token = tokenIn(refused.text);
  const again = orderForm({ ...minimal, fill_token: token, document_name: "Deed of trust" }, null);
  again.append("document", new Blob([], { type: "application/octet-stream" }), "");
  const placed = await send(again);
  assert.equal(placed.status, 303, placed.text);
  assert.match(await page(placed.location), /<h1>Deed of trust<\/h1>/);
  const twice = await send(orderForm({ ...minimal, email: "other@example.com", fill_token: token }, null));
  assert.equal(twice.status, 400);
  assert.match(twice.text, /The file that we kept has expired\. Choose it again\./);
  assert.equal(tokenIn(twice.text), "");
});

test("asks for each of the sender's own texts, and shows it on the order's page", async () => {
  const { send, page } = await member();
  const form = await page(path);
  const typed = Object.fromEntries(senderTextNames.map((name) => [name, `The ${name} that was typed`]));
  const placed = await send(orderForm({ ...minimal, ...typed }));
  assert.equal(placed.status, 303, placed.text);
  const shown = await page(placed.location);
  for (const name of senderTextNames) {
    assert.match(form, new RegExp(`name="${name}"[^>]* maxlength="${senderTexts[name].maxLength}"`));
    assert.match(shown, new RegExp(`<dt>${senderTextWords[name].label}</dt>\\s*<dd[^>]*>${typed[name]}</dd>`));
  }
});

test("shows the sender the notices that signers will see, with their words, and nothing when there are none", async () => {
  const { send, page } = await member();
  const unseen = makePdf({ content: "BT 3 Tr /F1 12 Tf 72 300 Td (I owe <b>1000000</b>.) Tj ET" });
  const placed = await send(orderForm({ ...minimal, svc_sign: "on" }, unseen));
  assert.equal(placed.status, 303, placed.text);
  const shown = await page(placed.location);
  assert.match(shown, /What signers are told of the document/);
  assert.match(shown, /\(page 1\): &quot;I owe &lt;b&gt;1000000&lt;\/b&gt;\.&quot;\./);
  const plain = await send(orderForm({ ...minimal, svc_sign: "on" }));
  assert.doesNotMatch(await page(plain.location), /What signers are told/);
});

test("says for each signer where they sign: on the pages, or on a page that was added for signatures", async () => {
  const { send, page, headers } = await member();
  const signature = (signer: number) => ({ kind: "signature", signer, page: 1, x: 72, y: 500 + 60 * signer });
  const fields = JSON.stringify([1, 2].map((n) => ({ ...signature(n), width: 180, height: 36 })));
  const signers = { signer1_name: "Ann Roe", signer1_email: "ann@example.com" };
  const two = { ...signers, signer2_name: "Bob Roe", signer2_email: "bob@example.com", svc_sign: "on" };
  const factsOf = (shown: string) =>
    [...shown.matchAll(/<dt>Fields<\/dt><dd[^>]*>(.*?)<\/dd>/gs)].map(([, words = ""]) => words);
  const placed = await send(orderForm({ ...minimal, ...two, fields }));
  assert.equal(placed.status, 303, placed.text);
  const order = placed.location.split("?")[0] ?? "";
  assert.deepEqual(factsOf(await page(order)), ["1 signature on page 1", "1 signature on page 1"]);
  const tagged = makePdf({ content: "BT /F1 12 Tf 72 600 Td ({{signature, r1}}) Tj ET" });
  const other = (await send(orderForm({ ...minimal, ...two }, tagged))).location.split("?")[0] ?? "";
  const unread = "In the document’s own fields or tags for signatures. Without them, on an added page";
  assert.deepEqual(factsOf(await page(other)), [unread, unread]);
  for (const at of [order, other]) {
    const form = { outcome: "success", submission: newUuid() };
    const { status } = await postForm(`${running.service.baseUrl}${at}/sandbox/checkout`, form, headers);
    assert.equal(status, 303);
    await until(async () => (await page(at)).includes("Asked"));
  }
  assert.deepEqual(factsOf(await page(order)), ["1 signature on page 1", "1 signature on page 1"]);
  const added = "Signs on page 2, which was added for signatures";
  assert.deepEqual(factsOf(await page(other)), ["1 signature on page 1", added]);
});

test("a newly chosen file replaces the stored one", async () => {
  const { send, page } = await member();
  const token = tokenIn((await send(orderForm({ email: "x" }))).text);
  const placed = await send(named(orderForm({ ...minimal, fill_token: token }), "The right one.pdf"));
  assert.equal(placed.status, 303, placed.text);
  assert.match(await page(placed.location), /<h1>The right one<\/h1>/);
});

test("refused forms keep at most five files of a member; for the sixth the form asks to choose it again", async () => {
  const { send, key } = await member();
  const kept: boolean[] = [];
  let last = "";
  for (let i = 0; i < 6; i++) {
    const { status, text } = await send(orderForm({ email: `x${i}` }));
    assert.equal(status, 400);
    kept.push(tokenIn(text) !== "");
    last = text;
  }
  assert.deepEqual(kept, [true, true, true, true, true, false]);
  assert.match(last, /Choose it again/);
  assert.match(last, /“Client’s email” must be an email address/);
  const others = { "another firm": await member(), "a colleague": await member({ key }) };
  for (const [who, other] of Object.entries(others))
    assert.notEqual(tokenIn((await other.send(orderForm({ email: "x" }))).text), "", `${who} has their own`);
});

test("a file that is not a PDF is not stored", async () => {
  const { send } = await member();
  const refused = await send(orderForm(minimal, Buffer.from("hello")));
  assert.equal(refused.status, 400);
  assert.equal(tokenIn(refused.text), "");
  assert.match(refused.text, /“File” must be a PDF/);
});

test("the price follows the form while it is filled out, as far as it is known", async () => {
  const { quote } = await member();
  assert.match(await quote({ svc_sign: "on" }), /Document workflow[\s\S]*\$12\.00/);
  assert.match(await quote({ svc_sign: "on", svc_notary: "on" }), /notariz/i);
  assert.match(await quote({ svc_ship: "on" }), /Postage is for New York until/);
  assert.doesNotMatch(await quote({ ...shipping, svc_ship: "on" }), /New York until/);
  assert.match(
    await quote({ ...shipping, pages: "" }),
    /Postage is for one page until the document’s pages are counted\./,
  );
  assert.doesNotMatch(await quote({ ...shipping, pages: "1" }), /for one page/);
  const [few, many] = [await quote({ ...shipping, pages: "1" }), await quote({ ...shipping, pages: "400" })];
  assert.notEqual(few, many, "more pages weigh more");
  for (const pages of ["-1", "x", "1e9", "", "0"]) assert.match(await quote({ ...shipping, pages }), /\$/);
});

test("the form says what follows when the order is placed, and names the charge of a method on file", async () => {
  const { key } = await running.newPartner();
  const { headers } = await newMember(running.service, running.somebody(), key);
  const quote = async (fields: Record<string, string>) =>
    (
      await postForm(`${running.service.baseUrl}${path}/quote`, { svc_sign: "on", pages: "3", ...fields }, headers)
    ).text();
  const byClient = await quote({});
  assert.match(byClient, /Once the client has paid, the document goes out for signature: each signer gets the link/);
  assert.match(byClient, />Total</);
  assert.match(await quote({ pages: "" }), />Total so far</, "the document is missing");
  assert.match(await quote({ svc_sign: "", svc_notary: "", fax_to: "2125550100" }), /the work on the document begins/);
  const unpaid = await quote({ pay_by: "firm" });
  assert.match(unpaid, /Nobody is charged yet\. Once you have paid on the order’s page, the document goes out/);
  for (const page of [byClient, unpaid]) assert.doesNotMatch(page, /data-place/);
  const card = await running.call("/api/partner/sandbox/billing/method", {
    method: "POST",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ method: "card" }),
  });
  assert.ok(card.status < 300, JSON.stringify(card.body));
  const paid = await quote({ pay_by: "firm" });
  assert.match(paid, /data-place="Place and charge \$12\.00 to Visa •••• \d{4}"/);
  assert.match(paid, /is charged \$12\.00 at once, within the limits that owners set\./);
  assert.doesNotMatch(await quote({}), /data-place/, "the client pays");
});

test("only a member can ask for a price", async () => {
  const answer = await postForm(`${running.service.baseUrl}${path}/quote`, { svc_sign: "on" });
  assert.notEqual(answer.status, 200);
  assert.ok(examplePdf.length > 0);
});

test("tells what a document will cost before it is uploaded, and which fields of the question are wrong", async () => {
  const { page } = await member();
  assert.match(await page(path), /href="\/dashboard\/prices#estimate"/);
  const ask = (fields: Record<string, string>) => page(`/dashboard/prices?${new URLSearchParams(fields)}`);
  const told = await ask({ pages: "3", notary: "on", ship: "on", method: "label", postal: "78701", state: "TX" });
  for (const words of ["Estimate, in US dollars", "Online notarization", "postage, zone", "Total"])
    assert.ok(told.includes(words), words);
  assert.doesNotMatch(told, /Total so far/);
  const wrong = await ask({ pages: "0", ship: "on", postal: "7870", state: "XX", type: "poem", method: "pigeon" });
  for (const words of [
    "Pages must be a whole number from 1 to 10000",
    "Document type must be a document of the catalog",
    "Delivery method must be label or print_mail",
    "Recipient’s ZIP code must be a US ZIP code: 5 digits, or ZIP+4",
    "Recipient’s state must be a US state of exactly 2 characters",
  ])
    assert.ok(wrong.includes(words), words);
  assert.doesNotMatch(wrong, /Estimate, in US dollars/);
});

test("the API's estimate takes the fields of an order by the order's own rules, and gives its warnings", async () => {
  const { headers } = await running.newPartner();
  const live = await running.newPartner({ live: true });
  const ask = async (query: Record<string, string>, asker = headers) => {
    const url = `${running.service.baseUrl}/api/partner/prices/estimate?${new URLSearchParams({ pages: "3", ...query })}`;
    const answer = await fetch(url, { headers: asker });
    assert.equal(answer.status, 200, await answer.clone().text());
    return (await answer.json()) as { totalCents: number; warnings?: string[]; lines: unknown };
  };
  const [faxed, byFlag] = [await ask({ fax_to: "2125550123" }), await ask({ svc_fax: "true" })];
  assert.deepEqual(faxed.lines, byFlag.lines);
  assert.deepEqual((await ask({ fax_to: "2125550123", svc_fax: "true" })).lines, byFlag.lines, "the fax costs once");
  assert.deepEqual([faxed.warnings, byFlag.warnings], [undefined, undefined]);
  const to = { svc_ship: "true", ship_state: "TX", ship_postal: "78701" };
  const asOrdersTakeIt = await ask({ ...to, ship_state: " tx", ship_postal: "78701-1234" });
  assert.deepEqual(asOrdersTakeIt.lines, (await ask(to)).lines);
  const [unknown, none, ...rest] = (await ask({ svc_shp: "true" })).warnings ?? [];
  assert.equal(unknown, 'svc_shp is not a field of this request and was ignored: did you mean "svc_ship"?');
  assert.match(none ?? "", /^No service was chosen .* the workflow fee alone\.$/);
  assert.deepEqual(rest, []);
  assert.equal((await ask({ doc_slug: "affidavit" })).warnings, undefined, "the catalog says that it is signed");
  assert.equal((await ask({ doc_slug: "recorded-copy" })).warnings?.length, 1, "as an order of it says");
  assert.equal((await ask({ svc_shp: "true" }, live.headers)).warnings, undefined, "with a live key");
});

test("the API's estimate is that of the page, for each question, and names the field of a wrong one", async () => {
  const { page } = await member();
  const { key } = await running.newPartner();
  const headers = { Authorization: `Bearer ${key}` };
  const ask = async (query: Record<string, string>) => {
    const url = `${running.service.baseUrl}/api/partner/prices/estimate?${new URLSearchParams(query)}`;
    const answer = await fetch(url, { headers });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const shipping = { ship_postal: "78701", ship_state: "TX" };
  for (const [query, fields] of [
    [{ pages: "3" }, { pages: "3" }],
    [
      { pages: "3", svc_notary: "true", svc_fax: "on" },
      { pages: "3", notary: "on", fax: "on" },
    ],
    [
      { pages: "400", svc_ship: "true", ...shipping },
      { pages: "400", ship: "on", postal: "78701", state: "TX", method: "label" },
    ],
    [
      { pages: "2", svc_ship: "true", ship_method: "print_mail", ...shipping },
      { pages: "2", ship: "on", postal: "78701", state: "TX", method: "print_mail" },
    ],
  ] as [Record<string, string>, Record<string, string>][]) {
    const { status, body } = await ask({ svc_sign: "true", ...query });
    assert.equal(status, 200);
    assert.equal(body["isComplete"], true);
    const lines = body["lines"] as { amountCents: number }[];
    assert.equal(
      lines.reduce((sum, { amountCents }) => sum + amountCents, 0),
      body["subtotalCents"],
    );
    const shown = await page(`/dashboard/prices?${new URLSearchParams(fields)}`);
    assert.ok(shown.includes(`$${(Number(body["totalCents"]) / 100).toFixed(2)}`), JSON.stringify(query));
  }
  const zip = "ship_postal must be a US ZIP code: 5 digits, or ZIP+4.";
  for (const [query, message] of [
    [{ pages: "0" }, "pages must be a whole number from 1 to 10000."],
    [{ pages: "3", doc_slug: "poem" }, "doc_slug must be a document of the catalog."],
    [{ pages: "3", svc_notary: "yes" }, "svc_notary must be true or on to include it, or be left out."],
    [{ pages: "3", ship_method: "pigeon" }, "ship_method must be label or print_mail."],
    [{ pages: "3", svc_ship: "true", ship_state: "TX" }, zip],
    [
      { pages: "3", svc_ship: "true", ship_postal: "78701", ship_state: "XX" },
      "ship_state must be a US state of exactly 2 characters.",
    ],
    [{ pages: "3", svc_ship: "true", ship_postal: "78701-12", ship_state: "TX" }, zip],
    [{ pages: "3", fax_to: "12" }, "fax_to must be a 10-digit US number or an international number in +country form."],
  ] as [Record<string, string>, string][]) {
    const { status, body } = await ask(query);
    assert.deepEqual(
      [status, (body["error"] as { message?: string })?.message ?? body["message"] ?? body["error"]],
      [400, message],
    );
  }
  assert.equal((await ask({})).status, 400);
  const anonymous = await fetch(`${running.service.baseUrl}/api/partner/prices/estimate?pages=1`);
  assert.equal(anonymous.status, 401);
});
