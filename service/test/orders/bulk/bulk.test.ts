import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { describe, test } from "node:test";
import { databaseOfRunning } from "@signsealship/testing/database";
import { forTests } from "@signsealship/testing/for-tests";
import { orderForm } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, ownProcess, startService, temporaryFolder } from "@signsealship/testing/service";
import type { Principal } from "../../../src/kernel/identity/identity.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { type BulkDeps, placeRows } from "../../../src/orders/bulk/bulk.ts";
import { readCsv } from "../../../src/orders/bulk/read-csv.ts";
import { sweepBulks } from "../../../src/orders/bulk/store.ts";

const folder = temporaryFolder();
let service = await startService({ ...ownProcess, DATA_DIR: folder.path, RATE_LIMITS: "off" });
await forTests({ stop: () => service.stop() });
const partner = await newPartner(service, { tier: "ProOffice" });
const other = await newPartner(service);

/** Opens the database for each use, because a restarted service starts another PostgreSQL server. */
async function query<Row>(statement: Parameters<ReturnType<typeof databaseOfRunning>["query"]>[0]): Promise<Row[]> {
  const db = databaseOfRunning(folder.path);
  try {
    return await db.query<Row & object>(statement);
  } finally {
    await db.close();
  }
}

type Body = Record<string, unknown> & {
  error?: string;
  bulkId: string;
  templateId: string;
  totalCents: number | null;
  errors: { row: number; message: string }[];
  rows: { row: number; state: string; orderCode: string | null; reason: string | null }[];
  nextCursor: string | null;
};

async function call(method: string, path: string, body?: FormData, headers: Record<string, string> = partner.headers) {
  const response = await fetch(`${service.baseUrl}/api/partner/${path}`, { method, headers, ...(body && { body }) });
  return { status: response.status, body: (await response.json()) as Body };
}

const signature = { kind: "signature", page: 1, x: 72, y: 600, width: 180, height: 40, signer: 1 };
const fields = [
  signature,
  { kind: "text", signer: 1, page: 1, x: 72, y: 300, width: 200, height: 20, label: "Unit", required: false },
  { kind: "checkbox", signer: 1, page: 1, x: 72, y: 340, width: 12, height: 12, label: "Pets" },
];
const tenant = '[{"name":"Tenant"}]';
const lease = { name: "Lease", svc_sign: "true", roles: tenant };
const made = await call("POST", "templates", orderForm({ ...lease, fields: JSON.stringify(fields) }, makePdf()));
const template = made.body.templateId;

function form(csv: string | Uint8Array<ArrayBuffer>, more: Record<string, string> = {}): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries({ template, byod_confirmed: "true", ...more })) body.append(name, value);
  body.append("file", new Blob([csv], { type: "text/csv" }), "people.csv");
  return body;
}

let files = 0;
const head = "Tenant.name,Tenant.email,values.Unit,values.Pets,external_reference";
/** Creates a different file each time, because uploading the same file again would return the existing bulk. */
function people(count: number): string {
  files += 1;
  const row = (n: number) => `Person ${n},p${n}@example.com,Unit ${n},${n % 2 ? "yes" : ""},FILE-${files}-${n}`;
  return [head, ...Array.from({ length: count }, (_, n) => row(n))].join("\r\n");
}

async function accepted(csv: string): Promise<string> {
  const { status, body } = await call("POST", "bulk", form(csv));
  assert.deepEqual([status, body.errors], [200, []], JSON.stringify(body));
  return body.bulkId;
}

test("a value that is too long for its field of the template is refused before any order is placed", async () => {
  const csv = (unit: string) => `${head}\r\nAnn,ann@example.com,${unit},,F1\r\nBob,bob@example.com,2,,F2\r\n`;
  const long = await call("POST", "bulk", form(csv("W".repeat(120))));
  const message = "values.Unit is too small for a text of 120 characters, which must fit at 6 points.";
  assert.deepEqual([long.body.bulkId, long.body.errors], [null, [{ row: 1, message }]]);
  // If the characters are narrow, the same number of them fits into the field.
  await accepted(csv("i".repeat(120)));
});

const ordersOf = async (bulkId: string) =>
  (await call("GET", `bulk/${bulkId}/rows?limit=500`)).body.rows.flatMap(({ orderCode }) => orderCode ?? []);
const states = ({ body }: { body: Body }) => [body["waiting"], body["placed"], body["failed"], body["canceled"]];
const place = async (bulkId: string) => states(await call("POST", `bulk/${bulkId}/place`));

/** The number of orders from the last file, and the number of the file's rows that have an order. */
async function placedOrders(): Promise<number[]> {
  const [row] = await query<{ orders: number; rows: number }>(sql`
    SELECT count(*)::int AS orders, count(DISTINCT external_reference)::int AS rows FROM orders
    WHERE external_reference LIKE ${`FILE-${files}-%`}`);
  return [row?.orders ?? 0, row?.rows ?? 0];
}

test("a file is checked completely, priced, and places an order for each row, with its people and values", async () => {
  const answer = await call("POST", "bulk", form(people(3)));
  assert.deepEqual([answer.status, answer.body.rows, answer.body.errors], [200, 3, []]);
  assert.ok((answer.body.totalCents ?? 0) > 0);
  const { bulkId } = answer.body;
  assert.deepEqual(states(await call("GET", `bulk/${bulkId}`)), [3, 0, 0, 0], "nothing is ordered yet");
  assert.deepEqual(await place(bulkId), [0, 3, 0, 0]);
  const codes = await ordersOf(bulkId);
  assert.equal(new Set(codes).size, 3);
  const orders = await Promise.all(codes.map(async (code) => (await call("GET", `orders/${code}`)).body));
  assert.equal(
    answer.body.totalCents,
    orders.reduce((sum, order) => sum + (order.totalCents ?? 0), 0),
  );
  const [, second] = orders;
  assert.deepEqual(
    [second?.["customerEmail"], second?.["services"], second?.["template"]],
    ["p1@example.com", "Sign", { templateId: template, version: 1 }],
  );
  const [row] = await query<{ fields: { label: string | null; value?: string }[] }>(sql`
    SELECT signature_fields AS fields FROM orders WHERE customer_email = 'p1@example.com' ORDER BY id DESC LIMIT 1`);
  const values = row?.fields.flatMap(({ label, value }) => (value ? [[label, value]] : []));
  assert.deepEqual(values, [
    ["Unit", "Unit 1"],
    ["Pets", "On"],
  ]);
});

test("the same file sent twice is one bulk, and placing it repeatedly or concurrently places no row twice", async () => {
  const csv = people(12);
  const bulkId = await accepted(csv);
  assert.equal(await accepted(csv), bulkId);
  await Promise.all([1, 2, 3].map(() => place(bulkId)));
  assert.equal(new Set(await ordersOf(bulkId)).size, 12);
  assert.deepEqual(await placedOrders(), [12, 12]);
});

test("twenty concurrent callers share one run: each row is prepared once, not by each of them", async () => {
  const bulkId = randomUUID();
  let looks = 0;
  const query = async ({ text }: { text: string }) => {
    if (text.includes("FROM bulks b")) return [{ bulkId, templateId: template, version: 1, waiting: 0 }];
    looks++;
    return [];
  };
  const deps = { orders: { db: { query } } } as unknown as BulkDeps;
  const principal = { partnerId: partner.partnerId, environment: "test" } as Principal;
  const ask = () => Promise.all(Array.from({ length: 20 }, () => placeRows(deps, principal, bulkId)));
  assert.equal((await ask()).length, 20);
  assert.equal(looks, 1);
  await ask();
  assert.equal(looks, 2, "who asks later is not answered by work that has ended");
  const charge = { cents: 2_400, methodId: randomUUID() };
  const [first, joined, agreed] = await Promise.allSettled(
    [null, null, charge].map((shown) => placeRows(deps, principal, bulkId, shown)),
  );
  assert.deepEqual([first?.status, joined?.status], ["fulfilled", "fulfilled"]);
  assert.match(String(agreed?.status === "rejected" && agreed.reason), /another charge or none/);
  assert.equal(looks, 3);
});

test("a service that is killed in between continues from the same row", async () => {
  const bulkId = await accepted(people(40));
  const placing = call("POST", `bulk/${bulkId}/place`).catch(() => null);
  await new Promise((resolve) => setTimeout(resolve, 300));
  await service.kill();
  await placing;
  service = await service.restart();
  let [waiting] = await place(bulkId);
  while (waiting !== 0) [waiting] = await place(bulkId);
  assert.deepEqual(await placedOrders(), [40, 40]);
});

test("when a row is refused nothing is stored, and the answer names rows and rules", async () => {
  const rows = [
    "Jane,jane@example.com,1,,",
    "Sam,sam,2,,",
    ",ann@example.com,3,,",
    "Jane,jane@example.com,1,,",
    `Max,max@example.com,${"u".repeat(201)},,`,
  ];
  const { status, body } = await call("POST", "bulk", form([head, ...rows].join("\n")));
  assert.deepEqual([status, body.bulkId, body.totalCents], [200, null, null]);
  assert.deepEqual(
    body.errors.map(({ row, message }) => `${row}: ${message}`),
    [
      "2: roles.Tenant.email must be an email address.",
      "3: roles.Tenant.name is required.",
      "4: This row says the same as row 1.",
      "5: values.Unit must be text of at most 200 characters.",
    ],
  );
});

test("failed rows name their reason, and only a retry tries them again", async () => {
  const bulkId = await accepted(people(2));
  await call("POST", `templates/${template}/archive`);
  assert.deepEqual(await place(bulkId), [0, 0, 2, 0]);
  const { body } = await call("GET", `bulk/${bulkId}/rows`);
  const reason = "template is archived: it places no orders.";
  assert.deepEqual(body.rows[0], { row: 1, state: "failed", reason, orderCode: null });
  await call("POST", `templates/${template}/restore`);
  assert.deepEqual(await place(bulkId), [0, 0, 2, 0]);
  assert.deepEqual(states(await call("POST", `bulk/${bulkId}/retry`)), [2, 0, 0, 0]);
  assert.deepEqual(await place(bulkId), [0, 2, 0, 0]);
});

test("a canceled bulk deletes its people's data, and so does a bulk that nobody placed in 30 days", async () => {
  const kept = async (bulkId: string) =>
    (await query<{ n: number }>(sql`SELECT count(content)::int AS n FROM bulk_rows WHERE bulk_id = ${bulkId}`))[0]?.n;
  const canceled = people(2);
  const [first, second] = [await accepted(canceled), await accepted(people(2))];
  assert.deepEqual(states(await call("POST", `bulk/${first}/cancel`)), [0, 0, 0, 2]);
  assert.deepEqual(await place(first), [0, 0, 0, 2]);
  assert.deepEqual([await kept(first), await kept(second)], [0, 2]);
  const db = databaseOfRunning(folder.path);
  await sweepBulks(db, new Date(Date.now() + 31 * 24 * 3_600_000));
  await db.close();
  assert.equal(await kept(second), 0);
  // The first bulk is canceled, so a new upload of its file creates a new bulk. Three concurrent uploads create only
  // one.
  const again = await Promise.all([1, 2, 3].map(() => accepted(canceled)));
  assert.equal(new Set([first, ...again]).size, 2);
  assert.deepEqual(await place(again[0] ?? ""), [0, 2, 0, 0]);
  assert.deepEqual(states(await call("GET", `bulk/${first}`)), [0, 0, 0, 2]);
  assert.equal(await accepted(canceled), again[0], "with orders, the bulk stays");
});

test("rows are listed page by page", async () => {
  const bulkId = await accepted(people(5));
  const seen: number[] = [];
  for (let cursor: string | null = "0"; cursor !== null; ) {
    const { body }: { body: Body } = await call("GET", `bulk/${bulkId}/rows?limit=2&cursor=${cursor}`);
    seen.push(...body.rows.map(({ row }) => row));
    cursor = body.nextCursor;
  }
  assert.deepEqual(seen, [1, 2, 3, 4, 5]);
  assert.equal((await call("GET", `bulk/${bulkId}/rows?cursor=x`)).status, 400);
});

test("another firm's bulk looks like an unknown one, and one that was moved to it in the database places nothing", async () => {
  const bulkId = await accepted(people(1));
  const routes = [
    ["GET", ""],
    ["GET", "/rows"],
    ["POST", "/place"],
    ["POST", "/retry"],
    ["POST", "/cancel"],
  ] as const;
  for (const [method, path] of routes) {
    const { status, body } = await call(method, `bulk/${bulkId}${path}`, undefined, other.headers);
    assert.deepEqual([status, body.error], [404, "Bulk not found."], path);
  }
  await query(sql`UPDATE bulks SET partner_id = ${other.partnerId} WHERE id = ${bulkId}`);
  assert.equal((await call("POST", `bulk/${bulkId}/place`, undefined, other.headers)).status, 503);
  assert.deepEqual(await placedOrders(), [0, 0]);
});

test("a placed row is not placed again by an attacker with database access", async () => {
  const bulkId = await accepted(people(1));
  const [kept] = await query<{ content: Buffer }>(sql`SELECT content FROM bulk_rows WHERE bulk_id = ${bulkId}`);
  assert.deepEqual(await place(bulkId), [0, 1, 0, 0]);
  const is = sql`bulk_id = ${bulkId}`;
  for (const attack of [
    sql`UPDATE bulk_rows SET state = 'waiting', content = ${kept?.content} WHERE ${is}`,
    sql`DELETE FROM bulk_rows WHERE ${is}`,
    sql`UPDATE bulk_rows SET id = gen_random_uuid() WHERE ${is}`,
    sql`UPDATE bulk_rows SET n = 2 WHERE ${is}`,
  ])
    await assert.rejects(query(attack), /append-only|permission denied/, attack.text);
  assert.deepEqual(await place(bulkId), [0, 1, 0, 0]);
  assert.deepEqual(await placedOrders(), [1, 1]);
});

describe("refuses", () => {
  const row = "Jane,jane@example.com";
  const unknown = "0b5f7d1e-8a2c-4c55-9a57-3d1f0f6a2b10";
  const columns = "Tenant.name,Tenant.email";
  const cases: Record<string, [FormData, string]> = {
    "a form without a file": [
      orderForm({ template, byod_confirmed: "true" }, null),
      "file is required: the list of people as CSV.",
    ],
    "an unknown template": [
      form("x", { template: unknown }),
      "template is not one of your templates in this environment.",
    ],
    "an unknown field": [form("x", { svc_sing: "on" }), "svc_sing is not a field of a bulk."],
    "fields that the template decides": [form("x", { signers: "[]" }), "signers is not a field of a bulk."],
    "a file without rows": [form(`${columns}\n\n`), "file must have a line of columns, and at least one row."],
    "a file of another encoding": [form(Uint8Array.of(0xff, 0xfe, 0x41)), "file must be UTF-8 text."],
    "a file without a role's column": [form("Tenant.name\nJane"), "file must have the column Tenant.email."],
    "an unknown column": [
      form(`${columns},Rent\n${row},1`),
      "file has the column Rent, which is not a field of an order, and neither Role.email nor values.Label of the template.",
    ],
    "a column twice": [
      form(`${columns},email,email\n${row},,`),
      "file must name each column once: email is there twice.",
    ],
    "too few cells": [form(`${columns}\n${row}\nJane`), "file, line 3: there must be 2 cells, as columns, not 1."],
    "an open quote": [form(`${columns}\n"Jane,x`), "file, line 2: a quoted cell has no closing quote."],
    "text after a quote": [
      form(`${columns}\n"Jane"x,y`),
      "file, line 2: after a closing quote there must be a comma or the line's end.",
    ],
    "control characters": [form(`${columns}\nJa\u0007ne,x`), "file, line 2: a cell must have no control characters."],
    "too many rows": [form(`${columns}\n${`${row}\n`.repeat(5001)}`), "file must have at most 5,000 rows."],
  };
  for (const [name, [body, message]] of Object.entries(cases))
    test(name, async () => {
      const { status, body: said } = await call("POST", "bulk", body);
      assert.deepEqual([status, said.error], [400, message]);
    });
});

test("a file is read by RFC 4180: quotes, commas and line breaks in cells, and a byte order mark", () => {
  const read = (text: string) => readCsv(Buffer.from(text));
  const { columns, rows } = read('\uFEFFa,"b c"\r\n"x, ""y""","1\n2"\r\n\r\nlast,\r\n');
  assert.deepEqual(columns, ["a", "b c"]);
  assert.deepEqual(
    rows.map(({ cells }) => [...cells]),
    [
      ['x, "y"', "1\n2"],
      ["last", ""],
    ],
  );
  assert.deepEqual(read("a,b\n1,").rows[0]?.cells, ["1", ""]);
});

test("five thousand rows are checked within ten seconds, in one request", async () => {
  const begun = performance.now();
  await accepted(people(5000));
  assert.ok(performance.now() - begun < 10_000, `${Math.round(performance.now() - begun)} ms`);
});
