import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { newClient } from "@signsealship/testing/client";
import { startEasyPost } from "@signsealship/testing/doubles/easypost";
import { startLob } from "@signsealship/testing/doubles/lob";
import { startStripe } from "@signsealship/testing/doubles/stripe";
import { startTelnyx } from "@signsealship/testing/doubles/telnyx";
import { minimal, orderForm, shipping } from "@signsealship/testing/inputs/order-form";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { rowMacOf } from "@signsealship/testing/row-mac";
import { type Service, startService } from "@signsealship/testing/service";
import { temporaryFolder } from "@signsealship/testing/temporary-folder";
import { type PostgresPair, postgresProgram, startPostgresPair } from "@signsealship/testing/tools/postgresql";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { type Database, openDatabase } from "../../src/kernel/platform/database/database.ts";
import { isSealed, type Statement, sql } from "../../src/kernel/platform/database/sql.ts";
import { type MacRow, type MacTable, macColumn } from "../../src/kernel/platform/protected-data.ts";
import type { RowMac } from "../../src/kernel/platform/row-mac.ts";
import { openSealedTexts } from "../../src/kernel/platform/sealed-text.ts";
import { openSecretsKey } from "../../src/kernel/platform/secrets.ts";
import { addNotary } from "../../src/signing/notaries/notaries.ts";
import { rowsWhole } from "../../src/upkeep/doctor/records.ts";
import { macTables } from "../../src/upkeep/protected-data.ts";
import { postForm } from "../firms/members/signed-in-member.ts";
import { newOperator } from "../firms/operators/console-people.ts";
import { holds, openedBy, tokensIn } from "./dump.ts";

const { test, before, after } = testsNeeding("postgresql");

// An attacker has a pg_dump file of a busy database, but neither the keys nor the blobs.
const folder = temporaryFolder();
let servers: PostgresPair;
let service: Service;
let db: Database;
const doubles = { stripe: startStripe(), easypost: startEasyPost(), lob: startLob(), telnyx: startTelnyx() };
/** API keys, codes, links and tokens that grant access by themselves, by name. */
const secrets: Record<string, string> = {};
let orderCode = "";

before(async () => {
  // PostgreSQL runs as another user, who needs access to the folder.
  execFileSync("chmod", ["755", folder.path]);
  servers = await startPostgresPair(join(folder.path, "servers"));
  const { stripe, easypost, lob, telnyx } = await carriers();
  const databaseUrl = `postgres://signsealship_owner@127.0.0.1:${servers.primary.port}/signsealship`;
  const dataDir = join(folder.path, "var");
  service = await startService({
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    RATE_LIMITS: "off",
    ...stripe.settings("live"),
    EASYPOST_API_KEY: easypost.apiKey,
    EASYPOST_API_BASE: easypost.url,
    EASYPOST_WEBHOOK_SECRET: easypost.webhookSecret,
    LOB_API_KEY: lob.apiKey,
    LOB_API_BASE: lob.apiBase,
    LOB_WEBHOOK_SECRET: lob.webhookSecret,
    TELNYX_API_KEY: telnyx.apiKey,
    TELNYX_API_BASE: telnyx.url,
    TELNYX_PUBLIC_KEY: telnyx.publicKey,
    TELNYX_FAX_APP: "1234567890",
    TELNYX_FAX_FROM: "+13125550100",
  });
  db = openDatabase({ connectionString: databaseUrl }, () => {}, { poolSize: 2 });
  db.useSealedTexts(openSealedTexts(await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`)));
  db.useRowMac(await rowMacOf(dataDir));
  await busyFirm();
});
after(async () => {
  await db.close();
  await service.stop();
  await servers.stop();
  for (const double of Object.values(doubles)) await (await double).close();
  folder.remove();
});

const carriers = async () => ({
  stripe: await doubles.stripe,
  easypost: await doubles.easypost,
  lob: await doubles.lob,
  telnyx: await doubles.telnyx,
});

const statusOf = async (code: string) =>
  (await db.query<{ status: string }>(sql`SELECT status FROM orders WHERE ${isSealed(sql`code`, "order", code)}`))[0]
    ?.status;
const become = (code: string, status: string) => until(async () => (await statusOf(code)) === status);

function mailsTo(email: string): string[] {
  const outbox = join(service.dataDir, "outbox");
  const files = existsSync(outbox) ? readdirSync(outbox).filter((name) => name.endsWith(".eml")) : [];
  return files
    .map((name) => readFileSync(join(outbox, name), "utf8").replaceAll("=\r\n", "").replaceAll("=3D", "="))
    .filter((mail) => mail.includes(`To: ${email}`));
}

const foundIn = (email: string, pattern: RegExp): Promise<string> =>
  until(() => mailsTo(email).flatMap((mail) => pattern.exec(mail)?.[1] ?? [])[0]);

/** A firm whose orders include signing, a notary, shipping and fax. One of them is in a sealed room. */
async function busyFirm(): Promise<void> {
  const { partnerId = "" } = await service.cli<Record<string, string>>(
    "partner",
    "create",
    "Acme",
    "--tier",
    "ClosingDesk",
  );
  const keyOf = async (...options: string[]) =>
    (await service.cli<Record<string, string>>("key", "issue", partnerId, ...options))["key"] ?? "";
  const [live, trial] = [await keyOf(), await keyOf("--test")];
  Object.assign(secrets, { "a live key": live, "a test key": trial });
  const firm = newClient(service.baseUrl, trial, (status) => status < 300);
  await firm.ok("POST", "/api/partner/webhooks", { url: "https://receiver.example/all", topics: ["order.created"] });
  const room = await firm.ok<{ roomCode: string }>("POST", "/api/rooms", { name: "12 Elm Street" });
  const place = async (fields: Record<string, string>) => {
    const form = orderForm({ ...minimal, name: "Jane Doe", ...fields }, makePdf({ text: "Deed" }));
    return (await firm.ok<{ orderCode: string }>("POST", "/api/partner/orders", form)).orderCode;
  };
  const all = { ...shipping, svc_sign: "true", svc_notary: "true", fax_to: "+12125550199" };
  orderCode = await place(all);
  for (let n = 0; n < 20 && (await statusOf(orderCode)) !== "Completed"; n++)
    await firm.ok("POST", `/api/partner/sandbox/orders/${orderCode}/advance`);
  assert.equal(await statusOf(orderCode), "Completed");
  await firm.ok("POST", `/api/rooms/${room.roomCode}/orders`, { orderCode });
  const closing = await firm.ok<{ verifyCode: string }>("POST", `/api/rooms/${room.roomCode}/passport`);
  Object.assign(secrets, { "a room": room.roomCode, "an order": orderCode, "a closing passport": closing.verifyCode });
  await signedHalfway(firm, place);
  await atTheNotary(await place({ svc_notary: "true", email: "client@notary.example" }), firm);
  await shippedAndFaxed(live);
  const { url = "" } = await service.cli<Record<string, string>>("operator", "link");
  secrets["an operator's link"] = url.split("/").at(-1) ?? "";
  await until(
    async () => (await db.query(sql`SELECT FROM jobs WHERE failed_at IS NULL AND due_at <= now()`)).length === 0,
  );
}

type Firm = ReturnType<typeof newClient>;
type Place = (fields: Record<string, string>) => Promise<string>;

/** A signer who was mailed a link and a code, and has not entered the code. */
async function signedHalfway(firm: Firm, place: Place): Promise<void> {
  const email = "jane@signer.example";
  const signers = JSON.stringify([{ name: "Jane", email, auth: "mail_code" }]);
  const code = await place({ svc_sign: "true", signers });
  await firm.ok("POST", `/api/partner/sandbox/orders/${code}/checkout`);
  const token = await foundIn(email, /\/sign\/([0-9a-f]{40})/);
  const asked = await postForm(`${service.baseUrl}/sign/${token}/code`, {}, { Accept: "text/html" });
  assert.equal(asked.status, 303);
  Object.assign(secrets, { "a signing link": token, "a way in": await foundIn(email, /\/enter\/([0-9a-f]{40})/) });
}

/** An order that a notary has claimed, with an appointment that was mailed. */
async function atTheNotary(code: string, firm: Firm): Promise<void> {
  await firm.ok("POST", `/api/partner/sandbox/orders/${code}/checkout`);
  await become(code, "NotarizationPending");
  const writer = { db, rowMac: await rowMacOf(service.dataDir) };
  const nora = await newOperator(writer, { roles: ["notary"], environment: "test", passkey: false });
  const commission = {
    commissionName: "Nora Ames",
    state: "OH",
    county: "Franklin",
    commissionNumber: "1",
    commissionExpires: "2040-01-31",
    status: "active",
  };
  await addNotary({ db, clock: () => new Date() }, nora.id, commission, "operator");
  const [task] = await db.query<{ id: number }>(sql`
    SELECT t.id FROM tasks t JOIN orders o ON o.id = t.order_id WHERE ${isSealed(sql`o.code`, "order", code)}`);
  const post = (path: string, fields: Record<string, string>) =>
    postForm(`${service.baseUrl}/operator/notary/${path}`, fields, { cookie: nora.cookie, Accept: "text/html" });
  assert.equal((await post(`tasks/${task?.id}/claim`, {})).status, 303);
  const mailed = await post(`orders/${code}/appointment`, { url: "https://meet.example/room-of-nora" });
  assert.equal(mailed.status, 303, await mailed.text());
  Object.assign(secrets, { "a notary's order": code, "a session": nora.cookie.split("=").at(-1) ?? "" });
}

/** Live orders paid by card: a delivered parcel, a delivered letter, and a fax. */
async function shippedAndFaxed(key: string): Promise<void> {
  const { stripe, easypost, lob, telnyx } = await carriers();
  const firm = newClient(service.baseUrl, key, (status) => status < 300);
  const paid = async (fields: Record<string, string>) => {
    const form = orderForm({ ...minimal, create_checkout: "true", ...fields }, makePdf({ text: "Deed" }));
    type Placed = { orderCode: string; checkoutUrl: string };
    const placed = await firm.ok<Placed>("POST", "/api/partner/orders", form);
    await stripe.deliver(service.baseUrl, stripe.pay(stripe.sessionOf(placed.checkoutUrl)));
    return placed.orderCode;
  };
  const parcel = await paid({ ...shipping, email: "client@parcel.example" });
  await become(parcel, "ShippingPending");
  const label = await until(async () => {
    const [row] = await db.query<{ trackerId: string }>(sql`
      SELECT tracker_id AS "trackerId" FROM labels WHERE state = 'bought' AND file_sha256 IS NOT NULL`);
    return row;
  });
  for (const status of ["in_transit", "delivered"])
    await easypost.deliver(service.baseUrl, easypost.event(easypost.track(label.trackerId, status, {})), {});
  await until(async () => ["Delivered", "Completed"].includes((await statusOf(parcel)) ?? ""));
  const printed = await paid({ ...shipping, ship_method: "print_mail", email: "client@letter.example" });
  const letter = await until(() => [...lob.letters.values()][0]);
  await until(async () => (await db.query(sql`SELECT FROM letters`)).length === 1);
  for (const what of ["mailed", "delivered"] as const)
    await lob.deliver(service.baseUrl, lob.happens(letter.id, `letter.certified.${what}`));
  await until(async () => ["Delivered", "Completed"].includes((await statusOf(printed)) ?? ""));
  const faxTo = "+12125550142";
  const faxed = await paid({ fax_to: faxTo });
  const fax = await until(() => telnyx.faxes.find(({ to }) => to === faxTo));
  await become(faxed, "FaxSent");
  await telnyx.deliver(service.baseUrl, telnyx.move(fax, "delivered", { page_count: 2 }));
  await until(async () => ["FaxDelivered", "Completed"].includes((await statusOf(faxed)) ?? ""));
  Object.assign(secrets, { "a shipped order": parcel, "a printed order": printed, "a faxed order": faxed });
}

async function dumped(): Promise<string> {
  const url = servers.primary.url.replace(/postgres$/, "signsealship");
  const program = postgresProgram("pg_dump") ?? "";
  const { stdout } = await promisify(execFile)(program, ["--data-only", url], { maxBuffer: 256 << 20 });
  return stdout;
}

test("a file of pg_dump contains no key, code, link or token of orders that were signed, notarized, shipped, faxed and closed", async () => {
  const dump = await dumped();
  for (const table of [
    "orders",
    "labels",
    "letters",
    "fax_attempts",
    "faxes",
    "notary_drafts",
    "closing_passports",
    "provider_calls",
  ])
    assert.match(dump, new RegExp(`^COPY \\w+\\.${table} \\(.*\\n(?!\\\\\\.)`, "m"), `${table} has rows`);
  assert.equal(Object.values(secrets).filter((secret) => secret.length < 20).length, 0, JSON.stringify(secrets));
  const found = Object.entries(secrets).filter(([, secret]) => holds(dump, secret));
  assert.deepEqual(found, []);
  assert.ok(!dump.includes("%PDF-") && !dump.includes(Buffer.from("%PDF-").toString("hex")), "no document either");
});

test("nothing in a file of pg_dump opens a public route or works as a key", async () => {
  const tokens = tokensIn([await dumped()]);
  assert.ok(tokens.size > 300, `${tokens.size} tokens`);
  assert.deepEqual(await openedBy(service.baseUrl, tokens, orderCode), []);
});

test("doctor accepts each row of them", async () => {
  assert.match(
    await rowsWhole({ db, rowMac: await rowMacOf(service.dataDir) }),
    /^\d+ rows, each as the service wrote it$/,
  );
});

/** For each column type: an expression for a value that differs from the column's present value. */
const others: Readonly<Record<string, (column: Statement) => Statement>> = {
  text: (c) => sql`coalesce(${c}, '') || 'x'`,
  bytea: (c) => sql`coalesce(${c}, '') || '\\x00'::bytea`,
  integer: (c) => sql`coalesce(${c}, 0) + 1`,
  bigint: (c) => sql`coalesce(${c}, 0) + 1`,
  boolean: (c) => sql`NOT coalesce(${c}, false)`,
  uuid: () => sql`gen_random_uuid()`,
  date: (c) => sql`coalesce(${c}, '2026-01-01') + 1`,
  jsonb: (c) => sql`jsonb_build_array(${c})`,
  ARRAY: (c) => sql`array_append(${c}, 'x')`,
  "timestamp with time zone": (c) => sql`coalesce(${c}, '2026-01-01') + interval '1 day'`,
};

const named = (name: string): Statement => sql(Object.assign([name], { raw: [name] }));

class Undone extends Error {}

/** The columns of a table that can change while the row's MAC stays valid, and the number of columns tried. */
async function uncoveredColumns(table: MacTable, rowMac: RowMac): Promise<{ tried: number; uncovered: string[] }> {
  const name = table.table.text;
  const [row] = await db.query<MacRow<object>>(sql`${table.rows} LIMIT 1`);
  const facts = row && table.members(row);
  if (!row || !facts || !rowMac.holds(name, facts, row.mac)) return { tried: 0, uncovered: [] };
  const columns = await db.query<{ column: string; type: string }>(sql`
    SELECT column_name AS column, data_type AS type FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = ${name} AND is_generated = 'NEVER' ORDER BY ordinal_position`);
  const uncovered: string[] = [];
  let tried = 0;
  for (const { column, type } of columns) {
    const other = others[type];
    if (column === macColumn(table).text || column === table.key.text || !other) continue;
    await db
      .transaction(async (tx) => {
        await tx.script(`ALTER TABLE ${name} DISABLE TRIGGER USER`);
        await tx.query(
          sql`UPDATE ${table.table} SET ${named(column)} = ${other(named(column))} WHERE ${table.key} = ${row.key}`,
        );
        const [now] = await tx.query<MacRow<object>>(
          sql`${table.rows} WHERE ${table.keyInRows ?? table.key} = ${row.key}`,
        );
        tried++;
        const after = now && table.members(now);
        if (now && after && rowMac.holds(name, after, now.mac)) uncovered.push(column);
        throw new Undone();
      })
      .catch((error: Error) => {
        // A constraint may reject the value. The database then protects the column itself.
        if (!(error instanceof Undone) && !/constraint|identity|generated/.test(error.message)) throw error;
      });
  }
  return { tried, uncovered };
}

/**
 * By table: the columns that can change while the row's MAC stays valid. Each is harmless, or is protected in another
 * way.
 */
const uncoveredByDesign: Readonly<Record<string, string>> = {
  // A hash or a second MAC covers these columns, and the row's MAC covers that hash or MAC.
  audit_log: "occurred_at action actor order_id from_status to_status detail",
  closing_passports: "manifest bytes",
  envelope_events: "record",
  orders: `status status_before_hold sign notarize ship fax envelope_status external_reference customer_email customer_name doc_slug
    signer_state dest_state ship_method ship_to ship_from fax_to lines updated_at carrier_rate state_version taken_in signers
    signature_fields row_mac document_name document_notices code_start created_at pay_by`,
  // A row of `revocations`, with its own MAC, records a revocation. The other columns only affect displays.
  partner_keys: "revoked_at name last4 created_at last_used_at last_used_from",
  // `payload` and `result` are encrypted for their row. The others are counts and times that only affect displays and
  // delays.
  provider_calls:
    "payload result looks intended_at begun_at look_at away_since ended_at why request_sha256 answer_sha256",
  documents: "bytes pages created_at",
  envelopes: "verify_code remind_at",
  envelope_signers: "reminded_at codes_requested codes_of_day codes_day_at",
  events: "order_id",
  // The time of the next poll about a label; changing it only causes a delay.
  labels: "ask_at",
  // The time of the last batch; changing it only causes a delay.
  log_trees: "sequenced_at",
  notaries: "created_at updated_at",
  operators: "added_at",
  partners: "created_at view_version",
  rooms: "view_version",
  sessions: "device last_seen_at environment console_environment",
  // The return path is restricted to our own paths when it is used.
  sign_in_links: "return_to created_at mailed proven",
  webhooks: "active created_at deleted_at failures failing_since alerted_at mailed_at exchanges_dropped_to",
};

test("each column of a row with a MAC is covered, or is listed here", async () => {
  const rowMac = await rowMacOf(service.dataDir);
  const unexpected: string[] = [];
  let tries = 0;
  for (const table of macTables) {
    const { tried, uncovered } = await uncoveredColumns(table, rowMac);
    tries += tried;
    const named = uncoveredByDesign[table.table.text]?.split(/\s+/) ?? [];
    unexpected.push(
      ...uncovered.filter((column) => !named.includes(column)).map((one) => `${table.table.text}.${one}`),
    );
  }
  assert.deepEqual(unexpected, []);
  assert.ok(tries > 200, `${tries} tries`);
});
