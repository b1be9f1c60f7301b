import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { after, before, test } from "@signsealship/testing/browser";
import { examplePdf, minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { newPartner } from "@signsealship/testing/service";
import { giveLiveAccess } from "../../../../firms/members/signed-in-member.ts";
import { type OrdersPages, openOrdersPages, press, said } from "../orders-pages.ts";

const example = fileURLToPath(new URL("../../../../../../examples/lien-release.pdf", import.meta.url));
let pages: OrdersPages;
let stripe: OrdersPages["stripe"];
let service: OrdersPages["service"];
let acme: OrdersPages["acme"];
let go: OrdersPages["go"];
let open: OrdersPages["open"];
let place: OrdersPages["place"];
let apiList: OrdersPages["apiList"];
let createRoom: OrdersPages["createRoom"];
let attach: OrdersPages["attach"];
let caller: OrdersPages["caller"];

before(async () => {
  pages = await openOrdersPages();
  ({ stripe, service, acme, go, open, place, apiList, createRoom, attach, caller } = pages);
});
after(() => pages.close());

test("each refusal by the rules is a page with the reason and the typed values; none is a server error", async () => {
  const firm = await newPartner(service);
  const { send } = await caller(firm);
  const whole = { ...minimal, name: "Kept as typed" };
  const empty = orderForm(whole, null);
  empty.append("document", new Blob([], { type: "application/octet-stream" }), "");
  const noFile = await send("/dashboard/orders/new", empty);
  assert.equal(noFile.status, 400);
  assert.match(noFile.text, /Choose a PDF file of up to 35 MB\./);
  const refused: [Record<string, string | undefined>, RegExp][] = [
    [{ email: undefined }, /“Client’s email” is required\./],
    [{ email: "dana@" }, /“Client’s email” must be an email address\./],
    [{ byod_confirmed: undefined }, /Confirm that this is the client’s own, completed document\./],
    [{ doc_slug: "no-such" }, /“Document type” is not a document of the catalog\./],
    [{ fax_to: "12" }, /“Fax number” must be a 10-digit US number/],
    [{ ...shipping, ship_city: "" }, /“Recipient’s city” is required when “Shipping” is set\./],
    [{ from_city: "Denver" }, /“Sender’s name” is required when a sender address is given\./],
    [{ external_reference: "x".repeat(121) }, /“File number” must have at most 120 characters\./],
    [{ external_reference: "a\0b" }, /“File number” must be UTF-8 text/],
    [{ name: "x".repeat(60_000) }, /“Client’s name” must have at most 200 characters\./],
    [{ svc_sign: "maybe" }, /“Signing” must be true or on/],
    [{ signer_state: "ZZ" }, /“Signer’s state” must be a US state/],
    [{ environment: "live" }, /You switched between test and live/],
  ];
  for (const [fields, message] of refused) {
    const answer = await send("/dashboard/orders/new", orderForm({ ...whole, ...fields }));
    assert.equal(answer.status, "environment" in fields ? 409 : 400, JSON.stringify(fields).slice(0, 80));
    assert.match(answer.text, message);
    assert.match(answer.text, /role="alert"/);
    if (fields["name"] === undefined) assert.match(answer.text, /value="Kept as typed"/);
  }
  const noPdf = await send("/dashboard/orders/new", orderForm(whole, Buffer.from("hello")));
  assert.deepEqual([noPdf.status, /“File” must be a PDF\./.test(noPdf.text)], [400, true]);
  const cut = await send("/dashboard/orders/new", "--x\r\n", { "Content-Type": "multipart/form-data; boundary=x" });
  assert.deepEqual([cut.status, /upload was interrupted/.test(cut.text)], [400, true]);
  for (const type of ["application/json", "application/x-www-form-urlencoded", "text/plain"])
    assert.ok([400, 415].includes((await send("/dashboard/orders/new", "{}", { "Content-Type": type })).status), type);
  assert.deepEqual(await apiList(firm), []);
});

test("signers are refused by row and rule, keep the typed values, and empty rows are ignored", async () => {
  const firm = await newPartner(service);
  const { send, form } = await caller(firm);
  const path = "/dashboard/orders/new";
  const typed = {
    ...minimal,
    svc_sign: "on",
    signer_rows: "3",
    signer1_name: "Ann Lee",
    signer1_email: "ann@example.com",
    signer3_name: "Bo Lee",
    signer3_email: "bo@example.com",
    signer3_routing: "2",
    signer3_language: "es",
    signer3_auth: "access_code",
    signer3_access_code: "maple 7",
  };
  const refused: [Record<string, string>, RegExp, string][] = [
    [{ signer3_email: "bo@" }, /“Email” of signer 3 must be an email address\./, "signer3_email"],
    [{ signer3_email: "" }, /“Email” of signer 3 is required\./, "signer3_email"],
    [{ signer1_name: " " }, /“Name” of signer 1 is required\./, "signer1_name"],
    [{ signer3_routing: "11" }, /“Turn” of signer 3 must be a whole number from 1 to 10\./, "signer3_routing"],
    [{ signer3_routing: "first" }, /“Turn” of signer 3 must be a whole number/, "signer3_routing"],
    [
      { signer3_language: "de" },
      /“Language” of signer 3 must be one of en, es, fr, pt, zh, vi, ko, tl\./,
      "signer3_language",
    ],
    [{ signer3_auth: "sms" }, /“Identified by” of signer 3 must be one of/, "signer3_auth"],
    [{ signer3_access_code: "abc" }, /“Access code” of signer 3 must have at least 4/, "signer3_access_code"],
    [{ signer3_auth: "" }, /“Access code” of signer 3 must be left out unless the signer is/, "signer3_access_code"],
    [
      { signer3_name: "ann lee", signer3_email: "ANN@example.com" },
      /“Signer 3” must be another person/,
      "signer3_name",
    ],
    [{ signer_auth: "sms" }, /“How signers are identified” must be one of/, "signer_auth"],
    [{ svc_sign: "" }, /“Signers” must be left out unless signing is bought\./, "signers"],
  ];
  for (const [fields, message, name] of refused) {
    const answer = await send(path, orderForm({ ...typed, ...fields }));
    assert.deepEqual([answer.status, message.test(answer.text)], [400, true], JSON.stringify(fields));
    if (name !== "signers") assert.match(answer.text, new RegExp(`name="${name}"[^>]*aria-invalid="true"`), name);
    assert.match(answer.text, /<details class="signer-rows"[^>]* open>/);
    assert.match(answer.text, /name="signer1_email"[^>]* value="ann@example\.com"/);
  }

  const more = await form(`${path}/signers`, typed);
  assert.equal(more.status, 200);
  for (const kept of [/name="signer3_access_code"[^>]* value="maple 7"/, /name="signer4_name"/])
    assert.match(more.text, kept);
  assert.doesNotMatch(more.text, /role="alert"|name="signer5_name"/);
  const full = (await form(`${path}/signers`, { ...typed, signer_rows: "9" })).text;
  assert.deepEqual([/signer10_name/.test(full), /Add another signer/.test(full)], [true, false]);
  for (const signer_rows of ["10", "99999", "-1", "x"])
    assert.doesNotMatch((await form(`${path}/signers`, { ...typed, signer_rows })).text, /signer11_/);
  assert.equal((await send(`${path}/signers`)).location, path, "reloading it begins anew");

  assert.match((await send(path)).text, /Promissory note<\/p><p>[^<]*\(15 USC 7003\(a\)\(3\), 15 USC 7021\)/);
  const placed = await send(path, orderForm(typed));
  assert.equal(placed.status, 303, placed.text.match(/role="alert"[\s\S]{0,300}/)?.[0]);
  const code = /orders\/([0-9a-f]{40})/.exec(placed.location)?.[1];
  const answer = await fetch(`${service.baseUrl}/api/partner/orders/${code}/signers`, { headers: firm.headers });
  const { signers } = (await answer.json()) as { signers: Record<string, unknown>[] };
  assert.deepEqual(
    signers.map(({ name, email, routing, language, auth }) => [name, email, routing, language, auth]),
    [
      ["Ann Lee", "ann@example.com", 1, "en", "link"],
      ["Bo Lee", "bo@example.com", 2, "es", "access_code"],
    ],
  );
});

test("a file that is too large keeps all typed values, before and after it", async () => {
  const { send } = await caller(acme);
  for (const megabytes of [36, 40]) {
    const form = orderForm({ email: "signer@example.com" }, Buffer.concat([examplePdf, Buffer.alloc(megabytes << 20)]));
    form.append("external_reference", "FILE-7");
    const answer = await send("/dashboard/orders/new", form);
    assert.equal(answer.status, 400);
    assert.match(answer.text, /“File” must be a PDF of at most 35 MB\./);
    assert.match(answer.text, /value="signer@example.com"/);
    assert.match(answer.text, /value="FILE-7"/);
  }
});

test("a form that is sent twice places one order; changed and sent again it places another", async () => {
  const firm = await newPartner(service);
  const { send } = await caller(firm);
  const page = await send("/dashboard/orders/new");
  const submission = /name="submission" value="([a-z2-7]{52})"/.exec(page.text)?.[1] ?? "";
  assert.notEqual(
    submission,
    /name="submission" value="([a-z2-7]{52})"/.exec((await send("/dashboard/orders/new")).text)?.[1],
  );
  const post = (fields: Record<string, string> = {}) =>
    send("/dashboard/orders/new", orderForm({ ...minimal, submission, environment: "test", ...fields }));
  const answers = await Promise.all([post(), post(), post()]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [303, 303, 303],
  );
  assert.equal(new Set(answers.map(({ location }) => location)).size, 1);
  assert.equal((await apiList(firm)).length, 1);
  assert.notEqual((await post({ external_reference: "other" })).location, answers[0]?.location);
  assert.equal((await apiList(firm)).length, 2);
  const refused = await post({ email: "" });
  assert.equal(refused.status, 400);
  assert.ok(refused.text.includes(submission));
});

test("a payable order links to its checkout where payments are configured", async () => {
  const { opened, page } = await open();
  const pathOf = () => new URL(page.url()).pathname;
  for (const fail of [false, true]) {
    if (fail) stripe.fail({ status: 500 }, { status: 500 }, { status: 500 });
    await go(page, "/dashboard/orders/new");
    await page.getByLabel("File: a PDF").setInputFiles(example);
    await page.getByLabel("Client’s email").fill("signer@example.com");
    await page.getByLabel("Create the checkout").check();
    await page.getByLabel("This is the client’s own document").check();
    await press(page, "Place the test order");
    await said(page, fail ? "It has no checkout yet." : "The order was placed.");
    // The checkout is opened by a button, because a GET must not open a checkout.
    const form = page.locator("form", { has: page.getByRole("button", { name: "Open the checkout for $12.00" }) });
    assert.equal(await form.getAttribute("action"), `${pathOf()}/checkout`);
  }
  assert.equal(stripe.sessions.size, 1);
  await press(page, "Pay");
  await said(page, "The test payment went through.");
  assert.equal(await page.getByRole("button", { name: /^Open the checkout/ }).count(), 0);
  await opened.close();
});

test("an order of another firm or environment, and an unknown one, are the same 404 on every page and form", async () => {
  const live = await newPartner(service, { live: true });
  const { key = "" } = await service.cli("key", "issue", live.partnerId, "--test");
  const own = { ...live, key, headers: { Authorization: `Bearer ${key}` } };
  const liveOrder = await place(live);
  const ownOrder = await place(own);
  const foreign = await place(acme);
  const { send, form } = await caller(own);
  await giveLiveAccess(service, live.partnerId);
  const switchTo = (environment: string) => form("/dashboard/environment", { environment });
  await switchTo("test");
  for (const code of [foreign, liveOrder, "0".repeat(40), "x", "0".repeat(41), "%00", "%F0%9F%8F%A0"]) {
    const path = `/dashboard/orders/${code}`;
    const answers = [
      await send(path),
      await form(`${path}/sandbox/checkout`, { outcome: "success" }),
      await form(`${path}/sandbox/advance`, {}),
      await form(`${path}/sandbox/complete`, {}),
      await form(`${path}/attach`, { roomCode: "0".repeat(40) }),
    ];
    assert.deepEqual(
      answers.map(({ status, text }) => [status, text.includes("Page not found")]),
      answers.map(() => [404, true]),
      code,
    );
  }
  assert.ok(!(await send("/dashboard/orders")).text.includes(liveOrder));

  await switchTo("live");
  assert.equal((await send(`/dashboard/orders/${ownOrder}`)).status, 404);
  const list = (await send("/dashboard/orders")).text;
  assert.deepEqual(
    [list.includes(liveOrder), list.includes(ownOrder), list.includes("Place an order")],
    [true, false, true],
  );
  const page = (await send(`/dashboard/orders/${liveOrder}`)).text;
  assert.equal(page.includes("Sandbox"), false);
  const played = await form(`/dashboard/orders/${liveOrder}/sandbox/checkout`, { outcome: "success" });
  assert.deepEqual([played.status, /test orders only/.test(played.text)], [409, true]);
  assert.match((await send("/dashboard/orders/new")).text, /A real order/);
});

test("refusals of the sandbox and the rooms are shown on the order's page", async () => {
  const firm = await newPartner(service);
  const { send, form } = await caller(firm);
  const code = await place(firm, { ...shipping, ship_state: "GU", ship_postal: "96910" });
  const path = `/dashboard/orders/${code}`;
  const page = (await send(path)).text;
  assert.match(page, /This order needs a manual quote first/);
  assert.match(page, /Total so far/);
  const refused: [string, Record<string, string>, number, RegExp][] = [
    ["/sandbox/checkout", { outcome: "success" }, 409, /An order in ManualQuoteRequired is not payable\./],
    ["/sandbox/checkout", { outcome: "win" }, 400, /Choose what happens to the payment/],
    ["/sandbox/checkout", {}, 400, /Choose what happens to the payment/],
    ["/sandbox/advance", {}, 409, /An order in ManualQuoteRequired cannot advance\./],
    ["/sandbox/complete", {}, 409, /cannot advance/],
    ["/attach", { roomCode: "0".repeat(40) }, 404, /Room not found\./],
    ["/attach", { roomCode: "a\0b", label: "x" }, 404, /Room not found\./],
    ["/attach", {}, 400, /Choose one of your rooms or enter a code\./],
    ["/attach", { chosen: "0".repeat(40), roomCode: "0".repeat(40) }, 400, /not both/],
    ["/attach", { roomCode: `https://x.example/rooms/${"0".repeat(40)}0` }, 404, /Room not found\./],
  ];
  const room = await createRoom(firm, "Elm");
  await attach(acme, await createRoom(acme, "Not ours"), code);
  assert.ok(!(await send(path)).text.includes("Not ours"));
  for (const label of ["a\0b", "x".repeat(201)])
    refused.push(["/attach", { roomCode: room, label }, 400, /label must/]);
  refused.push(["/attach", { roomCode: await createRoom(acme, "Foreign") }, 404, /Room not found/]);
  for (const [action, fields, status, message] of refused) {
    const answer = await form(path + action, fields);
    assert.equal(answer.status, status, `${action} ${JSON.stringify(fields).slice(0, 60)}`);
    assert.match(answer.text, message);
    assert.match(answer.text, /role="alert"/);
  }
  const [first, second] = [
    await form(`${path}/attach`, { roomCode: room }),
    await form(`${path}/attach`, { roomCode: room }),
  ];
  assert.match(first.location, /done=room-order-attached$/);
  assert.match(second.location, /done=room-order-there$/);
  assert.doesNotMatch((await send(`${path}?fired=<b>,payment.cleared`)).text, /<b>|An order was paid/);
});

test("of many rooms the latest open ones are offered, and any other can be named by its code or its address", async () => {
  const firm = await newPartner(service, { tier: "ClosingDesk" });
  const { send, form } = await caller(firm);
  const order = await place(firm);
  const path = `/dashboard/orders/${order}`;
  const rooms: string[] = [];
  for (let n = 1; n <= 52; n++) rooms.push(await createRoom(firm, `Room ${n}`));
  await fetch(`${service.baseUrl}/api/rooms/${rooms[51]}/close`, { method: "POST", headers: firm.headers });
  const offered = async () =>
    [...(await send(path)).text.matchAll(/<option value="([0-9a-f]{40})"/g)].map(([, code]) => code);
  assert.deepEqual(await offered(), rooms.slice(1, 51).toReversed());

  const [first = "", second = ""] = rooms;
  const attached = await form(`${path}/attach`, { chosen: "", roomCode: ` ${first} ` });
  assert.match(attached.location, /done=room-order-attached$/);
  const again = await form(`${path}/attach`, { roomCode: `${service.baseUrl}/dashboard/rooms/${first}?a=b` });
  assert.match(again.location, /done=room-order-there$/);
  const chosen = await form(`${path}/attach`, { chosen: second, roomCode: "" });
  assert.match(chosen.location, /done=room-order-attached$/);
  assert.deepEqual(await offered(), rooms.slice(2, 51).toReversed());
  const refused = await form(`${path}/attach`, { roomCode: "no code", label: "Deed" });
  assert.equal(refused.status, 404);
  for (const kept of ["no code", "Deed"]) assert.ok(refused.text.includes(`value="${kept}"`), kept);
});
