import { join } from "node:path";
import { blobsOf } from "@signsealship/testing/blobs";
import type { Browser } from "@signsealship/testing/browser";
import type { Harness } from "@signsealship/testing/harness";
import { cameraOrigin, joinByPage, startEngine } from "@signsealship/testing/media";
import { openPeer } from "@signsealship/testing/media-peer";
import { openLog } from "../../../../src/kernel/platform/logs.ts";
import { systemRandom } from "../../../../src/kernel/platform/random.ts";
import { openSecretsKey } from "../../../../src/kernel/platform/secrets.ts";
import { eligibilityReader, loadNotaryRules, Recordings } from "../../../../src/signing/notaries/notaries.ts";

type Recorded = { notaryId: string; orderId: number | null; session?: string; seconds?: number };

/**
 * Records a session of a running service with two people: one with a browser's fake camera, and one with only sound.
 * @returns the recording's id, and the time of its only mark, in seconds from the start
 */
export async function recordSession(
  { db, service: { dataDir } }: Harness,
  browser: Browser,
  { notaryId, orderId, session = "played", seconds = 5.5 }: Recorded,
) {
  const media = startEngine();
  const clock = () => new Date();
  const shipped = loadNotaryRules(join(import.meta.dirname, "../../../../data/notarization-rules.yaml"));
  const recordings = new Recordings({
    db,
    clock,
    random: systemRandom,
    log: openLog("silent"),
    media,
    blobs: await blobsOf(dataDir),
    secrets: await openSecretsKey(`file:${join(dataDir, "keys/secrets")}`),
    readEligibility: eligibilityReader({ shipped, clock, notarizationBlocked: () => false }),
  });
  const people = [
    { person: "n", role: "notary", name: "Nora Ames" },
    { person: "s", role: "signer", name: "Sam Cole" },
  ];
  const input = { session, notaryId, orderId, environment: "test" as const, people };
  const id = await recordings.begin({ ...input, requireHeld: async () => {} });
  const origin = await cameraOrigin();
  const { page, close } = await browser.open(origin.url, { width: 400 });
  await joinByPage(media, page, { session, person: "n" });
  const voice = await openPeer({ engine: media.engine, session, person: "s", video: false });
  await media.happened("chunk", ({ line }) => line.person === "s" && line.n === 1);
  const after = (ms: number) => media.happened("chunk", ({ line }) => line.person === "n" && line.from > ms);
  const { line } = await after(seconds * 1_000 - 1_500);
  const mark = { at: new Date(Date.now() - 2_000).toISOString(), kind: "notary_signs", person: "n" };
  await after(seconds * 1_000);
  await recordings.end(session, [mark]);
  await voice.close();
  await close();
  origin.close();
  recordings.stop();
  await media.stop();
  return { id, markSeconds: line.to / 1_000 - 2 };
}
