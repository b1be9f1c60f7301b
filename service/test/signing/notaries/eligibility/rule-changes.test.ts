import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { minimal, orderForm } from "@signsealship/testing/inputs/order-form";
import { runCli } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { type Statement, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { rulesInForce } from "../../../../src/signing/notaries/eligibility/changes/in-force.ts";
import { loadNotaryRules } from "../../../../src/signing/notaries/eligibility/rules.ts";
import { addNotary } from "../../../../src/signing/notaries/notaries.ts";
import { postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { openLiveService } from "../../../orders/fulfilment/live-service.ts";
import { type NotarySoftware, openNotarySoftware } from "../signing/notary-software.ts";

const { test, before, after } = testsNeeding("pyhanko");

const shipped = loadNotaryRules(fileURLToPath(new URL("../../../../data/notarization-rules.yaml", import.meta.url)));

type Person = Awaited<ReturnType<typeof newOperator>>;

let running: Awaited<ReturnType<typeof openLiveService>>;
let software: NotarySoftware;
let ann: Person;
let ben: Person;

before(async () => {
  [running, software] = await Promise.all([
    openLiveService({}),
    openNotarySoftware({ Nora: ["2020-01-01", "2045-01-01"] }),
  ]);
  [ann, ben] = await Promise.all([
    newOperator(running.harness, { roles: ["admin"], name: "Ann Admin" }),
    newOperator(running.harness, { roles: ["admin"], name: "Ben Admin" }),
  ]);
  const { id } = await newOperator(running.harness, { roles: ["notary"], passkey: false });
  const commission = {
    commissionName: "Wyoming Nora",
    state: "WY",
    county: "Laramie",
    commissionNumber: "2024-1",
    commissionExpires: "2040-01-31",
    ronRegistration: "RON-77",
    ronExpires: "2040-01-31",
    status: "active",
    certificate: software.certificates["Nora"] ?? "",
  };
  await addNotary({ db: running.db, clock: () => new Date() }, id, commission, "operator");
});
after(async () => {
  software.close();
  await running.close();
});

const day = (later = 0) => new Date(Date.now() + later * 86_400_000).toISOString().slice(0, 10);
const change = (more: Record<string, string> = {}) => ({
  mode_ron: "on",
  mode_ink: "on",
  act_acknowledgment: "on",
  act_jurat: "on",
  term_identity: "Personal knowledge.",
  source_url: "https://law.example/statute/1",
  read_on: day(),
  effective_on: day(),
  ...more,
});
const post = (path: string, { cookie }: Person, fields: Record<string, string> = {}) =>
  postForm(`${running.url()}/operator/notaries/rules/${path}`, fields, { cookie, Accept: "text/html" });
const look = async (path = "", { cookie }: Person = ann) =>
  (await fetch(`${running.url()}/operator/notaries${path}`, { headers: { cookie } })).text();
const alertIn = async (answer: Response) => /role="alert"[^>]*>.*?<p>(.*?)<\/p>/s.exec(await answer.text())?.[1] ?? "";

async function openId(state: string): Promise<string> {
  const [row] = await running.db.query<{ id: string }>(sql`
    SELECT id FROM notary_rule_versions WHERE state = ${state} ORDER BY version DESC LIMIT 1`);
  return row?.id ?? "";
}

/**
 * Requests a change of a US state's rules. @returns the path below which the change is confirmed, refused or withdrawn
 */
async function requested(state: string, fields: Record<string, string> = {}, by = ann): Promise<string> {
  const answer = await post(state, by, change(fields));
  assert.equal(answer.status, 303, await answer.text());
  return `${state}/${await openId(state)}`;
}

async function confirmed(state: string, fields: Record<string, string> = {}): Promise<void> {
  assert.equal((await post(`${await requested(state, fields)}/confirm`, ben)).status, 303);
}

const linesOf = async (state: string) =>
  running.db.query<{ action: string; actor: string }>(sql`
    SELECT action, actor FROM audit_log WHERE action LIKE 'notary_rules.%' AND detail ->> 'state' = ${state} ORDER BY id`);

async function quoted(): Promise<string> {
  const body = orderForm({ ...minimal, svc_notary: "true", signer_state: "FL" });
  const answer = await fetch(`${running.url()}/api/partner/orders`, { method: "POST", headers: running.headers, body });
  return ((await answer.json()) as { status: string }).status;
}

/** The result of the check "online notarization" by `doctor`, which runs in another process on the same database. */
async function elsewhere(): Promise<string | undefined> {
  const { stdout } = await runCli({ DATA_DIR: running.harness.service.dataDir }, "doctor", "--json");
  const { checks } = JSON.parse(stdout) as { checks: { name: string; result: string; detail: string }[] };
  return checks.find(({ name }) => name === "online notarization")?.result;
}

const attack = (statement: Statement) =>
  running.db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    await tx.query(statement);
  });

test("unchanged rules are shown as shipped, with the day and the source; states without known rules are named", async () => {
  const page = await look();
  assert.match(page, />Florida<\/a>[\s\S]*?Shipped, read on 2026-\d\d-\d\d from Fla\. Stat\. 117\.201/);
  assert.match(page, /because nothing else is known:[\s\S]*>Wyoming<\/a>/);
  const state = await look("/rules/TX");
  assert.match(state, /As of 2026-\d\d-\d\d: 1 TAC 87\.70/);
  assert.match(state, /name="mode_ron" value="on" checked/);
  assert.match(state, /<textarea[^>]*name="term_retention"[^>]*>\s*5 years, with a backup\./);
});

test("a change applies once another administrator has confirmed it, on every node and without a restart", async () => {
  assert.equal(await quoted(), "ManualQuoteRequired");
  const path = await requested("WY");
  assert.equal(await quoted(), "ManualQuoteRequired");
  assert.equal(await elsewhere(), "warning");
  assert.match(await look(), />Wyoming<\/a>[\s\S]*?Shipped[\s\S]*?A change waits/);
  const { cookie } = ben;
  const today = await (await fetch(`${running.url()}/operator`, { headers: { cookie } })).text();
  assert.match(today, /Rules of states to confirm/);
  assert.match(await look("/rules/WY", ben), /What changes[\s\S]*by audio and video[\s\S]*law\.example/);
  assert.match(await alertIn(await post(`${path}/confirm`, ann)), /You asked for this change of rules yourself/);
  assert.equal(await quoted(), "ManualQuoteRequired");
  assert.equal((await post(`${path}/confirm`, ben)).status, 303);
  assert.equal(await quoted(), "QuoteReady");
  assert.equal(await elsewhere(), "ok");
  assert.match(await look("/rules/WY"), /Version 1, confirmed by Ben Admin/);
  assert.deepEqual(await linesOf("WY"), [
    { action: "notary_rules.requested", actor: `operator:${ann.id}` },
    { action: "notary_rules.confirmed", actor: `operator:${ben.id}` },
  ]);
  await confirmed("WY", { mode_ron: "" });
  assert.equal(await quoted(), "ManualQuoteRequired");
  assert.match(await look("/rules/WY"), /Version 2, confirmed by Ben Admin/);
});

test("a change for a later day applies from that day on, and none may begin before the present one", async () => {
  await confirmed("ID", { effective_on: day(1) });
  assert.match(await look("/rules/ID"), /Shipped, read on/);
  await confirmed("ID", { mode_ron: "", mode_ipen: "on" });
  assert.match(await look("/rules/ID"), /Version 2, confirmed by/);
  const early = await post("ID", ann, change({ effective_on: day(-1) }));
  assert.match(await alertIn(early), /effective_on must not be before .*, when the rules of now took effect/);
});

test("unchanged values keep their day and source: a confirmation is about what was read", async () => {
  const page = await look("/rules/VA");
  const fields: Record<string, string> = {};
  for (const [, name = "", value = ""] of page.matchAll(/<textarea[^>]*name="((?:term|online)_\w+)"[^>]*>\n([^<]*)</g))
    fields[name] = value;
  for (const [, name = "", value = ""] of page.matchAll(/<input[^>]*name="(online_\w+)"[^>]*value="([^"]*)"/g))
    fields[name] = value;
  for (const [, name = "", options = ""] of page.matchAll(/<select[^>]*name="(online_\w+)"[^>]*>([\s\S]*?)<\/select>/g))
    fields[name] = /value="([^"]*)" selected/.exec(options)?.[1] ?? "";
  for (const [, name = ""] of page.matchAll(/name="((?:mode|act|excluded)_\w+)" value="on" checked/g))
    fields[name] = "on";
  const source = { source_url: "https://counsel.example/letter", read_on: day(), effective_on: day() };
  assert.equal((await post("VA", ann, { ...fields, ...source })).status, 303);
  assert.match(await look("/rules/VA", ben), /It changes no value/);
  assert.equal((await post(`VA/${await openId("VA")}/confirm`, ben)).status, 303);
  const after = await look("/rules/VA");
  assert.match(after, /Version 1, confirmed by Ben Admin[\s\S]*counsel\.example/);
  assert.match(after, /As of 2026-\d\d-\d\d: Virginia HB 2064/);
});

test("all faults of a change are named at once, and nothing is written", async () => {
  const wrong = {
    act_oath: "on",
    source_url: "http://law.example",
    read_on: day(2),
    effective_on: "2026-02-31",
    term_identity: "x".repeat(1001),
    sentences_ron: "y".repeat(501),
  };
  const problem = await alertIn(await post("KS", ann, wrong));
  for (const rule of [
    /source_url must be an https address/,
    /read_on must not be after today/,
    /effective_on must be a day/,
    /modes must name at least one/,
    /term_identity must have at most 1000/,
    /sentences_ron must have lines of at most 500/,
  ])
    assert.match(problem, rule);
  assert.equal(await openId("KS"), "");
  assert.equal((await post("XX", ann, change())).status, 404);
  assert.equal((await post("wy", ann, change())).status, 404);
});

test("only an administrator with a passkey writes and decides; an auditor can only read", async () => {
  const path = await requested("MT");
  const auditor = await newOperator(running.harness, { roles: ["auditor"] });
  const bare = await newOperator(running.harness, { roles: ["admin"], passkey: false });
  for (const person of [auditor, bare]) {
    for (const target of ["MT", `${path}/confirm`, `${path}/refuse`, `${path}/withdraw`])
      assert.equal((await post(target, person, change({ note: "no" }))).status, 403, target);
  }
  assert.match(await look("/rules/MT", auditor), /An administrator confirms it/);
  assert.equal((await post(`${path}/withdraw`, ben)).status, 409);
  assert.match(await alertIn(await post(`${path}/refuse`, ann, { note: "no" })), /Withdraw the request instead/);
  assert.match(await alertIn(await post(`${path}/refuse`, ben, { note: " " })), /note must have 1 to 500/);
  assert.equal((await post(`${path}/refuse`, ben, { note: "Another statute." })).status, 303);
  assert.match(await look("/rules/MT"), /Refused[\s\S]*Another statute\./);
  assert.match(await alertIn(await post(`${path}/confirm`, ben)), /This change was refused before by Ben Admin/);
  const again = await requested("MT");
  assert.equal((await post(`${again}/withdraw`, ann)).status, 303);
  assert.match(await look("/rules/MT"), /Shipped, read on/);
});

test("of several people who write or confirm concurrently one succeeds; a change is decided only under its own state", async () => {
  const writes = await Promise.all([ann, ben, ann, ben].map((person) => post("ND", person, change())));
  assert.deepEqual(writes.map(({ status }) => status).sort(), [303, 409, 409, 409]);
  const id = await openId("ND");
  assert.equal((await post(`SD/${id}/confirm`, ben)).status, 404);
  const [row] = await running.db.query<{ by: string }>(
    sql`SELECT requested_by AS by FROM notary_rule_versions WHERE id = ${id}`,
  );
  const others = await Promise.all([1, 2, 3].map(() => newOperator(running.harness, { roles: ["admin"] })));
  const deciding = [...others, ...[ann, ben].filter((person) => person.id !== row?.by)];
  const answers = await Promise.all(deciding.map((person) => post(`ND/${id}/confirm`, person)));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [303, 409, 409, 409]);
  const lines = await linesOf("ND");
  assert.deepEqual(
    lines.map(({ action }) => action),
    ["notary_rules.requested", "notary_rules.confirmed"],
  );
});

test("a person whom an administrator gave that role within a day can't confirm yet", async () => {
  const path = await requested("AL");
  const fresh = await newOperator(running.harness, { roles: ["auditor"] });
  const roles = { name: "Fresh Admin", role_admin: "on" };
  const given = await postForm(`${running.url()}/operator/people/${fresh.id}/roles`, roles, { cookie: ann.cookie });
  assert.equal(given.status, 303, await given.text());
  const answer = await post(`${path}/confirm`, fresh);
  assert.match(await alertIn(answer), /An admin gave you this right within the last 24 hours/);
  assert.equal((await post(`${path}/confirm`, ben)).status, 303);
});

test("a confirmation whose audit line can't be written changes nothing", async () => {
  const path = await requested("NE");
  const script = (text: string) => running.db.transaction((tx) => tx.script(text));
  await script(`CREATE FUNCTION no_line() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.action = 'notary_rules.confirmed' THEN RAISE EXCEPTION 'no line'; END IF; RETURN NEW; END $$;
    CREATE TRIGGER no_line BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION no_line()`);
  assert.equal((await post(`${path}/confirm`, ben)).status, 500);
  await script("DROP TRIGGER no_line ON audit_log; DROP FUNCTION no_line()");
  assert.match(await look("/rules/NE"), /Shipped, read on[\s\S]*waits to be confirmed/);
  assert.equal((await post(`${path}/confirm`, ben)).status, 303);
});

test("a version that names a class that the rules file has lost stops applying, but not the versions that replace it", async () => {
  await confirmed("GA", { excluded_real_estate: "on" });
  const origin = async () => {
    const lost = { ...shipped, classes: new Map([...shipped.classes].filter(([name]) => name !== "real_estate")) };
    return (await rulesInForce(running.db, lost, new Date())).of("GA").origin;
  };
  assert.equal((await origin()).kind, "altered");
  await confirmed("GA", { excluded_will: "on" });
  const found = await origin();
  assert.equal(found.kind === "confirmed" && found.version, 2);
});

test("versions stay unchanged; one that was altered in the database offers only paper", async () => {
  const path = await requested("UT");
  const id = path.slice(3);
  for (const statement of [
    sql`UPDATE notary_rule_versions SET rules = '{}' WHERE id = ${id}`,
    sql`UPDATE notary_rule_versions SET state = 'NV' WHERE id = ${id}`,
    sql`DELETE FROM notary_rule_versions WHERE id = ${id}`,
  ])
    await assert.rejects(running.db.query(statement), /is decided once, and otherwise stays as it is/);
  await assert.rejects(
    running.db.query(sql`
      UPDATE notary_rule_versions SET outcome = 'confirmed', decided_by = requested_by, decided_at = now() WHERE id = ${id}`),
    /notary_rules_decided_by_another/,
  );
  await running.db.query(sql`
    UPDATE notary_rule_versions SET outcome = 'confirmed', decided_by = ${ben.id}, decided_at = now() WHERE id = ${id}`);
  assert.match(await look("/rules/UT"), /A confirmed version is not what the service wrote/);
  await confirmed("UT");
  assert.match(
    await look("/rules/UT"),
    /A confirmed version is not what the service wrote/,
    "even after a good change",
  );
  await requestedAltered();
});

/**
 * Requests a change and alters its content in the database. The page shows it as altered, and it can't be confirmed.
 */
async function requestedAltered(): Promise<void> {
  const path = await requested("OR");
  await attack(sql`
    UPDATE notary_rule_versions SET rules = jsonb_set(rules, '{modes,value}', '["ron", "rin", "ink"]') WHERE id = ${path.slice(3)}`);
  assert.match(await look("/rules/OR", ben), /This change was altered outside the service/);
  assert.equal((await post(`${path}/confirm`, ben)).status, 503);
  assert.match(await look("/rules/OR", ben), /Shipped, read on/);
}
