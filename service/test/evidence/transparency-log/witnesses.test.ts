import assert from "node:assert/strict";
import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  checkpointText,
  formatCheckpoint,
  noteKeyOf,
  parseCheckpoint,
  parseWitnessKey,
  parseWitnessPolicy,
  verifyCosignature,
  verifyLogProof,
} from "@signsealship/evidence/log";
import { startWitness } from "@signsealship/testing/doubles/witness";
import { forTests } from "@signsealship/testing/for-tests";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { repeats } from "@signsealship/testing/inputs/fuzz";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { newPartner, runCli, startService, temporaryFolder } from "@signsealship/testing/service";
import { startLitewitness } from "@signsealship/testing/tools/litewitness";
import { needs } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { monitorAnswer } from "@signsealship/verifier";
import { openTransparencyLog, queueEntry } from "../../../src/evidence/transparency-log/transparency-log.ts";
import { systemClock } from "../../../src/kernel/platform/clock.ts";
import { sql } from "../../../src/kernel/platform/database/sql.ts";
import { openLog } from "../../../src/kernel/platform/logs.ts";
import { fileForm, postSeal } from "../proof-passports/seal-document.ts";

const folder = temporaryFolder();
const one = await forTests(startWitness("one.example.com/witness"));
const two = await forTests(startWitness("two.example.com/witness"));
const three = await forTests(startWitness("three.example.com/witness"));
const policyFile = join(folder.path, "witnesses");
writeFileSync(
  policyFile,
  `witness one ${one.key} ${one.url}\nwitness two ${two.key} ${two.url}/\ngroup both all one two\nquorum both\n`,
);
const harness = await forTests(openHarness({ LOG_POLICY: policyFile, WITNESS_INTERVAL: "1" }));
const { service, db } = harness;
const { headers } = await newPartner(service, { live: true });

const get = async (path: string) => (await fetch(`${service.baseUrl}${path}`)).text();
const sizeOf = (note: string) => parseCheckpoint(note).size;

let commitments = 0;
/** Adds a line to the log. @returns the log's new size */
async function grown(): Promise<number> {
  const before = await leavesNow();
  await db.query(
    queueEntry("live", { kind: "artifact/v1", commitment: String(++commitments).padStart(64, "0") }, new Date()),
  );
  await until(async () => (await leavesNow()) > before);
  return leavesNow();
}

const leavesNow = async () =>
  (await db.query<{ size: number }>(sql`SELECT max(size) AS size FROM log_checkpoints WHERE log = 'live'`))[0]?.size ??
  0;

const cosignaturesAt = async (size: number) =>
  (await db.query(sql`SELECT FROM log_cosignatures WHERE log = 'live' AND size = ${size}`)).length;

const witnessed = (size: number) => until(async () => (await cosignaturesAt(size)) === 2);

test("a seal's proof contains the cosignatures of the quorum, and the published policy accepts it", async () => {
  const answer = await postSeal(
    { baseUrl: service.baseUrl, headers },
    fileForm(makePdf({ bytes: 20_000, text: "Witnessed" })),
  );
  const sealed = (await answer.json()) as { verifyCode: string; sealedSha256: string };
  const url = `/api/passport/verify/${sealed.verifyCode}/tlog-proof`;
  await until(async () => (await get(url)).includes("two.example.com"));
  const policy = await parseWitnessPolicy(await get("/log/live/policy"));
  const [key = ""] = policy.logs;
  const claims = await verifyLogProof({
    proof: Buffer.from(await get(url)),
    entry: `seal/v1 ${sealed.sealedSha256}\n`,
    environment: "live",
    logs: [{ environment: null, key, policy }],
  });
  assert.deepEqual(
    claims.map(({ name, state }) => [name, state]),
    [
      ["log_inclusion", "holds"],
      ["log_checkpoint_signed", "holds"],
      ["log_witnessed", "holds"],
    ],
  );
  const checkpoint = parseCheckpoint(await get("/log/live/checkpoint"));
  for (const witness of [one, two])
    assert.equal((await verifyCosignature(checkpoint.note, await parseWitnessKey(witness.key))).verdict, "signed");
});

test("the policy is a line of the log, and stays available by its hash", async () => {
  const [line] = await db.query<{ line: string }>(
    sql`SELECT line FROM log_leaves WHERE log = 'live' AND line LIKE 'policy/v1 %'`,
  );
  const sha256 = line?.line.trim().split(" ")[1] ?? "";
  assert.equal(await get(`/log/live/policy/${sha256}`), await get("/log/live/policy"));
  for (const other of ["0".repeat(64), "%00", "policy"])
    assert.equal((await fetch(`${service.baseUrl}/log/live/policy/${other}`)).status, 404, other);
  await db.transaction(async (tx) => {
    await tx.script("SET LOCAL session_replication_role = replica");
    const [{ log = "" } = {}] = await tx.query<{ log: string }>(sql`SELECT log FROM log_policies LIMIT 1`);
    await tx.query(sql`
      INSERT INTO log_policies (log, sha256, policy, published_at) VALUES (${log}, ${"12".repeat(32)}, 'quorum none', now())`);
  });
  assert.equal((await fetch(`${service.baseUrl}/log/live/policy/${"12".repeat(32)}`)).status, 404, "of another hash");
});

test("a monitor accepts the log by the published policy, and misses a witness that the log does not ask", async () => {
  await witnessed(await grown());
  const published = await get("/log/live/policy");
  const strict = `${published.replace(/^quorum .*$/m, "")}witness three ${three.key}\ngroup all3 all both three\nquorum all3\n`;
  const monitored = async (text: string) => {
    const policy = join(folder.path, "readers-policy");
    writeFileSync(policy, text);
    const { json, text: lines } = await monitorAnswer(`${service.baseUrl}/log/live`, {
      key: null,
      state: null,
      with: [],
      isFull: true,
      fetch,
      now: () => new Date(),
      policy,
      quorumWait: { seconds: 5, sleep: async () => {} },
    });
    return { ...(json as { findings: string[]; missing: string[] }), lines };
  };
  const accepted = await monitored(published);
  assert.deepEqual([accepted.findings, accepted.missing], [[], []]);
  assert.match(accepted.lines, /The log names this policy in entry \d+\.\n2 of 2 witnesses cosigned/);
  const refused = await monitored(strict);
  assert.deepEqual(refused.findings, []);
  assert.match(refused.missing.join(), /lacks its quorum after 5 s: 2 of 3 witnesses cosigned .* the quorum all3\.$/);
});

test("a failing witness delays nothing: the log grows, and shows the newest state once the quorum is old", async () => {
  await witnessed(await grown());
  two.order("server-error");
  const size = await grown();
  await until(async () => (await cosignaturesAt(size)) === 1);
  assert.ok(sizeOf(await get("/log/live/checkpoint")) < size, "the state with its quorum is shown for a minute");
  assert.match(JSON.stringify(await service.cli("log", "status")), /"failingSince":"\d/);
  two.order("proper");
  await witnessed(size);
  assert.equal(sizeOf(await get("/log/live/checkpoint")), size);
});

test("asks a witness again after a node's clock was set back", async () => {
  await db.query(sql`UPDATE log_witnesses SET next_at = now() + interval '1 year'`);
  await witnessed(await grown());
});

test("only a valid cosignature by the witness's own key is stored, whatever else the answer contains", async () => {
  two.order("wrong-signature");
  const size = await grown();
  await until(async () => (await cosignaturesAt(size)) === 1);
  two.order("whole-note");
  const asked = two.requests.length;
  await until(() => two.requests.length > asked + 1);
  assert.equal(await cosignaturesAt(size), 1, "signed over the log's own line, too");
  two.order("two-lines");
  await witnessed(size);
  assert.doesNotMatch(await get("/log/live/checkpoint"), /witness\/other/);
});

test("a witness that has seen less gets a proof from its own size to the present one", async () => {
  const size = await grown();
  await witnessed(size);
  one.sees(1);
  const next = await grown();
  await witnessed(next);
  assert.match(one.requests.at(-1) ?? "", /^old 1\n(?:[A-Za-z0-9+/]{43}=\n)+\n/);
});

test("a witness that contradicts the log raises an alarm for the operator, and the log continues", async () => {
  const status = async () => JSON.stringify(await service.cli("log", "status"));
  two.order("refuses");
  const refused = await grown();
  await until(async () => /CONTRADICTS/.test((await runCli({ DATA_DIR: service.dataDir }, "log", "status")).stdout));
  const doctor = await runCli({ DATA_DIR: service.dataDir }, "doctor");
  assert.match(doctor.stdout, /a witness contradicts the log: two says that the log does not begin with/);
  two.order("server-error");
  const asked = two.requests.length;
  await until(() => two.requests.length > asked + 1);
  assert.match(await status(), /does not begin with/, "a witness that is away withdraws nothing");
  two.order("proper");
  await witnessed(refused);
  await until(async () => !/does not begin with/.test(await status()));
  two.sees(1_000_000);
  await grown();
  await until(async () => /has seen 1000000 entries of the log, and the database has/.test(await status()));
  two.sees(1);
  await witnessed(await grown());
  assert.doesNotMatch(await status(), /has seen 1000000/);
});

test("witnesses cosign the last state of a log that ends, and the log that follows; the policy lists both", async () => {
  await witnessed(await grown());
  const statuses = await service.cli<{ log: string; origin: string }[]>("log", "status");
  const origin = statuses.find(({ log }) => log === "live")?.origin ?? "";
  const retired = await service.cli<{ size: number; key: string }>("log", "retire", origin, "--reason", "rotation");
  await witnessed(retired.size);
  for (const witness of [one, two]) witness.sees(0);
  const ofNext = async () =>
    (await db.query(sql`SELECT FROM log_cosignatures WHERE log = 'live-2' AND is_quorum`)).length;
  await until(async () => (await ofNext()) > 0);
  const { logs } = await parseWitnessPolicy(await get("/log/live/policy"));
  assert.deepEqual(
    logs.map((key) => key.split("+")[0]),
    [`${origin}-2`, origin],
  );
  assert.equal(logs[0], retired.key);
  const published = async () =>
    (
      await db.query<{ log: string }>(sql`
        SELECT log FROM log_leaves WHERE line LIKE 'policy/v1 %' ORDER BY queued_at`)
    ).map(({ log }) => log);
  await until(async () => (await published()).includes("live-2"));
  assert.deepEqual(await published(), ["live", "live-2"]);
});

test("a policy that cannot be used prevents the start, and the message names the line and its rule", async () => {
  const wrong = {
    "line 1 of the policy: the key is not": "witness one nokey http://a.example\nquorum one\n",
    "the policy has no quorum": `witness one ${one.key} ${one.url}\n`,
    "the witness one has no address": `witness one ${one.key}\nquorum one\n`,
    "is not a URL of http or https": `witness one ${one.key} ftp://a.example\nquorum one\n`,
    "it names a log": `log ${(await parseWitnessPolicy(await get("/log/live/policy"))).logs[0]}\nquorum none\n`,
  };
  const place = temporaryFolder();
  for (const [why, text] of Object.entries(wrong)) {
    writeFileSync(join(place.path, "policy"), text);
    await assert.rejects(
      startService({ DATA_DIR: join(place.path, "data"), LOG_POLICY: join(place.path, "policy") }),
      new RegExp(why.replaceAll(/[.*+?]/g, "\\$&")),
    );
  }
  await assert.rejects(
    startService({ DATA_DIR: join(place.path, "data"), LOG_POLICY: join(place.path, "nowhere") }),
    /LOG_POLICY: .*it cannot be read/,
  );
  place.remove();
});

test(
  "a witness that other people wrote cosigns each state, and refuses a forked one",
  needs("go", "litewitness"),
  async () => {
    const place = temporaryFolder();
    const first = await openHarness();
    const status = await first.service.cli<{ log: string; key: string; origin: string }[]>("log", "status");
    const log = status.find((each) => each.log === "live");
    assert.ok(log);
    const witness = await startLitewitness("lite.example.com/witness", log);
    const file = join(place.path, "policy");
    writeFileSync(file, `witness lite ${witness.key} ${witness.url}\nquorum lite\n`);
    await first.service.stop();
    first.service = await first.service.restart({ LOG_POLICY: file, WITNESS_INTERVAL: "1" });
    try {
      const cosigned = async () =>
        (await first.db.query<{ size: number }>(sql`SELECT max(size) AS size FROM log_cosignatures`))[0]?.size ?? 0;
      const grows = async (round: number, work = async () => {}) => {
        const before = await cosigned();
        const commitment = String(round).padStart(64, "f");
        await first.db.query(queueEntry("live", { kind: "artifact/v1", commitment }, new Date()));
        await until(async () => {
          await work();
          return (await cosigned()) > before;
        });
      };
      for (let round = 0; round < 3; round++) await grows(round);
      // The running service waits a second in each round. So it is stopped, and the other rounds call its code
      // directly, without waiting.
      await first.service.stop();
      const node = await openTransparencyLog(nodeOn(first, file), fetch);
      for (let round = 3; round < repeats(200, 3); round++)
        await grows(round, async () => {
          await node.turn();
          await node.askWitnesses();
        });
      const size = await cosigned();
      const forked = formatForged(log.origin, size + 1);
      const ask = (old: number, note: string) =>
        fetch(`${witness.url}/add-checkpoint`, { method: "POST", body: `old ${old}\n\n${note}` });
      assert.equal((await ask(size, await forked)).status, 403, "another key");
      const key = readFileSync(join(first.service.dataDir, "keys/log-live"), "utf8");
      const fork = await formatForged(log.origin, size + 1, key);
      assert.equal((await ask(size, fork)).status, 422, "the log's own key");
    } finally {
      await first.close();
      await witness.stop();
      place.remove();
    }
  },
);

/** A node on the data of a stopped service. It grows the log and asks the witnesses only when the test calls it. */
function nodeOn({ service: { dataDir, baseUrl }, db, rowMac }: Harness, logPolicy: string) {
  const logKey = `file:${join(dataDir, "keys/log-live")}`;
  const config = { dataDir, baseUrl, logKey, logOrigin: null, logPolicy, logIntervalMs: 0, witnessIntervalMs: 0 };
  return { db, rowMac, clock: systemClock, log: openLog("silent"), config };
}

/** A checkpoint of another history. @param pem the key that signs it; a new key by default */
async function formatForged(origin: string, size: number, pem?: string): Promise<string> {
  const key = pem === undefined ? generateKeyPairSync("ed25519").privateKey : createPrivateKey(pem);
  const x = Buffer.from(key.export({ format: "jwk" }).x ?? "", "base64url");
  const checkpoint = { origin, size, root: new Uint8Array(32).fill(7) };
  const signature = sign(null, Buffer.from(checkpointText(checkpoint)), key);
  return formatCheckpoint(checkpoint, await noteKeyOf(origin, new Uint8Array(x)), signature);
}
