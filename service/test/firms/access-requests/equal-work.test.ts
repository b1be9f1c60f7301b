import assert from "node:assert/strict";
import { test } from "node:test";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { until } from "@signsealship/testing/until";
import { requestAccess } from "../../../src/firms/access-requests/request.ts";
import { readScreeningRules } from "../../../src/firms/access-requests/screening/rules-file.ts";
import { askForLink } from "../../../src/firms/members/members.ts";
import { systemClock as clock } from "../../../src/kernel/platform/clock.ts";
import type { Database, Tx } from "../../../src/kernel/platform/database/database.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openRowMac } from "../../../src/kernel/platform/row-mac.ts";
import { secretBytes } from "../../../src/kernel/platform/secrets.ts";

const harness = await forTests(openHarness());
const { db } = harness;

/** The texts of the SQL statements that some work ran, in order. */
async function statementsOf(work: (counted: Database) => Promise<unknown>): Promise<string[]> {
  const seen: string[] = [];
  const counted: Database = {
    ...db,
    query: (statement) => {
      seen.push(statement.text);
      return db.query(statement);
    },
    transaction: (run) =>
      db.transaction((tx) => {
        const watched: Tx = {
          ...tx,
          query: (statement) => {
            seen.push(statement.text);
            return tx.query(statement);
          },
          script: (text) => {
            seen.push(text);
            return tx.script(text);
          },
        };
        return run(watched);
      }),
  };
  await work(counted);
  return seen;
}

const secrets = secretBytes(Buffer.alloc(32, 7));
const rules = readScreeningRules(new URL("../../../data/screening.yaml", import.meta.url).pathname);
const request = (workEmail: string) => ({
  firmName: "Harbor Title",
  contactName: "Dana",
  workEmail,
  useCase: "We are a title company and want our closings notarized online before the deeds are recorded.",
  role: null,
  expectedVolume: null,
  recaptchaToken: null,
});

const jobsDone = async (): Promise<number> => {
  const text = await (await fetch(`${harness.service.baseUrl}/metrics`)).text();
  return Number(/^jobs_total\{[^}]*queue="access-mail"[^}]*\} (\d+)$/m.exec(text)?.[1] ?? 0);
};

test("the metrics count one mail job for each request, whether the address has a key or not", async () => {
  const ask = () =>
    fetch(`${harness.service.baseUrl}/api/partner/request`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(request("counted@harbor-title.com")),
    });
  const waiting = async () => (await db.query(sql`SELECT FROM jobs WHERE queue = 'access-mail'`)).length === 0;
  await until(waiting);
  for (let i = 0; i < 3; i++) {
    const before = await jobsDone();
    assert.equal((await ask()).status, 200);
    await until(async () => (await jobsDone()) > before);
    await until(waiting);
    assert.equal(await jobsDone(), before + 1);
  }
});

test("a request for access does the same work for an address with a key and for one without", async () => {
  const ask = (email: string) =>
    statementsOf((counted) =>
      requestAccess(
        { db: counted, clock, secrets, rowMac: openRowMac(secrets), rules, scoreBot: null, trialsPerDomain: 1 },
        request(email),
        "192.0.2.1",
      ),
    );
  const unknown = await ask("equal@equal-title.com");
  const known = await ask("equal@equal-title.com");
  const ofKnownDomain = await ask("another@equal-title.com");
  const comparable = (lines: string[]) => lines.map((line) => line.replace("ROLLBACK TO", "RELEASE"));
  assert.deepEqual(comparable(known), comparable(unknown));
  assert.deepEqual(comparable(ofKnownDomain), comparable(unknown));
  assert.ok(unknown.length > 8, String(unknown.length));
  const issued = sql`SELECT FROM access_requests WHERE work_email = ${"equal@equal-title.com"}`;
  assert.equal((await db.query(issued)).length, 1, "nothing is left of the second");
});

test("a request for a sign-in link does the same work for a known person and for an unknown one", async () => {
  const at = new Date();
  await db.query(sql`INSERT INTO users (id, email, created_at)
    VALUES (gen_random_uuid(), ${"known@harbor-title.com"}, ${at})`);
  const ask = (email: string) =>
    statementsOf((counted) =>
      askForLink(
        { db: counted, clock, secrets, rowMac: harness.rowMac },
        { email, browser: "b".repeat(52), ip: "192.0.2.1", returnTo: undefined },
      ),
    );
  assert.deepEqual(await ask("known@harbor-title.com"), await ask("unknown@harbor-title.com"));
});
