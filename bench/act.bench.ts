import { createHash, generateKeyPairSync, sign as signBare } from "node:crypto";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { isSealed, sql } from "../service/src/kernel/platform/database/sql.ts";
import { type DocumentOwner, documentOwnerColumns } from "../service/src/orders/order/order.ts";
import type { Link } from "../service/src/signing/envelopes/envelopes.ts";
import { storeTail } from "../service/src/signing/envelopes/records/revisions.ts";
import {
  browser,
  consentText,
  openCeremonyService,
} from "../service/test/signing/envelopes/ceremony/ceremony-service.ts";
import { atLeast, atMost, type Result } from "./result.ts";
import { p95 } from "./support/times.ts";

/**
 * Numbers of orders. The `warm` ones are signed before the measurement. After them, the service has started its
 * threads, loaded its fonts and compiled its code.
 */
const rounds = { warm: 4, timed: 14 };
/**
 * Signers of each order. Only the first three sign, because the last signer's act also seals the document, which is
 * measured separately.
 */
const signers = [1, 2, 3, 4];
const size = 5_000_000;

type Running = Awaited<ReturnType<typeof openCeremonyService>>;
type Timed = { byService: number[]; byBrowser: number[]; bare: number[]; least: number[] };

/**
 * A signing act on a document of 5 MB: how long the signer waits, and the act's cost compared with hashing and signing
 * the same bytes once.
 */
export async function run(): Promise<Result[]> {
  const running = await openCeremonyService();
  try {
    const document = makePdf({ pages: 100, bytes: size });
    const orders: Order[] = [];
    for (let round = 0; round < rounds.warm + rounds.timed; round++) orders.push(await place(running, document, round));
    const timed: Timed = { byService: [], byBrowser: [], bare: [], least: [] };
    for (const [round, order] of orders.entries()) {
      const times = await timeOrder(running, document, order, round);
      if (round < rounds.warm) continue;
      for (const key of Object.keys(timed) as (keyof Timed)[]) timed[key].push(...times[key]);
    }
    const { byService, byBrowser, bare, least } = timed;
    return [
      atMost("act on 5 MB, 95th percentile, the service's key", [p95(byService)], [60], "ms", 1),
      atMost("act on 5 MB, 95th percentile, prepare and sign", [p95(byBrowser)], [60], "ms", 1),
      atLeast("act on 5 MB, SHA-256 and one signature", perSecond(byService), perSecond(bare), "acts/s", 0.6),
      atLeast("the same, and a durable tail and a commit", perSecond(byService), perSecond(least), "acts/s", 0.6),
    ];
  } finally {
    await running.close();
  }
}

type Order = { code: string; links: Link[] };

async function place(running: Running, document: Buffer, round: number): Promise<Order> {
  const people = signers.map((n) => ({ name: `Signer ${n}`, email: `act-${round}-${n}@example.com` }));
  const code = await running.order(people, {}, document);
  const links: Link[] = [];
  for (const { email } of people.slice(0, -1)) links.push(await running.linkOf(email));
  return { code, links };
}

async function timeOrder(running: Running, document: Buffer, { code, links }: Order, round: number): Promise<Timed> {
  const times: Timed = { byService: [], byBrowser: [], bare: [], least: [] };
  const [owner] = await running.db.query<DocumentOwner>(
    sql`SELECT ${documentOwnerColumns} FROM orders o WHERE ${isSealed(sql`o.code`, "order", code)}`,
  );
  if (!owner) throw new Error("the order is gone");
  for (const [index, link] of links.entries()) {
    await running.ceremony.opened(link, browser);
    await running.ceremony.consent(link, consentText, browser);
    // The document is fetched before the timing starts, because signers read it before they act.
    const { revision } = await running.ceremony.document(link);
    const byBrowser = (round + index) % 2 === 0;
    const ms = await (byBrowser ? timeBrowser : timeService)(running, link, revision);
    times[byBrowser ? "byBrowser" : "byService"].push(ms);
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const hashAndSign = () => signBare("sha256", createHash("sha256").update(document).digest(), privateKey);
    times.bare.push(await msOf(async () => hashAndSign()));
    times.least.push(
      await msOf(async () => {
        hashAndSign();
        await storeTail(running.deps, owner, Buffer.alloc(16 * 1024));
        await running.db.query(
          sql`UPDATE orders SET signature_fields = signature_fields WHERE ${isSealed(sql`code`, "order", code)}`,
        );
      }),
    );
  }
  return times;
}

const requestOf = (revision: number) => ({
  revision,
  mark: { kind: "typed", text: "Signer" } as const,
  values: new Map<string, string>(),
});

const timeService = ({ ceremony }: Running, link: Link, revision: number): Promise<number> =>
  msOf(() => ceremony.sign(link, requestOf(revision), browser));

/** Times the requests of a signer whose browser makes the signature. The time for the signature itself is left out. */
async function timeBrowser({ ceremony }: Running, link: Link, revision: number): Promise<number> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const request = { ...requestOf(revision), publicKey: publicKey.export({ format: "der", type: "spki" }) };
  const started = performance.now();
  const act = await ceremony.prepare(link, request, browser);
  const prepared = performance.now() - started;
  if (act.outcome !== "prepared") throw new Error("nobody else signs here");
  const signature = signBare("sha256", act.signedAttrs, privateKey);
  return prepared + (await msOf(() => ceremony.complete(link, signature)));
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

const perSecond = (ms: readonly number[]) => ms.map((one) => 1000 / one);
