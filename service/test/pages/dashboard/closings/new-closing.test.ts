import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { examplePdf, minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { zooBytes } from "@signsealship/testing/inputs/zoo";
import { until } from "@signsealship/testing/until";
import { sql } from "../../../../src/kernel/platform/database/sql.ts";
import { openMembersService } from "../../../firms/members/members-service.ts";
import { mailsTo, newMember, postForm } from "../../../firms/members/signed-in-member.ts";

const running = await forTests(openMembersService());
const { service } = running;
const path = "/dashboard/closings/new";

async function agent() {
  const { partnerId, key, headers: api } = await running.newPartner();
  const { headers } = await newMember(service, running.somebody(), key);
  const upload = (to: string, name: string, bytes: Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}) => {
    const body = new FormData();
    for (const [field, value] of Object.entries(fields)) body.set(field, value);
    body.set("document", new File([bytes], name, { type: "application/pdf" }));
    return fetch(service.baseUrl + path + to, {
      method: "POST",
      headers: { ...headers, Accept: to === "/file" ? "application/json" : "text/html" },
      body,
    });
  };
  return {
    key,
    partnerId,
    api,
    headers,
    upload,
    async file(name: string) {
      const answer = await upload("/file", name, pdf);
      const body = (await answer.json()) as { file: string };
      assert.equal(answer.status, 200, JSON.stringify(body));
      return body.file;
    },
    async post(to: string, fields: Record<string, string>) {
      const answer = await postForm(service.baseUrl + path + to, fields, { ...headers, Accept: "text/html" });
      return { status: answer.status, text: await answer.text(), location: answer.headers.get("location") ?? "" };
    },
    page: async (at: string) => (await running.call(at, { headers })).body as string,
    orders: async () =>
      ((await running.call("/api/partner/orders", { headers: api })).body as { orders: { status: string }[] }).orders,
  };
}

const pdf = new Uint8Array(examplePdf);
const hidden = (text: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";

test("places several documents for people who are named once, in one room, and the same form again is the same closing", async () => {
  const dana = await agent();
  const files = [await dana.file("warranty_deed.pdf"), await dana.file("Note.pdf"), await dana.file("Letter.pdf")];
  const shown = await dana.post("/rows", {
    closing_name: "Ortega, 12 Elm Street",
    ...Object.fromEntries(files.map((file, index) => [`add${index + 1}`, file])),
  });
  assert.equal(shown.status, 200);
  assert.equal(hidden(shown.text, "doc3"), files[2]);
  assert.match(shown.text, /name="doc1_name"[^>]* value="Warranty deed"/);
  const form = {
    submission: hidden(shown.text, "submission"),
    environment: "test",
    closing_name: "Ortega, 12 Elm Street",
    file_number: "2026-1187",
    doc1: files[0] ?? "",
    doc1_name: "Warranty deed",
    doc1_sign: "on",
    doc1_ship: "on",
    doc2: files[1] ?? "",
    doc2_name: "Note",
    doc2_sign: "on",
    people_rows: "2",
    doc1_signs_client: "on",
    doc1_signs_1: "on",
    doc2_signs_client: "on",
    doc1_gets_2: "on",
    doc3_gets_1: "on",
    doc3_gets_2: "on",
    doc3: files[2] ?? "",
    doc3_name: "Payoff letter",
    doc3_fax: "on",
    email: "marcus@example.com",
    name: "Marcus Ortega",
    client_signs: "on",
    person1_name: "Ana Ortega",
    person1_email: "ana@example.com",
    person1_role: "signs",
    person2_name: "Lee Lender",
    person2_email: "lee@lender.example",
    person2_role: "follows",
    ...shipping,
    fax_to: "2125550123",
    byod_confirmed: "on",
  };
  const quoted = await dana.post("/quote", form);
  assert.match(quoted.text, /1\. Warranty deed.*2\. Note.*3\. Payoff letter.*>Total</s);
  assert.doesNotMatch(quoted.text, /Postage/);
  assert.match(shown.text, /Nothing goes out for signature, and no work begins, before the price is paid\./);
  assert.match(
    quoted.text,
    /After you place it:<\/strong> Once the client has paid, the documents go out for signature/,
  );
  const guessed = await dana.post("/quote", { ...form, ship_postal: "" });
  assert.match(guessed.text, /Postage is for New York until the address is complete\./);
  const placed = await dana.post("", form);
  assert.equal(placed.status, 303, placed.text);
  const again = await dana.post("", form);
  assert.equal(again.location.split("?")[0], placed.location.split("?")[0]);
  assert.equal((await dana.orders()).length, 3);

  const roomCode = /rooms\/([0-9a-f]{40})/.exec(placed.location)?.[1] ?? "";
  const { body: room } = await running.call(`/api/rooms/${roomCode}`);
  assert.equal(room.name, "Ortega, 12 Elm Street");
  assert.deepEqual(
    room.orders.map(({ label, signers }: { label: string; signers: { name: string }[] }) => [
      label,
      signers?.map(({ name }) => name) ?? [],
    ]),
    [
      ["Warranty deed", ["Marcus Ortega", "Ana Ortega"]],
      ["Note", ["Marcus Ortega"]],
      ["Payoff letter", []],
    ],
  );
  const { body: people } = await running.call(`/api/rooms/${roomCode}/participants`, { headers: dana.api });
  assert.deepEqual(
    people.participants.map(({ email, role }: { email: string; role: string }) => [email, role]),
    [
      ["marcus@example.com", "client"],
      ["ana@example.com", "signer"],
      ["lee@lender.example", "recipient"],
    ],
  );
  const page = await (
    await fetch(`${running.service.baseUrl}/dashboard/rooms/${roomCode}`, { headers: dana.headers })
  ).text();
  assert.match(
    page,
    /Will be sent[\s\S]*Ana Ortega, ana@example\.com<\/strong>: 1 document,[\s\S]*lee@lender\.example<\/strong>: 2 documents/,
  );
});

test("suggests a notary for documents by their names, and never ticks a service that costs more", async () => {
  const dana = await agent();
  const files = [await dana.file("Warranty_deed.pdf"), await dana.file("Note.pdf")];
  const { text } = await dana.post("/rows", { add1: files[0] ?? "", add2: files[1] ?? "" });
  const [deed = "", note = ""] = text.split('id="document-row-').slice(1);
  assert.match(deed, /Often notarized\./);
  assert.doesNotMatch(note, /Often notarized\./);
  assert.deepEqual(text.match(/name="doc\d_(?:notary|ship|fax)"[^>]* checked/g), null);
  assert.match(text, /<details id="closing-state">/, "collapsed while nothing is notarized");
  const more = { doc1: files[0] ?? "", doc1_name: "Deed", doc1_notary: "on", doc1_gets_1: "on", people_rows: "1" };
  const open = (await dana.post("/rows", more)).text;
  for (const part of ["closing-state", "closing-receivers"]) assert.match(open, new RegExp(`id="${part}" open`));
});

test("an owner is asked for the firm's time zone until it is chosen, and the forms name the zone of dates", async () => {
  const dana = await agent();
  const other = (await newMember(service, running.somebody(), dana.key)).headers;
  const pageOf = async (headers: Record<string, string>, at: string) => (await running.call(at, { headers })).body;
  const save = (zone: string, headers = dana.headers) =>
    postForm(`${service.baseUrl}/dashboard/time-zone`, { zone }, { ...headers, Accept: "text/html" });
  assert.match(await dana.page("/dashboard"), /Your firm’s time zone/);
  assert.doesNotMatch(await pageOf(other, "/dashboard"), /Your firm’s time zone/);
  for (const form of [path, "/dashboard/orders/new"]) {
    assert.match(
      await dana.page(form),
      /those of America\/New_York, because your firm has not chosen a time zone\. <a href/,
    );
    assert.match(await pageOf(other, form), /An owner of your firm chooses it/);
  }
  for (const zone of ["", "Mars/Olympus"]) {
    const refused = await save(zone);
    assert.equal(refused.status, 400);
    // Live mode shows the card for the time zone, too, but not the card for the test clock.
    assert.match(
      /<section[^>]* id="time-zone"[\s\S]*?<\/section>/.exec(await refused.text())?.[0] ?? "",
      /role="alert"/,
    );
  }
  assert.notEqual((await save("America/Denver", other)).status, 303);
  assert.equal((await save("America/Chicago")).status, 303);
  assert.doesNotMatch(await dana.page("/dashboard"), /Your firm’s time zone/);
  assert.match(await pageOf(other, path), /the times in mails, are those of America\/Chicago\.</);
});

test("the start page says that clients can’t reach a firm without a contact email, until an owner sets one", async () => {
  const dana = await agent();
  const other = (await newMember(service, running.somebody(), dana.key)).headers;
  const unreachable = /Your firm has no contact email/;
  const start = await dana.page("/dashboard");
  assert.match(start, unreachable);
  assert.match(start, /href="\/dashboard\/settings#branding">Set the contact email/);
  assert.match((await running.call("/dashboard", { headers: other })).body, /An owner of your firm sets it/);
  const fields = { brandName: "", accentColor: "", logoUrl: "", contactEmail: "closings@acme.example" };
  const saved = await postForm(`${service.baseUrl}/dashboard/settings/branding`, fields, dana.headers);
  assert.equal(saved.status, 303);
  assert.doesNotMatch(await dana.page("/dashboard"), unreachable);
});

test("a closing passport lists the documents of a closing in the order of the form", async () => {
  const dana = await agent();
  const names = ["Warranty deed", "Disclosure", "Affidavit", "Note", "Disbursement sheet", "Letter"];
  const documents = await Promise.all(
    names.map(async (name, index) => ({
      [`doc${index + 1}`]: await dana.file(`${name}.pdf`),
      [`doc${index + 1}_name`]: name,
      [`doc${index + 1}_fax`]: "on",
    })),
  );
  const placed = await dana.post("", {
    ...Object.assign({}, ...documents),
    submission: crypto.randomUUID(),
    environment: "test",
    closing_name: "Reyes closing",
    fax_to: "2125550123",
    email: "reyes@example.com",
    name: "Ana Reyes",
    byod_confirmed: "on",
  });
  const roomCode = /rooms\/([0-9a-f]{40})/.exec(placed.location)?.[1] ?? assert.fail(placed.text);
  const { body: sealed } = await running.call(`/api/rooms/${roomCode}/passport`, {
    method: "POST",
    headers: dana.api,
  });
  const { body: verified } = await running.call(`/api/verify/room/${sealed.verifyCode}`);
  assert.deepEqual(
    verified.manifest.documents.map(({ label }: { label: string }) => label),
    names,
  );
});

test("says what follows when a closing that the firm pays is placed, by its card and the member's limits", async () => {
  const { post, file, api, partnerId } = await agent();
  const doc1 = await file("Deed.pdf");
  const quote = async () => (await post("/quote", { doc1, doc1_name: "Deed", doc1_sign: "on", pay_by: "firm" })).text;
  assert.match(await quote(), /Nobody is charged yet\. Once you have paid on the room’s page, the documents go out/);
  const card = await running.call("/api/partner/sandbox/billing/method", {
    method: "POST",
    headers: { ...api, "Content-Type": "application/json" },
    body: JSON.stringify({ method: "card" }),
  });
  assert.ok(card.status < 300, JSON.stringify(card.body));
  assert.match(await quote(), /Visa •••• \d{4} is charged \$12\.00 at once, within the limits that owners set\./);
  type Listed = { members: { userId: string }[] };
  const userIds = async () =>
    (await service.cli<Listed>("member", "list", partnerId)).members.map(({ userId }) => userId);
  const [first = ""] = await userIds();
  const owner = await newMember(service, running.somebody(), api.Authorization.slice("Bearer ".length));
  const second = (await userIds()).find((userId) => userId !== first) ?? "";
  await service.cli("member", "set", second, "owner");
  await service.cli("member", "set", first, "member");
  assert.match(await quote(), /Nobody is charged: an owner has not allowed you to spend for your firm\./);
  const limit = { spender: `member:${first}`, perOrder: "10", perMonth: "100" };
  assert.equal((await postForm(`${service.baseUrl}/dashboard/billing/limits`, limit, owner.headers)).status, 303);
  assert.match(
    await quote(),
    /Nobody is charged: the price of a document is above your limit for one order, \$10\.00\. An owner can/,
  );
});

test("a closing is charged only as its form showed; a person prices it first only if the member ticks that", async () => {
  const dana = await agent();
  const card = await running.call("/api/partner/sandbox/billing/method", {
    method: "POST",
    headers: { ...dana.api, "Content-Type": "application/json" },
    body: JSON.stringify({ method: "card" }),
  });
  assert.ok(card.status < 300, JSON.stringify(card.body));
  const two = { doc2: await dana.file("Note.pdf"), doc2_name: "Note", doc2_sign: "on", doc2_signs_client: "on" };
  const form = await oneSigned(dana, { ...two, doc1_signs_client: "on", pay_by: "firm" });
  const shownIn = (text: string) => ({
    total_cents: hidden(text, "total_cents"),
    charged_method: hidden(text, "charged_method"),
  });
  const page = (await dana.post("/rows", form)).text;
  assert.match(page, /id="place-closing"[^>]*>Place and charge \$24\.00 to Visa •••• \d{4}</);
  const shown = shownIn(page);
  assert.equal(shown.total_cents, "2400");
  const refusedBy = async (fields: Record<string, string>, why: RegExp) => {
    const { status, text } = await dana.post("", { ...form, ...fields });
    assert.equal(status, 400);
    assert.match(text, why);
    return text;
  };
  await refusedBy(
    { ...shown, total_cents: "2300" },
    /The price is \$24\.00 now, not \$23\.00\. Nothing was placed, and nobody was charged\./,
  );
  const byClient = shownIn((await dana.post("/rows", { ...form, pay_by: "client" })).text);
  assert.deepEqual(byClient, { total_cents: "2400", charged_method: "none" });
  await refusedBy(byClient, /Visa •••• \d{4} would be charged now\./);
  const unpriced = { ...shipping, doc2_ship: "on", ship_state: "PR", ship_postal: "00901" };
  const asked = await refusedBy(
    { ...shown, ...unpriced },
    /must be ticked: a person has to set the price\. Document 2 \(Note\): There is no postage rate for the address\./,
  );
  assert.match(asked, /name="price_first"/);
  assert.match(asked, /id="place-closing"[^>]*>Place without a charge</, "the form shows now that it has no price");
  assert.deepEqual(await dana.orders(), []);

  const first = await dana.post("", { ...form, ...unpriced, ...shown, price_first: "on" });
  assert.equal(first.status, 303, first.text);
  const statuses = (await dana.orders()).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), ["ManualQuoteRequired", "QuoteReady"]);
  await until(
    async () =>
      (await running.db.query(sql`SELECT FROM jobs WHERE queue IN ('firm-charge', 'firm-wait')`)).length === 0 ||
      undefined,
  );
  const room = await dana.page(first.location);
  assert.match(room, /The closing was placed, and nobody was charged\./);
  assert.match(room, /Nobody agreed to a charge when it was placed\.[\s\S]*Charge the firm: \$12\.00 to Visa/);

  const files = { doc1: await dana.file("Deed.pdf"), doc2: await dana.file("Note.pdf") };
  const placed = await dana.post("", { ...form, ...files, ...shown });
  assert.equal(placed.status, 303, placed.text);
  const again = await dana.post("", { ...form, ...files, ...shown, total_cents: "1" });
  assert.equal(again.location, placed.location, "the same form is one closing, whichever price it showed");
  await until(async () => (await dana.orders()).some(({ status }) => status === "EsignPending") || undefined);
});

test("reports all faults of all documents at once, places nothing, and keeps typed and sent data", async () => {
  const dana = await agent();
  const files = [await dana.file("Deed.pdf"), await dana.file("Note.pdf")];
  const refused = await dana.post("", {
    closing_name: "",
    file_number: "7".repeat(201),
    doc1: files[0] ?? "",
    doc1_name: "",
    doc1_ship: "on",
    doc2: files[1] ?? "",
    doc2_name: "The note",
    doc2_sign: "on",
    people_rows: "2",
    doc2_fax: "on",
    email: "x",
    fax_to: "12",
    person1_name: "Ana Ortega",
    person1_email: "nowhere",
    submission: "",
  });
  assert.equal(refused.status, 400);
  for (const words of [
    "“Name” of the closing must have 1 to 200 characters.",
    "Person 1: “Email” must be an email address.",
    "“Client’s email” must be",
    "“Recipient’s name” is required",
    "“Fax number” must",
    "Document 1 (Deed): give it a name.",
    "Document 2 (The note): choose who signs it.",
    "Person 1 (Ana Ortega): choose what this person signs, or another role.",
    "Confirm that this",
  ])
    assert.ok(refused.text.includes(words), words);
  assert.equal(refused.text.split('#field-email">“Client’s email”').length, 2, "said once");
  assert.equal(refused.text.split("“File number” must have at most 120 characters.").length, 2, "said once");
  const asked = await dana.post("", {
    closes_on: "1999-12-31",
    doc1: files[1] ?? "",
    doc1_name: "The note",
    doc1_sign: "on",
    doc1_signs_1: "on",
    people_rows: "1",
    person1_name: "Ana Ortega",
    person1_email: "nowhere",
    person1_role: "signs",
    email: "x",
    name: "Marcus",
    client_signs: "on",
    doc1_signs_client: "on",
  });
  assert.match(asked.text, /Person 1: “Email” must be an email address\./);
  assert.match(asked.text, /<a href="#field-closes_on">“Closes on” must be a day of this century\.</);
  assert.doesNotMatch(
    asked.text,
    /signer [12]|“Email” of/i,
    "each fault is told once, with the form's name of the person",
  );
  const names = ["closing_name", "file_number", "email", "fax_to", "ship_name", "person1_name"];
  for (const name of [...names, "person1_email", "doc1_name", "doc2_name"]) {
    assert.match(refused.text, new RegExp(`<a href="#field-${name}">`), "the summary leads to the field");
    assert.match(refused.text, new RegExp(`id="field-${name}"`), name);
  }
  assert.equal(hidden(refused.text, "doc1"), files[0]);
  assert.match(refused.text, /name="doc2_name"[^>]* value="The note"/);
  assert.deepEqual(await dana.orders(), []);
  assert.match(await dana.page("/dashboard/rooms"), /No rooms yet/);
  const empty = (await dana.post("", { closing_name: "x", file_number: "7".repeat(201) })).text;
  assert.match(empty, /“File number” must have at most 120 characters\.[\s\S]*Add at least one document\./);
});

test("accepts a file with the whole form without a script; removes a document; refuses a file that is not a PDF by name", async () => {
  const dana = await agent();
  const typed = { closing_name: "Elm", doc1: await dana.file("Deed.pdf"), doc1_name: "The deed", doc1_notary: "on" };
  const added = await (await dana.upload("/add", "Note.pdf", pdf, typed)).text();
  assert.match(added, /name="closing_name"[^>]* value="Elm"/);
  assert.match(added, /name="doc1_name"[^>]* value="The deed"/);
  assert.match(added, /id="field-doc1_notary" name="doc1_notary"[^>]* checked/);
  assert.match(added, /name="doc2_name"[^>]* value="Note"/);
  const removed = await dana.post("/rows", { ...typed, doc2: hidden(added, "doc2"), doc2_name: "Note", remove: "1" });
  assert.match(removed.text, /name="doc1_name"[^>]* value="Note"/);
  assert.equal(hidden(removed.text, "doc2"), "");

  const odd = await dana.upload("/file", "picture.pdf", new TextEncoder().encode("GIF89a"));
  assert.equal(odd.status, 400);
  assert.equal(((await odd.json()) as { error: string }).error, "The file must be a PDF.");
  const refused = await dana.upload("/add", "picture.pdf", new TextEncoder().encode("GIF89a"), typed);
  assert.equal(refused.status, 400);
  assert.match(await refused.text(), /name="doc1_name"[^>]* value="The deed"/);
});

test("refuses a file that nobody can open when it is sent, with the rule, and keeps the rest of the form", async () => {
  const dana = await agent();
  const typed = { closing_name: "Elm", doc1: await dana.file("Deed.pdf"), doc1_name: "The deed", doc1_sign: "on" };
  for (const [name, rule] of [
    ["encrypted-aes-256.pdf", "it is encrypted. Found: it needs a password to be opened."],
    ["no-pages-tree.pdf", "it has no pages. Found:"],
  ] as const) {
    const alone = await dana.upload("/file", name, new Uint8Array(zooBytes(name)));
    assert.equal(alone.status, 400);
    const { error } = (await alone.json()) as { error: string };
    assert.ok(error.startsWith(`This file can’t be used: ${rule}`), error);
    const whole = await dana.upload("/add", name, new Uint8Array(zooBytes(name)), typed);
    assert.equal(whole.status, 400);
    const page = await whole.text();
    assert.ok(page.includes(`This file can’t be used: ${rule}`));
    assert.match(page, /name="doc1_name"[^>]* value="The deed"/);
    assert.equal(hidden(page, "doc2"), "");
  }
});

test("shows that a document can’t be signed, leaves it out of the price while signing is chosen, and accepts it for paper", async () => {
  const dana = await agent();
  const locked = await dana.upload("/file", "locked.pdf", new Uint8Array(zooBytes("certified-p1.pdf")));
  assert.equal(locked.status, 200);
  const { file, fault } = (await locked.json()) as { file: string; fault: string };
  assert.match(fault, /^document can't be signed: /);
  const shown = await dana.post("/rows", { closing_name: "Elm", add1: file, add1_fault: fault });
  assert.doesNotMatch(shown.text, /name="doc1_sign"[^>]* checked/);
  assert.match(shown.text, /class="hint">This document can’t be signed online\./);
  const form = await oneSigned(dana, { doc1: file, doc1_name: "Locked" });
  const asked = { ...form, doc1_fault: fault, doc1_ship: "on", ...shipping };
  assert.match((await dana.post("/rows", asked)).text, /class="field-error">This document can’t be signed online\./);
  const unpriced = await dana.post("/quote", asked);
  assert.match(unpriced.text, /Without a price, because they can’t have the chosen services: 1\. Locked\./);
  assert.doesNotMatch(unpriced.text, />Total/);
  assert.equal((await dana.post("", asked)).status, 400);
  const onPaper = { ...asked, doc1_sign: "" };
  assert.match((await dana.post("/quote", onPaper)).text, />Total</);
  assert.equal((await dana.post("", onPaper)).status, 303);
});

test("does not report tags as a fault of a file that is only sent, however many signers they name", async () => {
  const dana = await agent();
  const tagged = new Uint8Array(makePdf({ content: "BT /F1 12 Tf 72 600 Td ({{signature, r99}}) Tj ET" }));
  const answer = await dana.upload("/file", "tagged.pdf", tagged);
  assert.equal(((await answer.json()) as { fault: string }).fault, "");
});

test("refuses a file that another closing has used, by the document's name, and creates no second room", async () => {
  const dana = await agent();
  const deed = await dana.file("Deed.pdf");
  const form = await oneSigned(dana, { doc1: deed });
  assert.equal((await dana.post("", form)).status, 303);
  const second = await dana.post("", { ...form, closing_name: "Oak" });
  assert.equal(second.status, 400);
  assert.match(second.text, /Document 1 \(Deed\): The file that we kept has expired\. Choose it again\./);
  assert.doesNotMatch(await dana.page("/dashboard/rooms"), /Oak/);
});

/** The form fields of a closing with one document to sign. */
const oneSigned = async (dana: Awaited<ReturnType<typeof agent>>, more: Record<string, string> = {}) => ({
  closing_name: "Elm",
  doc1: more["doc1"] ?? (await dana.file("Deed.pdf")),
  doc1_name: "Deed",
  doc1_sign: "on",
  email: "a@example.com",
  name: "Ann Roe",
  client_signs: "on",
  byod_confirmed: "on",
  submission: hidden((await dana.post("/rows", {})).text, "submission"),
  ...more,
});

test("sends one document to its own address and fax number, keeps them in a form that changes, and names the document with an incomplete address", async () => {
  const dana = await agent();
  const own = Object.fromEntries(
    Object.entries(shipping).map(([name, value]) => [name.replace("ship_", "doc2_ship_"), value]),
  );
  const typed: Record<string, string> = {
    ...(await oneSigned(dana, { doc2: await dana.file("Note.pdf"), doc2_name: "Note" })),
    ...shipping,
    doc1_ship: "on",
    doc1_fax: "on",
    doc2_ship: "on",
    doc2_fax: "on",
    fax_to: "2125550123",
    people_rows: "2",
    doc1_signs_client: "on",
  };
  const asked = await dana.post("/rows", { ...typed, own: "2" });
  assert.match(asked.text, /name="doc2_own" value="on"/);
  assert.match(asked.text, /name="doc2_ship_line1"[^>]* value=""/);
  const form = { ...typed, ...own, doc2_own: "on", doc2_ship_line1: "9 Oak Ave", doc2_fax_to: "2125550199" };
  const removed = await dana.post("/rows", { ...form, remove: "1" });
  assert.match(removed.text, /name="doc1_ship_line1"[^>]* value="9 Oak Ave"/);
  assert.doesNotMatch((await dana.post("/rows", { ...form, shared: "2" })).text, /9 Oak Ave/);

  const files = { doc1: await dana.file("Deed.pdf"), doc2: await dana.file("Note.pdf") };
  const refused = await dana.post("", { ...form, ...files, doc2_ship_city: "" });
  assert.equal(refused.status, 400);
  assert.match(refused.text, /<p><a href="#field-doc2_name">Document 2 \(Note\): “Recipient’s city” is required/);
  assert.match(refused.text, /name="doc2_ship_line1"[^>]* value="9 Oak Ave"/);
  const astray = await dana.post("", { ...form, ...files, doc2_ship_state: "TX" });
  assert.match(astray.text, /Document 2 \(Note\): “Recipient’s ZIP code” must belong to “Recipient’s state”/);

  const placed = await dana.post("", { ...form, ...files, doc2_ship_method: "" });
  assert.equal(placed.status, 303, placed.text);
  const orders = await running.db.query<{ line1: string; fax: string }>(sql`
    SELECT o.ship_to->>'line1' AS line1, o.fax_to AS fax FROM orders o
    WHERE o.partner_id = ${dana.partnerId} ORDER BY o.id`);
  assert.deepEqual(orders, [
    { line1: shipping.ship_line1, fax: "+12125550123" },
    { line1: "9 Oak Ave", fax: "+12125550199" },
  ]);
});

test("names everybody who signs before the notary, and requires somebody who does", async () => {
  const dana = await agent();
  const { doc1_sign: _, ...notarized } = await oneSigned(dana, { doc1_notary: "on", signer_state: "FL" });
  const people = { person1_name: "Ana Ortega", person1_email: "ana@example.com", people_rows: "2" };
  const refused = await dana.post("", { ...notarized, ...people });
  assert.match(refused.text, /Document 1 \(Deed\): choose who signs it\./);
  const ticked = { doc1_signs_client: "on", doc1_signs_1: "on" };
  const placed = await dana.post("", { ...notarized, ...people, ...ticked });
  assert.equal(placed.status, 303, placed.text);
  const [order] = await running.db.query<{ signers: { name: string }[] }>(
    sql`SELECT signers FROM orders WHERE partner_id = ${dana.partnerId}`,
  );
  assert.deepEqual(
    order?.signers.map(({ name }) => name),
    ["Ann Roe", "Ana Ortega"],
  );
});

test("places nothing when the last write fails; the same form again places everything, and mails people once", async () => {
  const dana = await agent();
  const follower = running.somebody();
  const people = { person1_name: "Lee Lender", person1_email: follower, person1_role: "follows" };
  const form = await oneSigned(dana, {
    ...people,
    doc2: await dana.file("Note.pdf"),
    doc2_name: "Note",
    doc2_fax: "on",
    fax_to: "2125550123",
  });
  await running.db.query(sql`ALTER TABLE room_orders ADD CONSTRAINT stopped CHECK (label <> 'Note') NOT VALID`);
  const stopped = await dana
    .post("", form)
    .finally(() => running.db.query(sql`ALTER TABLE room_orders DROP CONSTRAINT stopped`));
  assert.equal(stopped.status, 500);
  assert.deepEqual(await dana.orders(), []);
  assert.match(await dana.page("/dashboard/rooms"), /No rooms yet/);
  assert.equal((await dana.post("", form)).status, 303);
  await until(() => mailsTo(service, follower)[0]);
  assert.equal((await dana.post("", form)).status, 303);
  const queued = () => running.db.query(sql`SELECT FROM jobs WHERE queue = 'room-mail'`);
  await until(async () => (await queued()).length === 0 || undefined);
  assert.equal(mailsTo(service, follower).length, 1);
  assert.equal((await dana.orders()).length, 2);
});

test("one form sent six times concurrently is one closing; of two forms with the same file one places nothing", async () => {
  const dana = await agent();
  const form = await oneSigned(dana, { doc2: await dana.file("Note.pdf"), doc2_name: "Note", doc2_sign: "on" });
  const same = await Promise.all(Array.from({ length: 6 }, () => dana.post("", form)));
  assert.deepEqual(new Set(same.map(({ status }) => status)), new Set([303]));
  assert.equal(new Set(same.map(({ location }) => location.split("?")[0])).size, 1);
  assert.equal((await dana.orders()).length, 2);

  const file = await dana.file("Letter.pdf");
  const [one, other] = [await oneSigned(dana, { doc1: file }), await oneSigned(dana, { doc1: file })];
  const both = await Promise.all([dana.post("", one), dana.post("", other)]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [303, 400]);
  assert.match(both.find(({ status }) => status === 400)?.text ?? "", /The file that we kept has expired\./);
  assert.equal((await dana.orders()).length, 3);
});

test("files of closings leave order forms their stored files, and Remove deletes a file only of the firm's own closing", async () => {
  const [dana, other] = [await agent(), await agent()];
  const files = await Promise.all([1, 2, 3, 4, 5].map((n) => dana.file(`${n}.pdf`)));
  const init = { method: "POST", headers: { ...dana.headers, Accept: "text/html" } };
  const refused = await fetch(`${service.baseUrl}/dashboard/orders/new`, {
    ...init,
    body: orderForm({ ...minimal, email: "x", svc_sign: "true" }),
  });
  assert.ok((await refused.text()).includes("We kept"));
  const [first = "", second = ""] = files;
  const isKept = async (file: string) =>
    (await fetch(`${service.baseUrl}/dashboard/orders/new/file/${file.split(" ")[0]}`, { headers: dana.headers }))
      .status;
  await other.post("/rows", { doc1: first, remove: "1" });
  await dana.post("/rows", { doc1: first, doc2: second, remove: "2" });
  assert.deepEqual([await isKept(first), await isKept(second)], [200, 404]);
});

test("placed fields go to the order of their document, for the signers of that document; a form without a script adds pages", async () => {
  const dana = await agent();
  const field = { kind: "signature", page: 1, x: 72, y: 500, width: 180, height: 40, required: true };
  const people = { person1_name: "Ana Ortega", person1_email: "ana@example.com", people_rows: "2" };
  const form: Record<string, string> = await oneSigned(dana, {
    ...people,
    doc1_signs_1: "on",
    doc1_fields: JSON.stringify([{ ...field, signer: 2 }]),
    doc2: await dana.file("Note.pdf"),
    doc2_name: "Note",
    doc2_sign: "on",
    doc2_signs_client: "on",
    doc2_signs_1: "on",
    doc2_fields: JSON.stringify([
      { ...field, signer: 1 },
      { ...field, y: 600, signer: 3 },
    ]),
  });
  const refused = await dana.post("", form);
  assert.match(refused.text, /Document 2 \(Note\): a field is for somebody who does not sign it\./);
  assert.equal(JSON.parse(hidden(refused.text, "doc1_fields").replaceAll("&quot;", '"'))[0].signer, 2);
  assert.match(
    (await dana.post("", { ...form, doc2_fields: "{" })).text,
    /Document 2 \(Note\): “Fields on the pages” must/,
  );
  const without = { ...form, doc2_fields: "" };
  const asking = await dana.post("", { ...without, asks_before_page: "on" });
  const [refusal = ""] = /This document lacks a place to sign for at least one signer.*?<\/p>/s.exec(asking.text) ?? [];
  assert.match(
    refusal,
    /<a href="#places-2-open">2\. Note<\/a>\. Place fields on the pages, or <a href="#field-page_added">/,
  );
  assert.doesNotMatch(refusal, /Deed/);
  assert.equal((await dana.post("", without)).status, 303);
  const orders = await running.db.query<{ signers: { name: string }[]; fields: { signer: number }[] | null }>(sql`
    SELECT signers, signature_fields AS fields FROM orders WHERE partner_id = ${dana.partnerId} ORDER BY id`);
  assert.deepEqual(
    orders.map(({ signers, fields }) => [signers.map(({ name }) => name), fields?.map(({ signer }) => signer)]),
    [
      [["Ana Ortega"], [1]],
      [["Ann Roe", "Ana Ortega"], undefined],
    ],
  );
});

test("takes a form with the placed fields of 20 long documents, and refuses a template of another firm", async () => {
  const dana = await agent();
  const field = {
    kind: "text",
    page: 1,
    x: 1,
    y: 1,
    width: 9,
    height: 9,
    required: true,
    signer: 1,
    label: "x".repeat(60),
  };
  const long = JSON.stringify(Array.from({ length: 500 }, () => field));
  const form = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`doc${index + 1}_fields`, long]));
  const file = await dana.file("Deed.pdf");
  const shown = await dana.post("/rows", { ...form, doc1: file });
  assert.equal(shown.status, 200);
  assert.equal(hidden(shown.text, "doc1_fields").replaceAll("&quot;", '"'), long);
  const foreign = await dana.post("/rows", {
    doc1: file,
    doc1_template: crypto.randomUUID(),
    use_template: "1",
  });
  assert.equal(foreign.status, 200);
  assert.doesNotMatch(foreign.text, /form of “/);
});

test("turns, mailed codes and languages of a template apply to the order, and the page names what a closing leaves out", async () => {
  const dana = await agent();
  const makeTemplate = async (name: string, roles: object[], more: Record<string, string>, text: string) => {
    const document = makePdf({ text: `${name} ${text}` });
    const body = orderForm({ svc_sign: "true", name, roles: JSON.stringify(roles), ...more }, document);
    const to = `${service.baseUrl}/api/partner/templates`;
    const answer = await fetch(to, { method: "POST", headers: dana.api, body });
    const made = (await answer.json()) as { templateId: string };
    assert.equal(answer.status, 201, JSON.stringify(made));
    const sent = await dana.upload("/file", `${name}.pdf`, new Uint8Array(document));
    const { file, template } = (await sent.json()) as { file: string; template: string };
    assert.equal(template, made.templateId);
    return { file, template };
  };
  const roles = [
    { name: "Buyer", auth: "mail_code" },
    { name: "Seller", routing: 2, language: "es" },
  ];
  const contract = await makeTemplate("Contract", roles, { message: "Please read section 4." }, "{{signature, r1}}");
  const three = [{ name: "Buyer" }, { name: "Seller" }, { name: "Broker" }];
  const joint = await makeTemplate("Joint form", three, {}, "{{signature, r1}} {{signature, r2}} {{signature, r3}}");
  const texted = await makeTemplate("Waiver", [{ name: "Owner", auth: "text_code" }], {}, "{{signature, r1}}");
  const people = {
    closing_name: "Turns",
    email: "ann@example.com",
    name: "Ann Roe",
    client_signs: "on",
    byod_confirmed: "on",
    person1_name: "Bo Roe",
    person1_email: "bo@example.com",
    people_rows: "2",
  };
  const shown = await dana.post("/rows", {
    ...people,
    doc1: contract.file,
    doc1_template: contract.template,
    doc1_sign: "on",
    doc1_name: "Contract",
    doc2: texted.file,
    doc2_template: texted.template,
    doc2_sign: "on",
    doc2_name: "Waiver",
  });
  assert.match(shown.text, /A closing does not take over its message to the signers\./);
  assert.match(shown.text, /It identifies signers by text message or access code/);
  const rows = await dana.post("/rows", {
    ...people,
    people_rows: "1",
    doc1: joint.file,
    doc1_template: joint.template,
    doc1_sign: "on",
    doc1_name: "Joint form",
    use_template: "1",
  });
  assert.match(rows.text, /id="person-row-2"/, "each role has a row for a person");
  const used = await dana.post("/rows", {
    ...people,
    doc1: contract.file,
    doc1_template: contract.template,
    doc1_sign: "on",
    doc1_name: "Contract",
    use_template: "1",
  });
  assert.match(used.text, /Buyer: Ann Roe \(turn 1, with a mailed code\); Seller: Bo Roe \(turn 2, in Spanish\)\./);
  const ways = hidden(used.text, "doc1_ways").replaceAll("&quot;", '"');
  assert.match(used.text, /Turns, codes and languages stay with these people\./);
  const ticked = {
    ...people,
    doc1: contract.file,
    doc1_template: contract.template,
    doc1_sign: "on",
    doc1_name: "Contract",
    doc1_ways: ways,
    doc1_signs_client: "on",
  };
  const later = await dana.post("/rows", { ...ticked, doc1_signs_1: "on" });
  assert.match(later.text, /Ann Roe: turn 1, with a mailed code; Bo Roe: turn 2, in Spanish\./);
  assert.doesNotMatch(later.text, /no turn or code/);
  const cy = { person2_name: "Cy Roe", person2_email: "cy@example.com", person1_role: "follows", doc1_signs_2: "on" };
  const stranger = await dana.post("/rows", { ...ticked, ...cy });
  const noWay =
    "The template does not say how Cy Roe signs. Use the template again, or remove its turns, codes and languages.";
  assert.ok(stranger.text.includes(`Ann Roe: turn 1, with a mailed code. ${noWay}`), stranger.text);
  const third = await dana.post("/rows", { ...ticked, ...cy, person1_role: "signs", doc1_signs_1: "on" });
  assert.match(
    third.text,
    /how Cy Roe signs\. Remove the template’s turns, codes and languages, or change who signs\./,
  );
  assert.doesNotMatch(third.text, /Use the template again/);
  const nobody = await dana.post("/rows", { ...ticked, doc1_signs_client: "" });
  assert.match(nobody.text, /Nobody is ticked to sign it\./);
  const submission = async () => hidden(await dana.page(path), "submission");
  const refused = await dana.post("", { ...ticked, ...cy, submission: await submission() });
  assert.equal(refused.status, 400);
  assert.ok(refused.text.includes(`Document 1 (Contract): ${noWay}`), refused.text);
  assert.equal((await dana.orders()).length, 0);
  const again = await dana.post("/rows", { ...ticked, ...cy, use_template: "1" });
  assert.match(again.text, /Buyer: Ann Roe \(turn 1, with a mailed code\); Seller: Cy Roe \(turn 2, in Spanish\)\./);
  const plain = await dana.post("/rows", { ...ticked, ...cy, plain_ways: "1" });
  assert.equal(hidden(plain.text, "doc1_ways"), "");
  assert.doesNotMatch(plain.text, /no turn or code|How people sign/);
  const placed = await dana.post("", {
    ...people,
    submission: await submission(),
    doc1: contract.file,
    doc1_sign: "on",
    doc1_name: "Contract",
    doc1_ways: ways,
    doc1_signs_client: "on",
    doc1_signs_1: "on",
  });
  assert.equal(placed.status, 303, placed.text);
  const [order] = await running.db.query<{ signers: object[] }>(
    sql`SELECT signers FROM orders WHERE partner_id = ${dana.partnerId}`,
  );
  assert.deepEqual(
    order?.signers.map((signer) => {
      const { email, routing, auth, language } = signer as Record<string, unknown>;
      return { email, routing, auth, language };
    }),
    [
      { email: "ann@example.com", routing: 1, auth: "mail_code", language: "en" },
      { email: "bo@example.com", routing: 2, auth: "link", language: "es" },
    ],
  );
});

test("altered turns and codes in a form are rejected with a message and never break the page", async () => {
  const dana = await agent();
  const file = await dana.file("Deed.pdf");
  const sent = {
    closing_name: "Altered",
    email: "ann@example.com",
    name: "Ann Roe",
    client_signs: "on",
    byod_confirmed: "on",
    doc1: file,
    doc1_sign: "on",
    doc1_name: "Deed",
    doc1_signs_client: "on",
    people_rows: "2",
  };
  for (const ways of ["{", "[null]", '[{"person":1,"language":"!!","routing":"<b>","auth":7},{"person":2}]']) {
    const shown = await dana.post("/rows", { ...sent, doc1_ways: ways });
    assert.equal(shown.status, 200, ways);
    assert.doesNotMatch(shown.text, /turn <b>/);
  }
  const ways = '[{"person":1,"language":"!!"}]';
  const submission = hidden(await dana.page(path), "submission");
  const placed = await dana.post("", { ...sent, submission, doc1_ways: ways });
  assert.equal(placed.status, 400);
  assert.match(placed.text, /language/i);
});
