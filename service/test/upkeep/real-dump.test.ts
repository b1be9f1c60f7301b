import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { newClient } from "@signsealship/testing/client";
import { startEasyPost } from "@signsealship/testing/doubles/easypost";
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
import { isSealed, sql } from "../../src/kernel/platform/database/sql.ts";
import { openSealedTexts } from "../../src/kernel/platform/sealed-text.ts";
import { openSecretsKey } from "../../src/kernel/platform/secrets.ts";
import { addNotary } from "../../src/signing/notaries/notaries.ts";
import { postForm } from "../firms/members/signed-in-member.ts";
import { newOperator } from "../firms/operators/console-people.ts";
import { holds, openedBy, tokensIn } from "./dump.ts";

const { test, before, after } = testsNeeding("postgresql");

// Somebody has a file of pg_dump of a busy database, and neither the keys nor the blobs.
const folder = temporaryFolder();
let servers: PostgresPair;
let service: Service;
let db: Database;
const doubles = { stripe: startStripe(), easypost: startEasyPost(), telnyx: startTelnyx() };
/** Keys, codes, links and tokens that open something by themselves, by name. */
const secrets: Record<string, string> = {};
let orderCode = "";

before(async () => {
  // PostgreSQL's user passes through.
  execFileSync("chmod", ["755", folder.path]);
  servers = await startPostgresPair(join(folder.path, "servers"));
  const [stripe, easypost, telnyx] = await Promise.all([doubles.stripe, doubles.easypost, doubles.telnyx]);
  const databaseUrl = `postgres://signsealship_owner@127.0.0.1:${servers.primary.port}/signsealship`;
  const dataDir = join(folder.path, "var");
  service = await startService({
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    RATE_LIMITS: "off",
    STRIPE_SECRET_KEY: "sk_live_double",
    STRIPE_WEBHOOK_SECRET: stripe.webhookSecret,
    STRIPE_API_BASE: stripe.url,
    EASYPOST_API_KEY: easypost.apiKey,
    EASYPOST_API_BASE: easypost.url,
    EASYPOST_WEBHOOK_SECRET: easypost.webhookSecret,
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

/** A firm whose orders go through signing, a notary, shipping and fax, and into a room that is sealed. */
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

/** A signer who was mailed a link and a code, and has entered none. */
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
    ...{ commissionName: "Nora Ames", state: "OH", county: "Franklin", commissionNumber: "1" },
    ...{ commissionExpires: "2040-01-31", status: "active" },
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

/** Live orders, paid by a card: a parcel that was delivered, and a fax. */
async function shippedAndFaxed(key: string): Promise<void> {
  const { stripe, easypost, telnyx } = {
    stripe: await doubles.stripe,
    easypost: await doubles.easypost,
    telnyx: await doubles.telnyx,
  };
  const firm = newClient(service.baseUrl, key, (status) => status < 300);
  const paid = async (fields: Record<string, string>) => {
    const form = orderForm({ ...minimal, create_checkout: "true", ...fields }, makePdf({ text: "Deed" }));
    type Placed = { orderCode: string; checkoutUrl: string };
    const placed = await firm.ok<Placed>("POST", "/api/partner/orders", form);
    await stripe.deliver(service.baseUrl, stripe.pay(placed.checkoutUrl.split("/").at(-1) ?? ""));
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
  const faxTo = "+12125550142";
  const faxed = await paid({ fax_to: faxTo });
  const fax = await until(() => telnyx.faxes.find(({ to }) => to === faxTo));
  await become(faxed, "FaxSent");
  await telnyx.deliver(service.baseUrl, telnyx.move(fax, "delivered", { page_count: 2 }));
  await until(async () => ["FaxDelivered", "Completed"].includes((await statusOf(faxed)) ?? ""));
  Object.assign(secrets, { "a shipped order": parcel, "a faxed order": faxed });
}

async function dumped(): Promise<string> {
  const url = servers.primary.url.replace(/postgres$/, "signsealship");
  const program = postgresProgram("pg_dump") ?? "";
  const { stdout } = await promisify(execFile)(program, ["--data-only", url], { maxBuffer: 256 << 20 });
  return stdout;
}

test("a file of pg_dump holds no key, code, link or token of orders that were signed, notarized, shipped, faxed and closed", async () => {
  const dump = await dumped();
  for (const table of [
    "orders",
    "labels",
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

test("nothing that a file of pg_dump holds opens a public route or stands for a key", async () => {
  const tokens = tokensIn([await dumped()]);
  assert.ok(tokens.size > 300, `${tokens.size} tokens`);
  assert.deepEqual(await openedBy(service.baseUrl, tokens, orderCode), []);
});
