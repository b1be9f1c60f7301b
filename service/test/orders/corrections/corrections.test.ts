import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { authenticate, changeOrder } from "@signsealship/testing/row-mac";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../src/kernel/platform/database/sql.ts";
import { maskEmail } from "../../../src/kernel/platform/mail/mask-email.ts";
import { beginAgain } from "../../../src/orders/corrections/corrections.ts";
import {
  currentEmail,
  documentsPath,
  hasEmailOf,
  correctionsOf as recordedCorrections,
} from "../../../src/orders/order/order.ts";
import type { Link } from "../../../src/signing/envelopes/envelopes.ts";
import { findEnvelope } from "../../../src/signing/envelopes/records/envelope.ts";
import { readDocument } from "../../../src/signing/envelopes/records/revisions.ts";
import { browser, openCeremonyService, signBy } from "../../signing/envelopes/ceremony/ceremony-service.ts";

const running = await forTests(openCeremonyService());
const { db, ceremony, headers } = running;
const url = (path: string) => `${running.service.baseUrl}/api/partner/orders/${path}`;

type Answer = {
  status: string;
  error?: string;
  refusals: Record<string, string | null>;
  corrections: { kind: string; before: Record<string, unknown>; after: Record<string, unknown> }[];
};

/** Calls a route of an order. @returns its status and its body */
async function call(path: string, body?: object | FormData, by: { Authorization: string } = headers) {
  const isForm = body instanceof FormData;
  const response = await fetch(url(path), {
    method: "POST",
    headers: { ...by, ...(body && !isForm && { "Content-Type": "application/json" }) },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  return { status: response.status, ...((await response.json()) as Partial<Answer>), code: response.status };
}

const upload = (bytes: Buffer, fields: Record<string, string> = {}) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append("document", new Blob([new Uint8Array(bytes)], { type: "application/pdf" }), "Deed corrected.pdf");
  return form;
};

const correctionsOf = async (code: string) =>
  (await (await fetch(url(`${code}/corrections`), { headers })).json()) as Answer;
const statusOf = async (code: string) => (await correctionsOf(code)).status;
const documentsOf = async (code: string) =>
  (
    (await (await fetch(url(`${code}/documents`), { headers })).json()) as {
      documents: { kind: string; sha256: string; documentId: string }[];
    }
  ).documents;
const idOf = async (code: string) =>
  (await db.query<{ id: number }>(sql`SELECT id FROM orders WHERE ${isSealed(sql`code`, "order", code)}`))[0]?.id ?? 0;
const envelopesOf = async (code: string) =>
  db.query<{ id: number; outcome: string | null }>(sql`
    SELECT id, outcome FROM envelopes WHERE order_id = ${await idOf(code)} ORDER BY attempt`);

const parcels = { whyFixed: async () => null, readdress: async () => {} };

let people = 0;
/** A person with a new email address. */
const person = (name: string) => ({ name, email: `${name.toLowerCase()}${people++}@example.com` });
const jane = person("Jane");

/** An order that Jane has signed and John has declined. */
async function declined() {
  const signers = [person("Jane"), person("John")] as const;
  const code = await running.order(signers);
  const links = [await running.linkOf(signers[0].email), await running.linkOf(signers[1].email)] as const;
  await signBy(ceremony, links[0], "Jane");
  await ceremony.decline(links[1], { kind: "declined", reason: "The legal description is wrong." }, browser);
  return { code, signers, links };
}

test("a declined order continues with another document and another signer, under its code and its payment", async () => {
  const { code, signers, links } = await declined();
  const [before] = await documentsOf(code);
  assert.equal((await call(`${code}/document`, upload(makePdf({ pages: 3 })))).code, 200);
  const mary = person("Mary");
  assert.equal((await call(`${code}/signers/2/replace`, mary)).code, 200);
  assert.equal(await statusOf(code), "EsignDeclined");
  assert.equal((await call(`${code}/send-again`)).status, "EsignPending");

  const again = await until(async () => {
    const link = await running.linkOf(signers[0].email);
    return link.token === links[0].token ? null : link;
  });
  assert.equal((await ceremony.view(again)).document?.pages, 4, "three pages, and the one for signatures");
  await signBy(ceremony, again, "Jane");
  await signBy(ceremony, await running.linkOf(mary.email), "Mary");
  await until(async () => (await statusOf(code)) !== "EsignPending");

  const documents = await documentsOf(code);
  assert.deepEqual(
    documents.map(({ kind }) => kind),
    ["original_replaced", "original", "sealed", "custody_certificate"],
  );
  assert.equal(documents[0]?.sha256, before?.sha256);
  const paid = await db.query(sql`SELECT FROM payments WHERE order_id = ${await idOf(code)}`);
  assert.equal(paid.length, 1);
  const { corrections } = await correctionsOf(code);
  assert.deepEqual(
    corrections.map(({ kind }) => kind),
    ["document", "signer", "again"],
  );
  assert.deepEqual(corrections[0]?.before, { sha256: before?.sha256 });
  assert.equal(corrections[1]?.before["email"], signers[1].email);
});

test("links of the earlier round lead nowhere, and its document is still the signed one", async () => {
  const { code, links } = await declined();
  await call(`${code}/document`, upload(makePdf({ pages: 1, text: "Other" } as Parameters<typeof makePdf>[0])));
  await call(`${code}/send-again`);
  const [first] = await until(async () => {
    const found = await envelopesOf(code);
    return found.length === 2 ? found : null;
  });
  for (const link of links) assert.equal((await ceremony.view(link)).state, "declined");
  const envelope = first && (await findEnvelope(db, first.id));
  assert.ok(envelope);
  const { sha256, original } = await readDocument(running.deps, envelope);
  assert.equal(original.sha256, (await documentsOf(code))[0]?.sha256);
  assert.match(sha256, /^[0-9a-f]{64}$/);
});

test("a document is replaced while people sign: all of them sign again", async () => {
  const signers = [person("Jane"), person("John")] as const;
  const code = await running.order(signers);
  const old = await running.linkOf(signers[0].email);
  await signBy(ceremony, old, "Jane");
  assert.equal((await call(`${code}/document`, upload(makePdf({ pages: 5 })))).status, "EsignPending");
  assert.equal((await ceremony.view(old)).state, "voided");
  const fresh = await until(async () => {
    const link = await running.linkOf(signers[0].email);
    return link.token === old.token ? null : link;
  });
  assert.equal((await ceremony.view(fresh)).state, "ready");
  assert.deepEqual(
    (await envelopesOf(code)).map(({ outcome }) => outcome),
    ["Voided", null],
  );
});

test("the same document changes nothing, and a file that is not a PDF is refused", async () => {
  const { code } = await declined();
  const bytes = makePdf({ pages: 3 });
  await call(`${code}/document`, upload(bytes));
  await call(`${code}/document`, upload(bytes));
  assert.equal((await correctionsOf(code)).corrections.length, 1);
  const refused = [
    [upload(Buffer.from("Hello")), "document must be a PDF."],
    [new FormData(), "document is required: send the PDF that replaces the order's."],
    [upload(bytes, { email: "a@example.com" }), "Only document, fields and find_places can be sent."],
    [upload(bytes, { find_places: "maybe" }), "find_places must be true or on to include it, or be left out."],
  ] as const;
  for (const [form, error] of refused) {
    if (![...form.keys()].length) form.append("find_places", "true");
    const answer = await call(`${code}/document`, form);
    assert.deepEqual([answer.code, answer.error], [400, error]);
  }
});

test("the same document with other places is refused, and the same request may be sent again", async () => {
  const { code } = await declined();
  const bytes = makePdf({ pages: 3 });
  const size = { width: 150, height: 40 };
  const at = (y: number) =>
    JSON.stringify([1, 2].map((signer) => ({ kind: "signature", signer, page: 1, x: 180 * signer, y, ...size })));
  const replace = (fields: Record<string, string> = {}) => call(`${code}/document`, upload(bytes, fields));
  const first = await replace({ fields: at(400) });
  assert.equal(first.code, 200, first.error);
  assert.equal((await replace({ fields: at(400) })).code, 200);
  assert.equal((await replace()).code, 200);
  for (const other of [{ fields: at(500) }, { find_places: "true" }]) {
    const { code: status, error } = await replace(other);
    assert.deepEqual([status, /has this document already, with other places/.test(error ?? "")], [409, true], error);
  }
  assert.equal((await correctionsOf(code)).corrections.length, 1);
});

test("an address, a fax number and an email are corrected together, or none is", async () => {
  const code = await running.order([jane], {
    svc_ship: "true",
    ship_name: "Lender",
    ship_line1: "1 Main Street",
    ship_city: "Albany",
    ship_state: "NY",
    ship_postal: "12207",
    fax_to: "2125550123",
  });
  const moved = {
    ship_name: "Lender",
    ship_line1: "2 State Street",
    ship_city: "Albany",
    ship_state: "NY",
    ship_postal: "12207",
  };
  await changeOrder(db, code, sql`status = 'Shipped'`);
  const refused = await call(`${code}/corrections`, { ...moved, fax_to: "2125550199", email: "new@example.com" });
  assert.equal(refused.code, 409);
  assert.match(refused.error ?? "", /^The parcel is on its way/);
  assert.deepEqual((await correctionsOf(code)).corrections, []);

  await changeOrder(db, code, sql`status = 'ShippingFailed'`);
  const done = await call(`${code}/corrections`, { ...moved, fax_to: "2125550199", email: "new@example.com" });
  assert.deepEqual(
    done.corrections?.map(({ kind }) => kind),
    ["email", "fax", "address"],
  );
  assert.equal(done.corrections?.[1]?.before["faxTo"], "+12125550123");
  await call(`${code}/corrections`, { ...moved, fax_to: "2125550199" });
  assert.equal((await correctionsOf(code)).corrections.length, 3, "sent again it changes nothing");
  assert.equal((await call(`${code}/send-again`)).status, "ShippingPending");
});

test("wrong fields are refused by name", async () => {
  const { code } = await declined();
  const refusals: [object, RegExp][] = [
    [{}, /^At least one of email, /],
    [{ email: "nobody" }, /^email must be an email address\.$/],
    [{ email: 5 }, /^email must be a text\.$/],
    [{ fax_to: "12" }, /^fax_to must be a 10-digit US number/],
    [{ ship_name: "Lender" }, /^ship_line1 is required when the address is corrected\.$/],
    [{ total: "1" }, /^Only email, .* can be corrected\.$/],
    [{ total: 1 }, /^Only email, .* can be corrected\.$/],
  ];
  for (const [body, error] of refusals) {
    const answer = await call(`${code}/corrections`, body);
    assert.equal(answer.code, 400);
    assert.match(answer.error ?? "", error);
  }
});

test("a client’s new address gets the next round, and the documents link of the old one gives no access", async () => {
  const code = await running.order([], { signers: "" });
  const mailed = await running.linkOf("signer@example.com").catch(() => null);
  assert.ok(mailed);
  await ceremony.decline(mailed, { kind: "declined", reason: "" }, browser);
  const moved = person("Client");
  const documents = (changes: number) =>
    fetch(running.service.baseUrl + documentsPath(running.deps.secrets, code, changes));
  assert.equal((await documents(0)).status, 200);
  assert.equal((await call(`${code}/corrections`, { email: moved.email })).code, 200);
  assert.deepEqual([(await documents(0)).status, (await documents(1)).status], [404, 200]);
  await call(`${code}/send-again`);
  assert.equal((await ceremony.view(await running.linkOf(moved.email))).state, "ready");
});

test("a client who has signed keeps the address of that time", async () => {
  const client = person("Client");
  const code = await running.order([], {
    email: client.email,
    signers: "",
    svc_ship: "true",
    ship_name: "Lender",
    ship_line1: "1 Main Street",
    ship_city: "Albany",
    ship_state: "NY",
    ship_postal: "12207",
  });
  await signBy(ceremony, await running.linkOf(client.email), "Client");
  await until(async () => (await statusOf(code)) !== "EsignPending");
  assert.equal((await call(`${code}/corrections`, { email: person("Client").email })).code, 200);
  const [order] = await db.query<{ signers: { email: string }[] }>(
    sql`SELECT signers FROM orders WHERE id = ${await idOf(code)}`,
  );
  assert.deepEqual(
    order?.signers.map(({ email }) => email),
    [client.email],
  );
});

/** True if a signing link still opens anything. */
const opens = (link: Link) =>
  ceremony.view(link).then(
    () => true,
    (error: unknown) => {
      assert.match(String(error), /This signing link is not valid/);
      return false;
    },
  );
const documentsStatus = async (code: string, changes: number) =>
  (await fetch(running.service.baseUrl + documentsPath(running.deps.secrets, code, changes))).status;

test("links to a finished document that went to a wrong address end at once, and the corrected one gets new ones", async () => {
  const grace = person("Grace");
  const code = await running.order([grace], grace);
  const old = await running.linkOf(grace.email);
  await signBy(ceremony, old, "Grace");
  await until(async () => (await statusOf(code)) !== "EsignPending");
  await until(async () => running.mailsTo(grace.email).length === 2);
  await changeOrder(db, code, sql`status = 'Completed'`);
  assert.equal((await ceremony.view(old)).state, "completed");
  const before = running.mailsTo(grace.email).length;
  const listed = async () => {
    const path = `/api/partner/orders/${code}/copy-links`;
    return (await running.client.ok<{ links: { email: string; issuedAt: string }[] }>("GET", path)).links;
  };
  const [earlier] = await listed();
  await db.query(sql`
    UPDATE envelope_signers SET codes_requested = 5, codes_of_day = 5, codes_day_at = now(), failures = 5, locked_at = now()
    WHERE email = ${grace.email}`);
  await authenticate(running, "envelope_signers");

  const to = person("Right").email;
  assert.equal((await call(`${code}/corrections`, { email: to })).code, 200);
  const [link] = await listed();
  assert.deepEqual([earlier?.email, link?.email], [grace.email, to]);
  assert.ok((link?.issuedAt ?? "") > (earlier?.issuedAt ?? ""), "the list has the time of the new link");
  assert.deepEqual(
    [await opens(old), await documentsStatus(code, 0), await documentsStatus(code, 1)],
    [false, 404, 200],
  );
  const fresh = await running.linkOf(to);
  const view = await ceremony.view(fresh);
  assert.deepEqual([view.state, view.signer.email, view.signer.mailedTo], ["completed", grace.email, to]);
  await until(() => running.mailsTo(to).some((mail) => mail.includes("/documents/")));
  assert.equal(running.mailsTo(grace.email).length, before);

  // The counters of requested and wrong codes are reset, because they were about the earlier link.
  const limits = await db.query(sql`
    SELECT codes_requested, codes_of_day, failures, locked_at FROM envelope_signers WHERE email = ${grace.email}`);
  assert.deepEqual(limits, [{ codes_requested: 0, codes_of_day: 0, failures: 0, locked_at: null }]);

  // After one more correction, the link that was mailed to the second email address ends too.
  const last = person("Last").email;
  assert.equal((await call(`${code}/corrections`, { email: last })).code, 200);
  assert.deepEqual([await opens(fresh), (await ceremony.view(await running.linkOf(last))).state], [false, "completed"]);
});

test("no mail after a corrected address says that a notary acted, if the sandbox simulated that", async () => {
  const grace = person("Grace");
  const code = await running.order([grace], { ...grace, svc_notary: "true" });
  await signBy(ceremony, await running.linkOf(grace.email), "Grace");
  for (let status = await statusOf(code); status !== "Completed"; status = await statusOf(code))
    await fetch(`${running.service.baseUrl}/api/partner/sandbox/orders/${code}/advance`, { method: "POST", headers });
  const to = person("Right").email;
  assert.equal((await call(`${code}/corrections`, { email: to })).code, 200);
  const { copies } = await ceremony.view(await running.linkOf(to));
  assert.deepEqual(copies[0], { kind: "notarized", isSimulated: true });
  const subjects = running.mailsTo(to).map((mail) => /^Subject: (.*)/m.exec(mail)?.[1] ?? "");
  assert.ok(
    subjects.some((subject) => subject.includes("is signed by everybody")),
    subjects.join(),
  );
  assert.ok(!subjects.some((subject) => subject.includes("is notarized")), subjects.join());
  const page = await (await fetch(running.service.baseUrl + documentsPath(running.deps.secrets, code, 1))).text();
  assert.match(page, /Notarization simulated \(test\)/);
  assert.doesNotMatch(page, /the notarized document is the one that counts/);
});

test("the copies of a document that was signed through a wrong address go to the corrected one alone", async () => {
  const [grace, john] = [person("Grace"), person("John")];
  const code = await running.order([grace, john], grace);
  const old = await running.linkOf(grace.email);
  const other = await running.linkOf(john.email);
  await signBy(ceremony, old, "Grace");
  const to = person("Right").email;
  assert.equal((await call(`${code}/corrections`, { email: to })).code, 200);
  assert.equal(await opens(old), false);
  await signBy(ceremony, other, "John");
  assert.equal((await ceremony.view(await running.linkOf(to))).state, "completed");
  assert.ok(
    !running.mailsTo(grace.email).some((mail) => mail.includes("/documents/") || /has signed|is signed/.test(mail)),
  );
});

test("a correction finds a person whose name has other spaces, letter case or Unicode form", () => {
  const move = { from: "roe@example.com", to: "right@example.com", name: "Zo\u00eb Roe" };
  const had = (name: string) => hasEmailOf(move, { name, email: "Roe@example.com" });
  assert.deepEqual([had(" zoe\u0308 ROE "), had("Zoe Roe"), had("Zo\u00ebRoe")], [true, false, false]);
  assert.ok(had("ROE@example.com"), "a client without a name is named by the address");
});

test("people on a held document move, too, and of people who share a mailbox only the client moves", async () => {
  const jane = { ...person("Jane"), name: "Jane Roe" };
  const john = { name: "John Roe", email: jane.email };
  const code = await running.order([jane, john], jane);
  await until(async () => running.mailsTo(jane.email).filter((mail) => mail.includes("/sign/")).length === 2);
  const links = running.mailsTo(jane.email).flatMap((mail) => {
    const token = /\/sign\/([0-9a-f]{40})/.exec(mail)?.[1];
    return token === undefined ? [] : [{ token, session: null }];
  });
  await changeOrder(db, code, sql`status = 'OnHold', status_before_hold = 'EsignPending'`);
  const to = person("Right").email;
  assert.equal((await call(`${code}/corrections`, { email: to })).code, 200);
  assert.deepEqual((await Promise.all(links.map(opens))).filter(Boolean).length, 1);
  const view = await ceremony.view(await running.linkOf(to));
  assert.deepEqual([view.state, view.signer.name], ["waiting", "Jane Roe"]);
  const signers = await db.query<{ name: string; email: string }>(sql`
    SELECT s.name, s.email FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
    WHERE e.order_id = ${await idOf(code)} ORDER BY s.n`);
  assert.deepEqual(signers, [{ ...jane, email: to }, john]);
});

const scan = join(running.service.dataDir, "scan.pdf");
writeFileSync(scan, makePdf({ text: "Scan" }));
const takeIn = (code: string, status: string) => running.service.cli("order", "move", code, status, "--document", scan);

const { roomCode } = await running.client.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "Closing" });

/** Attaches the order to the room. @returns a function that corrects an address in the room, and returns the status */
async function correctorOf(orderCode: string) {
  await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode });
  return async (from: string, to: string) =>
    (await running.client.call("POST", `/api/rooms/${roomCode}/corrections`, { from, to })).status;
}

const signedBySandbox = (code: string) =>
  running.client.ok("POST", `/api/partner/sandbox/orders/${code}/advance`, { event: "signature.completed" });

for (const [how, finish, status] of [
  ["was taken in", (code: string) => takeIn(code, "EsignComplete"), "pending"],
  ["the sandbox completed", signedBySandbox, "signed"],
] as const)
  test(`an address in a document that ${how} is corrected once, and nobody is said to have signed with it`, async () => {
    const [bob, second, third] = [person("Bob"), person("Bob").email, person("Bob").email];
    const code = await running.order([bob]);
    await running.linkOf(bob.email);
    await finish(code);
    await until(async () => (await envelopesOf(code))[0]?.outcome === "Voided");
    const signers = async () => {
      const path = `/api/partner/orders/${code}/signers`;
      type Signer = { status: string; email: string; signingUrl: string | null };
      const answer = await running.client.ok<{ signers: Signer[] }>("GET", path);
      return answer.signers.map((signer) => [signer.status, signer.email, signer.signingUrl]);
    };
    assert.deepEqual(await signers(), [[status, bob.email, null]]);
    const correct = await correctorOf(code);
    assert.deepEqual([await correct(bob.email, second), await correct(bob.email, second)], [200, 409]);
    assert.equal(await correct(second, third), 200);
    assert.deepEqual(await signers(), [[status, third, null]]);
    assert.deepEqual(
      (await correctionsOf(code)).corrections.map(({ before, after }) => [before["email"], after]),
      [
        [bob.email, { name: "Bob", email: second }],
        [second, { name: "Bob", email: third }],
      ],
    );
  });

test("the signer list and the room show the corrected address of a person who signed before a document was taken in", async () => {
  const [jane, john, right] = [person("Jane"), person("John"), `right-${person("Jane").email}`];
  const code = await running.order([jane, john]);
  await signBy(ceremony, await running.linkOf(jane.email), "Jane");
  await takeIn(code, "EsignComplete");
  await until(async () => (await envelopesOf(code))[0]?.outcome === "Voided");
  assert.equal(await (await correctorOf(code))(jane.email, right), 200);
  const { signers } = await running.client.ok<{ signers: { status: string; email: string }[] }>(
    "GET",
    `/api/partner/orders/${code}/signers`,
  );
  assert.deepEqual(
    signers.map(({ status, email }) => [status, email]),
    [
      ["pending", right],
      ["pending", john.email],
    ],
  );
  type Room = { orders: { orderCode: string; signers: { email: string }[] }[] };
  const { orders } = await running.client.ok<Room>("GET", `/api/rooms/${roomCode}`);
  assert.deepEqual(
    orders.find(({ orderCode }) => orderCode === code)?.signers.map(({ email }) => email),
    [maskEmail(right), maskEmail(john.email)],
  );
});

test("a person who asked for paper keeps that wish when the address is corrected after a scan was taken in", async () => {
  const [jane, john, right] = [person("Jane"), person("John"), `right-${person("John").email}`];
  const code = await running.order([jane, john]);
  await ceremony.decline(await running.linkOf(john.email), { kind: "paper", reason: "" }, browser);
  await takeIn(code, "EsignComplete");
  assert.equal((await call(`${code}/corrections`, { email: right })).code, 200);
  assert.equal(await (await correctorOf(code))(john.email, right), 200);
  const { signers } = await running.client.ok<{ signers: { status: string; email: string; wantsPaper?: true }[] }>(
    "GET",
    `/api/partner/orders/${code}/signers`,
  );
  assert.deepEqual(
    signers.map(({ status, email, wantsPaper }) => [status, email, wantsPaper]),
    [
      ["pending", jane.email, undefined],
      ["declined", right, true],
    ],
  );
});

test("the address of a person who signed only before a notary is corrected once, and again from the new one", async () => {
  const [bob, second, third] = [person("Bob"), person("Bob").email, person("Bob").email];
  const code = await running.order([bob], { svc_sign: "", svc_notary: "true" });
  await takeIn(code, "NotarizationComplete");
  await changeOrder(db, code, sql`taken_in = '{}'`);
  const correct = await correctorOf(code);
  assert.deepEqual([await correct(bob.email, second), await correct(bob.email, second)], [200, 409]);
  assert.equal(await correct(second, third), 200);
  assert.deepEqual(
    (await correctionsOf(code)).corrections.map(({ after }) => [after["email"], after["signed"]]),
    [
      [second, ["Bob"]],
      [third, ["Bob"]],
    ],
  );
});

test("after another signer declined, a corrected address of somebody who signed is corrected again from the one that pages show", async () => {
  const [grace, john] = [person("Grace"), person("John")];
  const code = await running.order([grace, john]);
  await signBy(ceremony, await running.linkOf(grace.email), "Grace");
  const correct = await correctorOf(code);
  const [second, third] = [person("Grace").email, person("Grace").email];
  assert.equal(await correct(grace.email, second), 200);
  await ceremony.decline(await running.linkOf(john.email), { kind: "paper", reason: "" }, browser);
  assert.deepEqual([await correct(second, third), await correct(second, third)], [200, 409]);
  assert.equal((await call(`${code}/send-again`)).code, 200);
  assert.equal((await ceremony.view(await running.linkOf(third))).state, "ready");
});

test("after another signer declined, the new link goes to the corrected address of somebody who signed, and mails to one that is corrected back", async () => {
  const given = async () => {
    const [grace, john, right] = [person("Grace"), person("John"), person("Grace").email];
    const code = await running.order([grace, john]);
    await signBy(ceremony, await running.linkOf(grace.email), "Grace");
    const correct = await correctorOf(code);
    assert.equal(await correct(grace.email, right), 200);
    await ceremony.decline(await running.linkOf(john.email), { kind: "paper", reason: "" }, browser);
    return { code, grace, john, right, correct };
  };
  const signed = async (code: string, email: string) => {
    assert.equal((await call(`${code}/send-again`)).code, 200);
    const state = async () => (await ceremony.view(await running.linkOf(email)).catch(() => null))?.state;
    await until(async () => (await state()) === "ready");
    await signBy(ceremony, await running.linkOf(email), "Grace");
  };
  const one = await given();
  await signed(one.code, one.right);
  const back = await given();
  assert.equal(await back.correct(back.right, back.grace.email), 200);
  await signed(back.code, back.grace.email);
  await signBy(ceremony, await running.linkOf(back.john.email), "John");
  const done = (email: string) => running.mailsTo(email).some((mail) => mail.includes("is signed by everybody"));
  await until(() => done(back.grace.email) || done(back.right));
  assert.deepEqual([done(back.grace.email), done(back.right)], [true, false]);
});

test("after another signer declined, the link goes to the address of the signer's replacement, not to one corrected before it", async () => {
  const [grace, john, wrong] = [person("Grace"), person("John"), person("Grace").email];
  const code = await running.order([grace, john]);
  const first = await running.linkOf(grace.email);
  await signBy(ceremony, first, "Grace");
  assert.equal(await (await correctorOf(code))(grace.email, wrong), 200);
  await ceremony.decline(await running.linkOf(john.email), { kind: "paper", reason: "" }, browser);
  assert.equal((await call(`${code}/signers/1/replace`, grace)).code, 200);
  assert.equal((await call(`${code}/send-again`)).code, 200);
  await until(async () => (await envelopesOf(code)).length === 2);
  const open = await db.query<{ email: string }>(sql`
    SELECT s.email FROM envelope_signers s JOIN envelopes e ON e.id = s.envelope_id
    WHERE e.order_id = ${await idOf(code)} AND e.attempt = 2 ORDER BY s.n`);
  assert.deepEqual(open, [{ email: grace.email }, { email: john.email }]);
});

test("mails go to the address of a signer's replacement in the next round, not to one corrected before it", async () => {
  const [grace, john, mary, wrong] = [person("Grace"), person("John"), person("Mary"), person("Grace").email];
  const code = await running.order([grace, john]);
  await signBy(ceremony, await running.linkOf(grace.email), "Grace");
  assert.equal(await (await correctorOf(code))(grace.email, wrong), 200);
  await ceremony.decline(await running.linkOf(john.email), { kind: "paper", reason: "" }, browser);
  assert.equal((await call(`${code}/send-again`)).code, 200);
  await until(async () => (await envelopesOf(code)).length === 2);
  for (const [by, count] of [
    [mary, 2],
    [grace, 3],
  ] as const) {
    assert.equal((await call(`${code}/signers/1/replace`, by)).code, 200);
    const recorded = await recordedCorrections(db, await idOf(code));
    assert.deepEqual([recorded.length, currentEmail(recorded, by)], [count, by.email]);
  }
});

test("a signer keeps the corrected address when the client gets the signer's earlier one", async () => {
  const [ann, john, carl] = [person("Ann"), person("John"), person("Carl")];
  const code = await running.order([ann, john], carl);
  await signBy(ceremony, await running.linkOf(ann.email), "Ann");
  assert.equal(await (await correctorOf(code))(ann.email, carl.email), 200);
  assert.equal((await call(`${code}/corrections`, { email: ann.email })).code, 200);
  const recorded = await recordedCorrections(db, await idOf(code));
  assert.deepEqual([recorded.length, currentEmail(recorded, ann)], [2, carl.email]);
});

test("an address that an earlier release corrected back with the client's gets the mails again", () => {
  const [grace, wrong] = [person("Grace"), person("Grace").email];
  const there = {
    kind: "email",
    before: { email: grace.email },
    after: { email: wrong, signed: [grace.name] },
  } as const;
  const back = (names: object) =>
    ({ kind: "email", before: { email: wrong }, after: { email: grace.email, ...names } }) as const;
  assert.equal(currentEmail([there, back({})], grace), grace.email);
  assert.equal(currentEmail([there, back({ moved: ["John"] })], grace), wrong);
  assert.equal(currentEmail([there, { ...back({}), before: { email: "other@example.com" } }], grace), wrong);
});

test("a new signer is listed in a room in place of one who signs nothing else there, but not of one in another role", async () => {
  const [rob, ann, max, eve] = [person("Rob"), person("Ann"), person("Max"), person("Eve")];
  const codes = [await running.order([rob, ann]), await running.order([rob])];
  for (const orderCode of codes) await running.client.ok("POST", `/api/rooms/${roomCode}/orders`, { orderCode });
  const path = `/api/rooms/${roomCode}/participants`;
  for (const each of [
    { ...rob, role: "signer" },
    { ...ann, role: "buyer" },
  ])
    await running.client.ok("POST", path, each);
  await until(async () => (await Promise.all(codes.map(envelopesOf))).every(({ length }) => length > 0));
  const after = async (code: string | undefined, n: number, by: { name: string; email: string }) => {
    await running.client.ok("POST", `/api/partner/orders/${code}/signers/${n}/replace`, by);
    const { participants } = await running.client.ok<{ participants: { name: string; role: string }[] }>("GET", path);
    return participants.map(({ name, role }) => `${name}, ${role}`);
  };
  assert.deepEqual(await after(codes[0], 2, eve), ["Rob, signer", "Ann, buyer"]);
  assert.deepEqual(await after(codes[0], 1, max), ["Rob, signer", "Ann, buyer"]);
  assert.deepEqual(await after(codes[1], 1, max), ["Ann, buyer", "Max, signer"]);
  const moved = person("Max");
  for (const code of codes) await after(code, 1, moved);
  const { participants } = await running.client.ok<{ participants: { email: string }[] }>("GET", path);
  assert.ok(!participants.some(({ email }) => email === max.email), "the same name with another address");
});

test("a new signer is listed in a room in place of one who signed before another declined, and whose address was corrected", async () => {
  const [amy, john, zoe, right] = [person("Amy"), person("John"), person("Zoe"), person("Amy").email];
  const code = await running.order([amy, john]);
  const correct = await correctorOf(code);
  const path = `/api/rooms/${roomCode}/participants`;
  await running.client.ok("POST", path, { ...amy, role: "signer" });
  await signBy(ceremony, await running.linkOf(amy.email), "Amy");
  assert.equal(await correct(amy.email, right), 200);
  await ceremony.decline(await running.linkOf(john.email), { kind: "paper", reason: "" }, browser);
  await running.client.ok("POST", `/api/partner/orders/${code}/signers/1/replace`, zoe);
  const { participants } = await running.client.ok<{ participants: { email: string }[] }>("GET", path);
  const listed = (email: string) => participants.some((each) => each.email === email);
  assert.deepEqual([amy.email, right, zoe.email].map(listed), [false, false, true]);
});

test("a document that only a notary signs is replaced with the places where people sign", async () => {
  const place = (y: number) =>
    JSON.stringify([{ signer: 1, kind: "signature", page: 1, x: 100, y, width: 200, height: 50 }]);
  const more = { svc_sign: "", svc_notary: "true", name: "Jane Doe", signers: "", fields: place(100) };
  const code = await running.order([], more, undefined, { pay: false });
  await changeOrder(db, code, sql`status = 'NotarizationFailed'`);
  const placeOf = async () =>
    (
      await db.query<{ y: number }>(
        sql`SELECT (signature_fields -> 0 ->> 'y')::int AS y FROM orders WHERE id = ${await idOf(code)}`,
      )
    )[0]?.y;
  assert.equal((await call(`${code}/document`, upload(makePdf({ pages: 3 })))).code, 200);
  assert.equal(await placeOf(), 100);
  assert.equal((await call(`${code}/document`, upload(makePdf({ pages: 4 }), { fields: place(300) }))).code, 200);
  assert.equal(await placeOf(), 300);
  const beyond = place(300).replace('"page":1', '"page":9');
  assert.equal((await call(`${code}/document`, upload(makePdf({ pages: 5 }), { fields: beyond }))).code, 400);
});

test("of two concurrent requests to send again one moves the order", async () => {
  const { code } = await declined();
  const { partnerId } = (
    await db.query<{ partnerId: string }>(sql`
      SELECT partner_id AS "partnerId" FROM orders WHERE ${isSealed(sql`code`, "order", code)}`)
  )[0] ?? { partnerId: "" };
  const wanted = { owner: { partnerId, environment: "test" as const }, orderCode: code, actor: "test" };
  const outcomes = await Promise.allSettled([1, 2, 3].map(() => beginAgain({ orders: running.deps, parcels }, wanted)));
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal((await correctionsOf(code)).corrections.length, 1);
});

test("a refund is requested once, and a person of the service is told", async () => {
  const { code } = await declined();
  assert.equal((await call(`${code}/refund-request`, {})).code, 400);
  assert.equal((await call(`${code}/refund-request`, { reason: "x", amountCents: 0.5 })).code, 400);
  assert.equal((await call(`${code}/refund-request`, { reason: "x", amountCents: 99_999_999 })).code, 400);
  const asked = await call(`${code}/refund-request`, { reason: "The client does not want it.", amountCents: 500 });
  assert.equal(asked.refusals?.["refund"], "A refund was asked for already.");
  assert.equal((await call(`${code}/refund-request`, { reason: "Again" })).code, 409);
  const tasks = await db.query<{ reason: string }>(sql`
    SELECT reason FROM tasks WHERE kind = 'refund_asked' AND order_id = ${await idOf(code)} AND state = 'open'`);
  assert.deepEqual(tasks, [{ reason: "$5.00: The client does not want it." }]);
  assert.equal(await statusOf(code), "EsignDeclined");
});

test("before payment the client's email, the address and the fax number are corrected, at the same price", async () => {
  const code = await running.order(
    [jane],
    {
      svc_ship: "true",
      ship_name: "Lender",
      ship_line1: "1 Main Street",
      ship_city: "Albany",
      ship_state: "NY",
      ship_postal: "12207",
      fax_to: "2125550123",
      email: "typo@example.com",
    },
    undefined,
    { pay: false },
  );
  const priceOf = async () =>
    (await db.query<{ cents: number }>(sql`SELECT total_cents AS cents FROM orders WHERE id = ${await idOf(code)}`))[0]
      ?.cents;
  const before = await priceOf();
  const moved = {
    ship_name: "Lender",
    ship_line1: "2 State Street",
    ship_city: "Albany",
    ship_state: "NY",
    ship_postal: "12207",
  };
  assert.equal(
    (await call(`${code}/corrections`, { ...moved, fax_to: "2125550199", email: "client@example.com" })).code,
    200,
  );
  assert.deepEqual((await correctionsOf(code)).corrections.map(({ kind }) => kind).sort(), ["address", "email", "fax"]);
  assert.equal(await priceOf(), before);
  assert.equal(await statusOf(code), "QuoteReady");
  const { orderCode } = await running.client.ok<{ orderCode: string }>(
    "POST",
    `/api/partner/sandbox/orders/${code}/checkout`,
  );
  assert.equal(orderCode, code);
});

test("an unpaid order gets no other document, and another firm’s order is not corrected", async () => {
  const code = await running.order([jane], {}, undefined, { pay: false });
  const refused = await call(`${code}/document`, upload(makePdf({ pages: 1 })));
  assert.deepEqual([refused.code, refused.error], [409, "Nothing is paid yet: cancel the order, and place it again."]);
  const { headers: foreign } = await newPartner(running.service);
  for (const path of ["corrections", "send-again", "refund-request"])
    assert.equal(
      (await call(`${code}/${path}`, path === "corrections" ? { email: "a@b.co" } : { reason: "x" }, foreign)).code,
      404,
    );
  assert.equal((await call(`${code}/document`, upload(makePdf({ pages: 1 })), foreign)).code, 404);
});

test("earlier data are kept: a changed row is refused, and the database allows no changes", async () => {
  const { code } = await declined();
  await call(`${code}/send-again`);
  const id = await idOf(code);
  await assert.rejects(db.query(sql`UPDATE order_corrections SET before = '{}' WHERE order_id = ${id}`), /append-only/);
  await assert.rejects(db.query(sql`DELETE FROM order_corrections WHERE order_id = ${id}`), /append-only/);
  await db.query(sql`
    INSERT INTO order_corrections (order_id, kind, before, after, actor, at)
    VALUES (${id}, 'again', '{}', '{}', 'member:x', now())`);
  assert.equal((await fetch(url(`${code}/corrections`), { headers })).status, 503);
});
