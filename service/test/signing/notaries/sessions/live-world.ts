import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Harness } from "@signsealship/testing/harness";
import { type MediaPeer, openPeer } from "@signsealship/testing/media-peer";
import { newPartner } from "@signsealship/testing/service";
import { until } from "@signsealship/testing/until";
import { isSealed, sql } from "../../../../src/kernel/platform/database/sql.ts";
import type { ChainLine } from "../../../../src/providers/media/chain.ts";
import { readLine } from "../../../../src/providers/media/chain.ts";
import type { MediaEngine, MediaEvent } from "../../../../src/providers/media/media.ts";
import { readSpool, spoolFiles } from "../../../../src/providers/media/spool.ts";
import { addNotary } from "../../../../src/signing/notaries/notaries.ts";
import { mailsTo, postForm } from "../../../firms/members/signed-in-member.ts";
import { newOperator } from "../../../firms/operators/console-people.ts";
import { certificateFiles } from "../certificate-files.ts";
import { ohioCommission, ordersToNotarize } from "../orders-to-notarize.ts";

/** A person's page of a session, and the cookie that opens it. */
type Page = { person: string; path: string; cookie: string };

/** A session that has begun, with a notary and signers who were admitted and are not connected yet. */
export type BegunSession = { code: string; id: string; pages: readonly Page[] };

type Manifest = {
  takes: { person: string; take: number; endedBy: string }[];
  gaps: { person: string; from: string; to: string; cause: string }[];
  chain: { lines: number; headSha256: string };
};

/**
 * A notary and sessions of a running service. The people of a session connect through the service's own routes, without
 * browsers.
 */
export async function liveWorld(running: Harness, folder: string) {
  const { pem: certificate, p12 } = certificateFiles(folder)("Nora Ames", { key: "p256" });
  const partner = await newPartner(running.service);
  const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
  const commission = { ...ohioCommission, certificate };
  await addNotary({ db: running.db, clock: () => new Date() }, nora.id, commission, "operator");
  const orders = ordersToNotarize(running, partner);
  const post = async (path: string, typed: Record<string, string>, cookie: string) => {
    const answer = await postForm(running.service.baseUrl + path, typed, { cookie, Accept: "application/json" });
    assert.equal(answer.status, 303, `${path}: ${await answer.clone().text()}`);
    return answer;
  };

  async function begin(
    fields: Record<string, string>,
    emails: readonly string[],
    act: string,
    where: Record<string, string> = {},
  ): Promise<BegunSession> {
    const code = await orders.place(fields);
    await orders.claim(code, nora.cookie);
    return meet(code, act, emails, where);
  }

  async function meet(
    code: string,
    act: string,
    emails: readonly string[],
    where: Record<string, string>,
  ): Promise<BegunSession> {
    const desk = `/operator/notary/orders/${code}/session`;
    const before = new Set(emails.flatMap((email) => mailsTo(running.service, email)));
    const mailed = (email: string, pattern: RegExp) =>
      until(() => {
        const mails = mailsTo(running.service, email).filter((mail) => !before.has(mail));
        return mails.flatMap((mail) => pattern.exec(mail)?.[1] ?? [])[0];
      });
    await post(desk, { act }, nora.cookie);
    const pages: Page[] = [{ person: "notary", path: desk, cookie: nora.cookie }];
    for (const [index, email] of emails.entries()) {
      const path = await mailed(email, /(\/notary-room\/[0-9a-f]{40})/);
      await post(`${path}/code`, {}, "");
      const entered = await post(`${path}/enter`, { code: await mailed(email, /Your code is (\d{6})\./) }, "");
      const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
      const place = { city: "Columbus", region: "Ohio", country: "US", ...where };
      await post(`${path}/consent`, { answer: "agree", own: "on", version: "1", language: "en", ...place }, cookie);
      pages.push({ person: `signer-${index + 1}`, path, cookie });
    }
    await post(`${desk}/start`, {}, nora.cookie);
    for (const [index] of emails.entries()) await post(`${desk}/admit`, { person: String(index + 1) }, nora.cookie);
    const [row] = await running.db.query<{ id: string }>(sql`
      SELECT l.id FROM live_sessions l JOIN orders o ON o.id = l.order_id
      WHERE ${isSealed(sql`o.code`, "order", code)} ORDER BY l.opened_at DESC LIMIT 1`);
    return { code, id: row?.id ?? "", pages };
  }

  return {
    p12,
    post,
    orders,
    begin: (email: string, where: Record<string, string> = {}) => begin({ email }, [email], "acknowledgment", where),
    beginWith: (act: string, signers: readonly { name: string; email: string }[]) =>
      begin(
        { signers: JSON.stringify(signers) },
        signers.map(({ email }) => email),
        act,
      ),
    /** Begins an act with these signers on a document that all of them have signed at home. */
    async beginSigned(act: string, signers: readonly { name: string; email: string }[]): Promise<BegunSession> {
      const code = await orders.place({ signers: JSON.stringify(signers), svc_sign: "true" });
      const emails = signers.map(({ email }) => email);
      for (const email of emails) await orders.signsAtHome(email);
      await orders.reachesNotary(code);
      await orders.claim(code, nora.cookie);
      return meet(code, act, emails, {});
    },
    /** Opens another session of an order whose last session has ended, and admits the same signers. */
    async beginAgain({ code }: BegunSession, act: string, emails: readonly string[]): Promise<BegunSession> {
      return meet(code, act, emails, {});
    },
    end: ({ pages: [notary] }: BegunSession) =>
      post(`${notary?.path}/end`, { outcome: "abandoned" }, notary?.cookie ?? ""),
    /** The manifest of an ended session, and all lines of its chain. */
    async recordOf({ id }: BegunSession): Promise<{ manifest: Manifest; lines: ChainLine[] }> {
      const manifest = await until(async () => {
        const rows = await running.db.query<{ manifest: string | null }>(
          sql`SELECT manifest FROM recordings WHERE session = ${id}`,
        );
        return rows[0]?.manifest;
      });
      const parts = await running.db.query<{ lines: string }>(sql`
        SELECT p.lines FROM recording_parts p JOIN recordings r ON r.id = p.recording_id
        WHERE r.session = ${id} ORDER BY p.first_seq`);
      const lines = parts.flatMap(({ lines: text }) => text.trimEnd().split("\n").map(readLine));
      return { manifest: JSON.parse(manifest) as Manifest, lines };
    },
    /** Resolves once a chunk of each person was recorded after this time. */
    async recordedSince(since: number, { id, pages }: BegunSession): Promise<void> {
      await until(async () => {
        const folders = await foldersOf(running.service.dataDir, id);
        const files = (await Promise.all(folders.map((folder) => spoolFiles(folder)))).flat();
        // The service may move a file to the store during the read.
        const read = await Promise.all(files.map((file) => readSpool(file).catch(() => ({ chunks: [] }))));
        const lines = read.flatMap(({ chunks }) => chunks.map(({ line }) => line));
        return pages.every(({ person }) =>
          lines.some((line) => line.person === person && line.n > 0 && Date.parse(line.at) > since),
        );
      });
    },
  };
}

/** The folders of a session's recording on a node's disk: each node that shares the disk has one. */
export async function foldersOf(dataDir: string, session: string): Promise<string[]> {
  const shared = join(dataDir, "recordings");
  const nodes = await readdir(shared).catch(() => []);
  return nodes.map((node) => join(shared, node, session)).filter((folder) => existsSync(folder));
}

/**
 * Connects all people of a session through a node. Retries until each connection succeeds, as the people's pages do.
 */
export const connectAll = (baseUrl: string, { id, pages }: BegunSession): Promise<MediaPeer[]> =>
  Promise.all(
    pages.map((page) =>
      until(() =>
        openPeer({ engine: roomEngine(baseUrl, page), session: id, person: page.person, rate: 10 }).catch(() => null),
      ),
    ),
  );

/** A media engine for `openPeer` that sends requests to the person's room, as the person's page does. */
function roomEngine(baseUrl: string, { path, cookie }: Page): MediaEngine {
  const listeners = new Set<(event: MediaEvent) => void>();
  const closing = new AbortController();
  const ask = async (rest: string, typed: Record<string, string>) => {
    const answer = await postForm(baseUrl + path + rest, typed, { cookie, Accept: "application/json" });
    if (answer.status !== 200) throw new Error(`${rest}: ${answer.status}`);
    return answer.json();
  };
  const hear = async (session: string, person: string) => {
    const stream = await fetch(`${baseUrl}${path}/events`, { headers: { cookie }, signal: closing.signal });
    if (stream.status !== 200 || !stream.body) throw new Error(`events: ${stream.status}`);
    const { body } = stream;
    const read = async () => {
      let text = "";
      for await (const bytes of body) {
        text += Buffer.from(bytes).toString();
        const events = text.split("\n\n");
        text = events.pop() ?? "";
        for (const event of events) {
          const news = event.startsWith("data: ") ? JSON.parse(event.slice(6)) : null;
          if (news?.kind === "message")
            for (const listener of listeners) listener({ kind: "message", session, person, message: news.message });
        }
      }
    };
    // The stream ends when the peer closes, or when its service is killed.
    read().catch(() => {});
  };
  return {
    async admit(session: string, person: string) {
      try {
        await hear(session, person);
        return (await ask("/media", {})) as { ticket: string; iceServers: [] };
      } catch (error) {
        closing.abort();
        throw error;
      }
    },
    async signal(ticket: string, message: { kind: string; sdp?: string }) {
      const { sdp, kind } = message;
      const { messages } = await ask("/signal", { ticket, kind, ...(sdp !== undefined && { sdp }) });
      return messages;
    },
    listen(listener: (event: MediaEvent) => void) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
        closing.abort();
      };
    },
  } as unknown as MediaEngine;
}
