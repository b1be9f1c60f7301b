/**
 * Sessions with several signers. In most of them, people leave, or the media process or the service is killed. The
 * rules of the notary's US state require that an act begins again after every absence.
 */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { forTests } from "@signsealship/testing/for-tests";
import { openHarness } from "@signsealship/testing/harness";
import { enginePids } from "@signsealship/testing/media";
import type { MediaPeer } from "@signsealship/testing/media-peer";
import { ownProcess, temporaryFolder } from "@signsealship/testing/service";
import { testsNeeding } from "@signsealship/testing/tools/tools";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import { liveWords } from "../../../../src/pages/ui/live/words/languages.ts";
import { emptyChain, followChain } from "../../../../src/providers/media/chain.ts";
import { roomEnvelopeOf } from "../../../../src/signing/envelopes/envelopes.ts";
import type { Act } from "../../../../src/signing/notaries/acts/act.ts";
import { eventsOf, findLive } from "../../../../src/signing/notaries/sessions/store.ts";
import { openTurn } from "../../../../src/signing/notaries/sheets/steps.ts";
import { findSheet } from "../../../../src/signing/notaries/sheets/store.ts";
import { pdfsig } from "../../../evidence/seals/pdf/oracles.ts";
import { postForm } from "../../../firms/members/signed-in-member.ts";
import { alertIn, notesAct, signsAsNotary } from "../signing/signs-as-notary.ts";
import { liveSettings } from "./live-rules.ts";
import { type BegunSession, connectAll, liveWorld } from "./live-world.ts";

const { test } = testsNeeding("poppler");

const folder = await forTests(temporaryFolder());
const running = await forTests(
  openHarness({ ...liveSettings(folder.path, { resumeSeconds: "0", restart: "act" }), ...ownProcess }),
);
const world = await liveWorld(running, folder.path);
const { db, rowMac } = running;

/** Longer than the 12 seconds after which a person is absent. */
const awayMs = 14_000;

const people = (name: string) => [
  { name: "Ann Lee", email: `ann-${name}@example.com` },
  { name: "Ben Cole", email: `ben-${name}@example.com` },
];
const emailsOf = (name: string) => people(name).map(({ email }) => email);

/** Acts for the people of a session by the same requests that their pages send. */
function acting(session: BegunSession) {
  const { code, id, pages } = session;
  const [notary, ...signers] = pages;
  assert.ok(notary);
  const at = (path: string) => running.service.baseUrl + path;
  const { path: desk, cookie } = notary;
  const asNotary = {
    get: (path: string) => fetch(at(path), { headers: { cookie } }),
    post: (path: string, fields: Record<string, string> = {}) => postForm(at(path), fields, { cookie }),
  };
  const live = async () => {
    const found = await findLive(db, id);
    assert.ok(found);
    return found;
  };
  const sheet = async () => {
    const found = await findSheet({ db, rowMac }, (await live()).sheetId);
    assert.ok(found);
    return found;
  };
  const envelope = async () => roomEnvelopeOf(db, (await live()).orderId);
  const signedBy = async () =>
    ((await envelope())?.signers ?? []).flatMap(({ n, signedAt }) => (signedAt === null ? [] : [n]));
  /** The form fields that mark a step as done, including the step's name. */
  const fieldsOf = (name: string, signer: number | null) => ({
    step: name,
    ...(signer !== null && { signer: String(signer), shows: `signer-${signer}` }),
    ...(name === "alone" && { choice: "alone" }),
    ...(name === "oath" && { choice: "oath" }),
    ...(name === "identify" && {
      [`principal_${signer}_basis`]: "personal_knowledge",
      [`principal_${signer}_name`]: "x",
      [`principal_${signer}_address`]: "1 Main Street",
    }),
  });
  const open = async () => openTurn(await sheet());

  /** The HTML of a signer's room. */
  const roomOf = async (n: number) => {
    const page = signers[n - 1];
    return (await fetch(at(page?.path ?? ""), { headers: { cookie: page?.cookie ?? "" } })).text();
  };
  const signingPages = async (n: number) => /src="(\/sign\/[0-9a-f]{40})"/.exec(await roomOf(n))?.[1];
  const isToldOfSigning = async (n: number) => (await roomOf(n)).includes("You have signed. Stay here");
  const look = async (path: string) => (await fetch(at(path))).text();
  const valueIn = (page: string, name: string) => new RegExp(`name="${name}"[^>]*? value="([^"]*)"`).exec(page)?.[1];
  const consents = async (path: string) => {
    const page = await look(path);
    const typed = {
      version: valueIn(page, "version") ?? "",
      language: valueIn(page, "language") ?? "",
      can_read: "on",
    };
    return postForm(at(`${path}/consent`), typed, {});
  };
  const signs = async (path: string) => {
    const page = await look(path);
    return postForm(at(`${path}/sign`), { revision: valueIn(page, "revision") ?? "1", name: "A signer" }, {});
  };

  /**
   * Repeats a request until the service accepts it, or until `isDone` returns true. The service may reject the first
   * requests, for example while somebody is absent.
   */
  async function gets(work: () => Promise<Response>, isDone: () => Promise<boolean>): Promise<void> {
    let last = "";
    await until(async () => {
      if (await isDone()) return true;
      const answer = await work();
      if (answer.status !== 303) last = await alertIn(answer);
      return answer.status === 303;
    }).catch((error: Error) => Promise.reject(new Error(`${error.message}: ${last}`)));
    await until(isDone);
  }

  /**
   * Opens the signing pages in the signer's room. @returns their path, or "" if the signer's step has ended meanwhile
   */
  async function given(n: number, isOver = async () => false): Promise<string> {
    await gets(
      () => asNotary.post(`${desk}/turn`),
      async () => (await isOver()) || (await signingPages(n)) !== undefined,
    );
    return (await signingPages(n)) ?? "";
  }

  /** Does all steps that come before the given step. */
  async function comesTo(step: string, signer: number | null): Promise<void> {
    for (;;) {
      const turn = await open();
      assert.ok(turn, `the sheet has no step ${step}`);
      const { name, by } = turn.step;
      if (name === step && turn.signer === signer) return;
      const isOver = async () => {
        const next = await open();
        return next?.step.name !== name || next.signer !== turn.signer;
      };
      if (by === "notary") {
        await gets(() => asNotary.post(`${desk}/mark`, fieldsOf(name, turn.signer)), isOver);
        continue;
      }
      // After the act has begun again, the service itself marks the step of a signer who has already signed.
      const path = await given(turn.signer ?? 0, isOver);
      await until(async () => (await isOver()) || (await (name === "read" ? consents : signs)(path)).status === 303);
      await until(isOver);
    }
  }

  /** The notary notes the act and signs. @returns the notarized document */
  async function notarySigns(): Promise<Buffer> {
    await comesTo("notary_signs", null);
    await until(async () => (await live()).state === "live");
    await notesAct(asNotary, code);
    await signsAsNotary(asNotary, code, world.p12);
    assert.equal(await world.orders.statusOf(code), "NotarizationComplete");
    return world.orders.notarized(code);
  }

  const does = { consents, signs, given, comesTo, notarySigns };
  return { asNotary, desk, live, sheet, envelope, signedBy, signingPages, isToldOfSigning, ...does };
}

const eventNames = async (id: string) => {
  const session = await findLive(db, id);
  assert.ok(session);
  return (await eventsOf(db, rowMac, session)).map(({ name, person }) => (person ? `${name} ${person}` : name));
};

/** Asserts that all signatures of the file are valid: those of the signers, of the notary, and the seal. */
async function isValid(file: Buffer, name: string, signatures: number): Promise<void> {
  const path = join(folder.path, `${name}.pdf`);
  writeFileSync(path, file);
  assert.deepEqual(
    (await pdfsig(path)).map(({ valid }) => valid),
    Array.from({ length: signatures }, () => true),
  );
}

async function connected<T>(session: BegunSession, work: (peers: MediaPeer[]) => Promise<T>): Promise<T> {
  const peers = await connectAll(running.service.baseUrl, session);
  try {
    return await work(peers);
  } finally {
    await Promise.all(peers.map((peer) => peer.close()));
  }
}

/** Kills the service, and restarts it after everybody is absent. */
async function serviceDies(): Promise<void> {
  await running.service.kill();
  await sleep(awayMs);
  running.service = await running.service.restart();
}

test("two signers sign in turn, each identified and while all are there; one who leaves in between makes the act begin again, and signatures stay", async () => {
  const session = await world.beginWith("acknowledgment", people("turns"));
  const { asNotary, desk, live, sheet, signedBy, signingPages, isToldOfSigning, signs, given, comesTo, notarySigns } =
    acting(session);
  const [notary, ann, ben] = await connectAll(running.service.baseUrl, session);
  assert.ok(notary && ann && ben);
  const peers = [notary, ann, ben];
  try {
    // No signer gets the document before the notary has identified that signer.
    assert.equal((await asNotary.post(`${desk}/turn`)).status, 409);
    await comesTo("read", 1);
    const annSigns = await given(1);
    assert.equal(await signingPages(2), undefined, "the second signer has no signing pages");
    await comesTo("acknowledge", 1);
    assert.deepEqual(await signedBy(), [1]);
    await until(async () => (await signingPages(1)) === undefined);
    assert.deepEqual([await isToldOfSigning(1), await isToldOfSigning(2)], [true, false]);
    assert.equal((await signs(annSigns)).status, 404);

    await comesTo("read", 2);
    await given(2);
    await comesTo("sign", 2);
    const benSigns = await given(2);
    // The first signer leaves, so nobody can sign. When the signer returns, the act begins again.
    await ann.close();
    await until(async () => (await live()).state === "held");
    assert.notEqual((await signs(benSigns)).status, 303);
    await until(async () => (await eventNames(session.id)).includes("away signer-1"));
    assert.notEqual((await signs(benSigns)).status, 303);
    assert.equal((await sheet()).run, 1);
    peers.push(...(await connectAll(running.service.baseUrl, { ...session, pages: session.pages.slice(1, 2) })));
    await until(async () => (await sheet()).run === 2);
    assert.deepEqual(await signedBy(), [1]);
    assert.equal((await signs(benSigns)).status, 404);
    await comesTo("acknowledge", 1);
    assert.equal(await signingPages(1), undefined, "the first signer does not sign again");
    await comesTo("acknowledge", 2);
    assert.deepEqual(await signedBy(), [1, 2]);
    const file = await notarySigns();
    await isValid(file, "turns", 4);
    const events = await eventNames(session.id);
    assert.ok(events.includes("away signer-1") && events.includes("back signer-1"), events.join());
  } finally {
    await Promise.all(peers.map((peer) => peer.close()));
  }
});

test("a signer is silent for 40 seconds: no step is marked, the gap is recorded, and the act begins again once the signer is back", async () => {
  const session = await world.beginWith("jurat", people("silent"));
  const does = acting(session);
  const runs = async () => (await does.sheet()).run;
  const signers = (peers: MediaPeer[]) => peers.filter(({ person }) => person === "signer-1");
  await connected(session, async (peers) => {
    await does.comesTo("willing", 1);
    const before = await runs();
    for (const peer of signers(peers)) peer.silence();
    await until(async () => (await eventNames(session.id)).includes("away signer-1"));
    await sleep(40_000 - awayMs);
    const willing = await does.asNotary.post(`${does.desk}/mark`, { step: "willing", signer: "1" });
    assert.equal(willing.status, 409);
    assert.equal(await runs(), before);
    for (const peer of signers(peers)) await peer.close();
    // The page of the signer reconnects automatically after its connection has failed.
    const page = session.pages.filter(({ person }) => person === "signer-1");
    const back = await connectAll(running.service.baseUrl, { ...session, pages: page });
    await until(async () => (await eventNames(session.id)).includes("back signer-1"));
    await until(async () => (await runs()) > before);
    await does.comesTo("willing", 1);
    await Promise.all(back.map((peer) => peer.close()));
  });
  await world.end(session);
  const { manifest } = await world.recordOf(session);
  const lost = manifest.gaps.flatMap(({ person, from, to }) =>
    person === "signer-1" ? [Date.parse(to) - Date.parse(from)] : [],
  );
  assert.ok(Math.max(...lost) > 35_000, JSON.stringify(manifest.gaps));
});

test("after the first signature the media process is killed: the session goes on, the gap is on record, and the act is completed", async () => {
  const session = await world.beginWith("acknowledgment", people("engine"));
  const { sheet, signedBy, comesTo, notarySigns } = acting(session);
  const killedAt = await connected(session, async () => {
    await comesTo("acknowledge", 1);
    assert.deepEqual(await signedBy(), [1]);
    const { pid } = running.service.process();
    const at = Date.now();
    for (const engine of enginePids(pid)) process.kill(engine, "SIGKILL");
    return at;
  });
  await connected(session, async () => {
    await world.recordedSince(killedAt, session);
    // A person who is absent for 12 seconds makes the act begin again. On a busy machine that can happen here.
    const isRestarted = (await eventNames(session.id)).some((name) => name.startsWith("away"));
    await until(async () => (await sheet()).run === (isRestarted ? 2 : 1));
    await comesTo("acknowledge", 2);
    assert.deepEqual(await signedBy(), [1, 2]);
    await isValid(await notarySigns(), "engine", 4);
  });
  const { manifest, lines } = await world.recordOf(session);
  assert.deepEqual(followChain(emptyChain, lines), { seq: manifest.chain.lines, sha256: manifest.chain.headSha256 });
  for (const { person } of session.pages)
    assert.equal(
      manifest.gaps.find(({ to, person: of }) => of === person && Date.parse(to) > killedAt)?.cause,
      "stopped",
    );
});

test("after the first signature the service is killed: an acknowledgment begins again with the signatures that were made", async () => {
  const session = await world.beginWith("acknowledgment", people("service"));
  const { sheet, signedBy, signs, given, comesTo, notarySigns } = acting(session);
  const turn = await connected(session, async () => {
    await comesTo("acknowledge", 1);
    await comesTo("read", 2);
    return given(2);
  });
  await serviceDies();
  assert.equal((await signs(turn)).status, 404, "the turn ended with the service");
  await connected(session, async () => {
    await until(async () => (await sheet()).run === 2);
    assert.deepEqual(await signedBy(), [1]);
    await comesTo("acknowledge", 2);
    assert.deepEqual(await signedBy(), [1, 2]);
    await isValid(await notarySigns(), "service", 4);
  });
  assert.ok((await eventNames(session.id)).includes("reopened"));
  const { manifest, lines } = await world.recordOf(session);
  assert.deepEqual(followChain(emptyChain, lines), { seq: manifest.chain.lines, sha256: manifest.chain.headSha256 });
});

test("after the first signature of a jurat the service is killed: the session ends, and the next one begins with the document as it was", async () => {
  const session = await world.beginWith("jurat", people("jurat"));
  const first = acting(session);
  await connected(session, async () => {
    await first.comesTo("appear_online", 2);
    assert.deepEqual(await first.signedBy(), [1]);
  });
  await serviceDies();
  // When the first person returns, the service finds out how long everybody was away.
  const peers = await connectAll(running.service.baseUrl, { ...session, pages: session.pages.slice(0, 1) });
  await until(async () => (await first.live()).state === "ended");
  await Promise.all(peers.map((peer) => peer.close()));
  assert.equal((await first.live()).outcome, "technical");
  assert.equal(await world.orders.statusOf(session.code), "NotarizationPending");
  assert.equal(await first.envelope(), undefined);
  const [ended] = await db.query<{ outcome: string; signed: number }>(sql`
    SELECT e.outcome, count(s.signed_at)::int AS signed FROM envelopes e JOIN orders o ON o.id = e.order_id
      JOIN envelope_signers s ON s.envelope_id = e.id
    WHERE ${isSealed(sql`o.code`, "order", session.code)} GROUP BY e.id`);
  assert.deepEqual(ended, { outcome: "Voided", signed: 1 });

  const again = await world.beginAgain(session, "jurat", emailsOf("jurat"));
  const second = acting(again);
  await connected(again, async () => {
    assert.deepEqual([await second.signedBy(), (await second.envelope())?.head.number], [[], 1]);
    await second.comesTo("appear_online", 2);
    assert.deepEqual(await second.signedBy(), [1]);
    await isValid(await second.notarySigns(), "jurat-again", 4);
  });
});

test("two signers who signed at home sign again for a jurat, in turn and each after their own oath; the earlier signatures are not in the notarized document", async () => {
  const session = await world.beginSigned("jurat", people("again"));
  const { code, pages } = session;
  const { asNotary, desk, signedBy, signingPages, signs, consents, given, comesTo, notarySigns } = acting(session);
  const [order] = await db.query<{ id: number; sealed: string }>(sql`
    SELECT o.id, d.sha256 AS sealed FROM orders o JOIN documents d ON d.order_id = o.id AND d.kind = 'sealed'
    WHERE ${isSealed(sql`o.code`, "order", code)}`);
  assert.ok(order);
  const roomOf = async (n: number) => {
    const { path = "", cookie = "" } = pages[n] ?? {};
    return (await fetch(running.service.baseUrl + path, { headers: { cookie } })).text();
  };
  for (const n of [1, 2]) assert.ok((await roomOf(n)).includes(liveWords.en.room.again));
  await connected(session, async () => {
    for (const n of [1, 2]) {
      await comesTo("read", n);
      const early = await given(n);
      assert.equal((await consents(early)).status, 303);
      // The turn may have ended by now, because the consent ends it.
      assert.ok([404, 409].includes((await signs(early)).status), "nobody signs before the oath");
      await comesTo("oath", n);
      assert.equal((await asNotary.post(`${desk}/mark`, { step: "sign", signer: String(n) })).status, 409);
      assert.deepEqual(await signedBy(), n === 1 ? [] : [1]);
      await comesTo("sign", n);
      await given(n);
      assert.equal(await signingPages(n === 1 ? 2 : 1), undefined, "one signer at a time has the signing pages");
    }
    // The file has four signatures: those of the two signers of this act, the notary's, and the seal.
    await isValid(await notarySigns(), "again", 4);
  });
  const [entry] = await db.query<{ record: string }>(
    sql`SELECT record FROM notary_journal ORDER BY position DESC LIMIT 1`,
  );
  const { act } = JSON.parse(entry?.record ?? "") as { act: Act };
  assert.deepEqual([act.act, act.mode, act.signedBefore], ["jurat", "ron", { sha256: order.sealed }]);
  assert.match(act.notes ?? "", /^Ann Lee: oath\nBen Cole: oath\nSigned again before me\./);
});
