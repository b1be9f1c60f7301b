import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { newPartner } from "@signsealship/testing/service";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { argumentsOf, returnedOf } from "../../../src/orders/playbooks/arguments.ts";
import { listPath, openPlaybooksService, run, runPath, start, subject } from "./playbooks-service.ts";

const running = await forTests(openPlaybooksService());
const acme = await newPartner(running.service);

const form = (values: Record<string, string> | [string, string][]) => new URLSearchParams(values);
const multipart = (values: Record<string, string | Blob>) => {
  const data = new FormData();
  for (const [name, value] of Object.entries(values)) data.append(name, value);
  return data;
};
const refusal = async (body: BodyInit | null, headers: Record<string, string> = {}, path = runPath) => {
  const answer = await run(running.service, { ...acme.headers, ...headers }, body, path);
  assert.equal(answer.status, 400, JSON.stringify(answer.body));
  assert.deepEqual(Object.keys(answer.body), ["error"]);
  return answer.body["error"];
};
const attempts = (partnerId: string) =>
  running.db.query<{ actor: string; detail: { playbook: string; executionName: string | null } }>(sql`
    SELECT actor, detail FROM audit_log WHERE action = 'playbook.run' AND partner_id = ${partnerId} ORDER BY id`);

test("the registry has the approval gate, with its parameters in order and without internals", async () => {
  const response = await fetch(running.service.baseUrl + listPath, { headers: acme.headers });
  const { playbooks } = (await response.json()) as { playbooks: Record<string, unknown>[] };
  assert.equal(playbooks.length, 1);
  assert.deepEqual(Object.keys(playbooks[0] ?? {}), ["key", "name", "description", "paramSchema"]);
  assert.equal(playbooks[0]?.["key"], "approval_gate");
  assert.deepEqual(playbooks[0]?.["paramSchema"], [
    { name: "kind", type: "string", required: true, maxLength: 40 },
    { name: "subjectId", type: "string", required: true, maxLength: 64 },
    { name: "note", type: "string", required: false, maxLength: 500 },
  ]);
});

describe("a run", () => {
  test("starts a new execution each time, from either kind of form, and returns only its name", async () => {
    const names = new Set<string>();
    for (const body of [form(subject), form(subject), multipart(subject), multipart({ ...subject, note: "n" })]) {
      const answer = await run(running.service, acme.headers, body);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      assert.deepEqual(Object.keys(answer.body), ["executionName"]);
      names.add(answer.body["executionName"] ?? "");
    }
    assert.equal(names.size, 4);
  });

  test("waits 30 days with kind and subjectId as sent, and stores no note", async () => {
    const values = { kind: "é".repeat(40), subjectId: " <b> ", note: "z".repeat(500) };
    const execution = await start(running, acme.headers, values);
    assert.deepEqual([execution.kind, execution.subjectId, execution.state], [values.kind, " <b> ", "Waiting"]);
    assert.equal(Date.parse(execution.expiresAt) - Date.parse(execution.startedAt), 2_592_000_000);
    const rows = await running.db.query(sql`SELECT FROM playbook_executions e WHERE e::text LIKE '%zzz%'`);
    assert.equal(rows.length, 0);
  });

  test("is refused with a message that names the field", async () => {
    const cases: [BodyInit | null, string][] = [
      [form({}), "Missing required argument 'kind'."],
      [null, "Missing required argument 'kind'."],
      [form({ kind: "a" }), "Missing required argument 'subjectId'."],
      [form({ kind: "", subjectId: "b" }), "Missing required argument 'kind'."],
      [form({ kind: "a", subjectId: "  " }), "Missing required argument 'subjectId'."],
      [form({ workflow: "x" }), "Unknown argument 'workflow'."],
      [form({ ...subject, Kind: "x" }), "Unknown argument 'Kind'."],
      [form({ ...subject, executionName: "x" }), "Unknown argument 'executionName'."],
      [form({ ...subject, "a\u0000b": "x" }), "Unknown argument 'a?b'."],
      [form({ kind: "a".repeat(41), subjectId: "b" }), "Argument 'kind' must have at most 40 characters."],
      [form({ kind: "a", subjectId: "b".repeat(65) }), "Argument 'subjectId' must have at most 64 characters."],
      [form({ ...subject, note: "n".repeat(501) }), "Argument 'note' must have at most 500 characters."],
      [form({ kind: "a\u0000", subjectId: "b" }), "Argument 'kind' must be UTF-8 text without control characters."],
      [
        form([
          ["kind", "a"],
          ["kind", "b"],
          ["subjectId", "c"],
        ]),
        "Argument 'kind' must be sent once.",
      ],
      [multipart({ kind: "a" }), "Missing required argument 'subjectId'."],
      [multipart({ ...subject, other: "x" }), "Unknown argument 'other'."],
      [multipart({ ...subject, note: new Blob(["x"]) }), "note must be a text field, not a file."],
      [multipart({ ...subject, note: "n".repeat(20_000) }), "note is too long."],
    ];
    for (const [body, message] of cases) assert.equal(await refusal(body), message);
  });

  test("does not parse JSON, valid or broken: it counts as no parameters", async () => {
    for (const body of [JSON.stringify(subject), "{", ""])
      assert.equal(await refusal(body, { "Content-Type": "application/json" }), "Missing required argument 'kind'.");
    assert.equal(await refusal("kind=a", { "Content-Type": "text/plain" }), "Missing required argument 'kind'.");
  });

  test("with a broken multipart body gets a 400", async () => {
    const type = { "Content-Type": "multipart/form-data; boundary=x" };
    assert.equal(
      await refusal('--x\r\nContent-Disposition: form-data; name="kind"\r\n\r\na', type),
      "The form is incomplete or malformed.",
    );
  });

  test("of an unknown playbook gets a 404, and keys are case-sensitive", async () => {
    for (const key of ["Approval_Gate", "nope", "__proto__", "a%00b", "x".repeat(300)]) {
      const answer = await run(running.service, acme.headers, form(subject), `/api/partner/playbooks/${key}/run`);
      assert.deepEqual([answer.status, answer.body], [404, { error: "Unknown playbook." }], key);
    }
  });

  test("without a credential gets a 401 and starts nothing", async () => {
    const count = async () =>
      (await running.db.query<{ n: number }>(sql`SELECT count(*) AS n FROM playbook_executions`))[0]?.n;
    const sofar = await count();
    for (const path of [runPath, "/api/partner/playbooks/nope/run"]) {
      const answer = await run(running.service, {}, form(subject), path);
      assert.deepEqual([answer.status, answer.body], [401, { error: "Sign in to continue." }]);
    }
    assert.equal((await fetch(running.service.baseUrl + listPath)).status, 401);
    assert.equal(await count(), sofar);
  });
});

test("every authenticated attempt is in the audit log with key and name, and without any value", async () => {
  const partner = await newPartner(running.service);
  const started = await run(running.service, partner.headers, form({ ...subject, note: "secret-note" }));
  await run(running.service, partner.headers, form({ kind: "secret-kind" }));
  await run(running.service, partner.headers, form(subject), "/api/partner/playbooks/nope%00/run");
  await run(running.service, partner.headers, "x".repeat(300_000));
  await run(running.service, {}, form(subject));
  const log = await attempts(partner.partnerId);
  assert.deepEqual(
    log.map(({ detail }) => [detail.playbook, detail.executionName]),
    [
      ["approval_gate", started.body["executionName"]],
      ["approval_gate", null],
      ["nope?", null],
      ["approval_gate", null],
    ],
  );
  assert.ok(log.every(({ actor }) => actor === `key:${partner.keyId}`));
  assert.doesNotMatch(JSON.stringify(log), /secret|closing|FILE-2207/);
});

test("a failed start returns only the generic message", async () => {
  await running.db.query(sql`
    ALTER TABLE playbook_executions ADD CONSTRAINT broken CHECK (playbook = 'none') NOT VALID`);
  assert.equal(await refusal(form(subject)), "The playbook could not be started.");
  await running.db.query(sql`ALTER TABLE playbook_executions DROP CONSTRAINT broken`);
  assert.equal((await attempts(acme.partnerId)).at(-1)?.detail.executionName, null);
});

test("whole numbers and booleans are checked by type, and only returned values are stored", () => {
  const of = (name: string, type: "string" | "int" | "bool", returned = true) => ({
    name,
    type,
    required: false,
    maxLength: null,
    returned,
  });
  const parameters = [of("n", "int"), of("b", "bool"), of("s", "string", false)];
  const values = argumentsOf(parameters, [
    ["n", "-12"],
    ["b", "false"],
    ["s", "line\nline"],
  ]);
  assert.deepEqual(values, { n: -12, b: false, s: "line\nline" });
  assert.deepEqual(returnedOf(parameters, values), { n: -12, b: false });
  for (const [name, text, rule] of [
    ["n", "1.5", "a whole number"],
    ["n", "1e3", "a whole number"],
    ["n", "9".repeat(16), "a whole number"],
    ["b", "TRUE", "true or false"],
    ["b", "1", "true or false"],
  ] as const)
    assert.throws(() => argumentsOf(parameters, [[name, text]]), { message: `Argument '${name}' must be ${rule}.` });
});

describe("enabling", () => {
  test("when off, which is the default, both routes give a 404, and a 401 without a credential", async () => {
    await running.service.stop();
    running.service = await running.service.restart({ PLAYBOOKS: "" });
    const list = await fetch(running.service.baseUrl + listPath, { headers: acme.headers });
    assert.deepEqual([list.status, await list.json()], [404, { error: "Not found." }]);
    for (const path of [runPath, "/api/partner/playbooks/nope/run"]) {
      const answer = await run(running.service, acme.headers, form(subject), path);
      assert.deepEqual([answer.status, answer.body], [404, { error: "Not found." }]);
    }
    assert.equal((await run(running.service, {}, form(subject))).status, 401);
  });

  test("by ids, only these partners have them, limited as partner-portal and partner-write", async () => {
    const other = await newPartner(running.service);
    await running.service.stop();
    running.service = await running.service.restart({ PLAYBOOKS: acme.partnerId, RATE_LIMITS: "on" });
    const list = (headers: Record<string, string>) => fetch(running.service.baseUrl + listPath, { headers });
    const mine = await list(acme.headers);
    assert.equal(mine.status, 200);
    assert.equal(mine.headers.get("ratelimit-policy"), '"partner-portal";q=120;w=60');
    assert.equal((await list(other.headers)).status, 404);
    assert.equal((await run(running.service, other.headers, form(subject))).status, 404);
    const sofar = (await attempts(acme.partnerId)).length;
    const statuses = await Promise.all(
      Array.from({ length: 62 }, async () => (await run(running.service, acme.headers, form({}))).status),
    );
    assert.deepEqual(
      [400, 429].map((status) => statuses.filter((each) => each === status).length),
      [60, 2],
    );
    assert.equal((await attempts(acme.partnerId)).length, sofar + 60);
  });
});
