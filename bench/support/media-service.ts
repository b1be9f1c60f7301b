/**
 * Measures figures of online notarization for their budgets: the size of its scripts, the notary's wait while signing,
 * and how soon a recording plays.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { type Browser, type OpenPage, startBrowser } from "@signsealship/testing/browser";
import { freePort } from "@signsealship/testing/free-port";
import { type Harness, openHarness } from "@signsealship/testing/harness";
import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { fakeDevices } from "@signsealship/testing/media";
import { newPartner, temporaryFolder } from "@signsealship/testing/service";
import { openPkcs12 } from "../../service/src/pages/operator/browser/pkcs12.ts";
import { openAssets } from "../../service/src/pages/ui/assets/assets.ts";
import { addNotary } from "../../service/src/signing/notaries/notaries.ts";
import { postForm } from "../../service/test/firms/members/signed-in-member.ts";
import { newOperator } from "../../service/test/firms/operators/console-people.ts";
import { certificateFiles, password } from "../../service/test/signing/notaries/certificate-files.ts";
import { ohioCommission, ordersToNotarize } from "../../service/test/signing/notaries/orders-to-notarize.ts";
import { recordSession } from "../../service/test/signing/notaries/recordings/recorded-session.ts";
import { p95, timed } from "./times.ts";

/** The compressed size of a script, in KB. */
export async function weightOf(name: "notary-room.js" | "notary-sign.js"): Promise<number> {
  return gzipSync((await openAssets()).bytes(name), { level: 9 }).length / 1_000;
}

type Person = Awaited<ReturnType<typeof newOperator>>;

const act = {
  act: "acknowledgment",
  mode: "ron",
  document: "Deed",
  venue_state: "OH",
  venue_county: "Franklin",
  started_at: "2026-01-15T14:05",
  ended_at: "2026-01-15T14:35",
  fee: "10.00",
  tool: "T",
  session_id: "S",
  recording_sha256: "ab".repeat(32),
  recording_at: "Vault",
  recording_until: "2036-01-15",
  principal_1_name: "Jane Doe",
  principal_1_address: "1 Main Street",
  principal_1_basis: "personal_knowledge",
  principal_1_city: "Columbus",
  principal_1_region: "Ohio",
  principal_1_country: "US",
};

const rounds = { warm: 4, timed: 20 };

/**
 * A notary signs 5 MB in the browser, without a time stamp. Measures how long the notary waits for the service's
 * answers.
 * @returns the 95th percentile in milliseconds
 */
async function signingMs(running: Harness, nora: Person, p12: Buffer): Promise<number> {
  const key = await openPkcs12(p12, password);
  const orders = ordersToNotarize(running, await newPartner(running.service));
  const document = makePdf({ pages: 100, bytes: 5_000_000 });
  const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
  const times: number[] = [];
  // Places all orders before the first act. The service runs in one process: between acts, the uploads would fill the
  // memory that the acts release.
  const codes: string[] = [];
  while (codes.length < rounds.warm + rounds.timed) codes.push(await orders.place({}, document));
  for (const [round, code] of codes.entries()) {
    await orders.claim(code, nora.cookie);
    const post = (rest: string, fields: Record<string, string>) =>
      postForm(`${running.service.baseUrl}/operator/notary/orders/${code}${rest}`, fields, { cookie: nora.cookie });
    await post("/act", act);
    const answered = async (rest: string, fields: Record<string, string>) =>
      (await post(`/sign/${rest}`, fields)).json() as Promise<{
        signedAttrs?: string;
        next?: string;
        refused?: string;
      }>;
    const [preparing, prepared] = await timed(() => answered("prepare", { certificate: base64(key.certificate.der) }));
    const signature = base64(await key.sign(Buffer.from(prepared.signedAttrs ?? "", "base64")));
    const [completing, completed] = await timed(() => answered("complete", { signature }));
    if (completed.next === undefined) throw new Error(`not signed: ${prepared.refused ?? completed.refused}`);
    if (round >= rounds.warm) times.push(preparing + completing);
  }
  return p95(times);
}

/**
 * How long a viewer waits, in milliseconds: until a recording's page shows its first frame, and until the video has
 * jumped to another time.
 */
async function playbackMs(
  running: Harness,
  browser: Browser,
  nora: Person,
  notaryId: string,
): Promise<{ first: number; seek: number }> {
  const seconds = 20;
  const { id } = await recordSession(running, browser, { notaryId, orderId: null, seconds });
  const path = `${running.service.baseUrl}/operator/notary/recordings/${id}`;
  const viewer = await browser.open(path, { width: 1280, cookie: nora.cookie });
  const { page } = viewer;
  await page.getByLabel("Why you look at it").fill("To measure it");
  await page.getByRole("button", { name: "Open for an hour" }).click();
  await page.locator("video").waitFor();
  const firsts: number[] = [];
  const seeks: number[] = [];
  for (let round = 0; round < 5; round++) {
    firsts.push((await timed(() => firstPicture(viewer, path)))[0]);
    seeks.push(await seekMs(viewer, (seconds * (round + 0.5)) / 6));
  }
  await viewer.close();
  return { first: p95(firsts), seek: p95(seeks) };
}

async function firstPicture({ page }: OpenPage, path: string): Promise<void> {
  await page.goto(path, { waitUntil: "commit" });
  // `waitForFunction` needs `eval`, which the page's Content-Security-Policy forbids.
  while (!(await page.evaluate("document.querySelector('video')?.readyState >= 2"))) await sleep(10);
}

const seekMs = ({ page }: OpenPage, to: number): Promise<number> =>
  page.evaluate(`(async () => {
    const video = document.querySelector("video");
    const from = performance.now();
    const sought = new Promise((resolve) => video.addEventListener("seeked", resolve, { once: true }));
    video.currentTime = ${to};
    await sought;
    return performance.now() - from;
  })()`) as Promise<number>;

/** Measures how long a notary waits while signing, and how long a viewer waits for a recording, with one service. */
export async function byService(): Promise<{ signing: number; first: number; seek: number }> {
  const port = String(await freePort());
  const folder = temporaryFolder();
  const { pem: certificate, p12 } = certificateFiles(folder.path)("Nora Ames", { key: "p256" });
  const [running, browser] = await Promise.all([
    openHarness({ PORT: port, BASE_URL: `http://127.0.0.1:${port}` }),
    startBrowser(fakeDevices),
  ]);
  try {
    const nora = await newOperator(running, { roles: ["notary"], environment: "test", passkey: false });
    const records = { db: running.db, clock: () => new Date() };
    const notaryId = await addNotary(records, nora.id, { ...ohioCommission, certificate }, "operator");
    const signing = await signingMs(running, nora, p12);
    return { signing, ...(await playbackMs(running, browser, nora, notaryId)) };
  } finally {
    await browser.close();
    await running.close();
    folder.remove();
  }
}
