import { createHash, generateKeyPairSync, sign as signBare } from "node:crypto";
import { makePdf } from "@signsealship/testing/pdf-maker";
import {
  browser,
  consentText,
  openCeremonyService,
  signBy,
} from "../service/test/envelopes/ceremony/ceremony-service.ts";
import { atLeast, atMost, type Result } from "./result.ts";

const rounds = 20;
const size = 5_000_000;

/** An act on 5 MB: what a signer waits for, and what it costs against hashing and signing the same bytes once. */
export async function run(): Promise<Result[]> {
  const running = await openCeremonyService();
  try {
    const document = makePdf({ pages: 100, bytes: size });
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const [acts, bare]: [number[], number[]] = [[], []];
    for (let round = 0; round < rounds; round++) {
      const signers = [1, 2].map((n) => ({ name: `Signer ${n}`, email: `act-${round}-${n}@example.com` }));
      await running.order(signers, {}, document);
      const link = await running.linkOf(signers[0]?.email ?? "");
      await running.ceremony.opened(link, browser);
      await running.ceremony.consent(link, consentText, browser);
      acts.push(await msOf(() => signBy(running.ceremony, link, "Signer 1")));
      bare.push(await msOf(async () => signBare("sha256", createHash("sha256").update(document).digest(), privateKey)));
    }
    const p95 = [...acts].sort((one, other) => one - other)[Math.floor(rounds * 0.95)] ?? 0;
    const perSecond = (ms: number[]) => ms.map((one) => 1000 / one);
    return [
      atMost("act on 5 MB, 95th percentile, without a time stamp", [p95], [60], "ms", 1),
      atLeast("act on 5 MB against SHA-256 and one signature", perSecond(acts), perSecond(bare), "acts/s", 0.6),
    ];
  } finally {
    await running.close();
  }
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
