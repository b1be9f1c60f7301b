import { verifyChain } from "@signsealship/evidence/manifest";
import { titleOf } from "@signsealship/verifier/claim-titles";
import { type Html, html } from "../../ui/render.ts";
import { claimList } from "../verdict.ts";
import type { ClosingConfig } from "./config.ts";

/** What came of it, in a sentence and claim by claim. */
export type Recheck = { said: string; claims: Html };

/** Hashes and chain of the manifests in the page, computed here and now. */
export async function recheckClosing({ roomCode, version, versions }: ClosingConfig): Promise<Recheck> {
  const encoder = new TextEncoder();
  const claims = await verifyChain({
    roomCode,
    versions: versions.flatMap(({ version, manifest, manifestSha256 }) =>
      manifest === null ? [] : [{ version, bytes: encoder.encode(manifest), manifestSha256 }],
    ),
  });
  const failing = claims.filter(({ state }) => state === "fails");
  const own = claims.filter(({ name }) => name.startsWith(`manifest.v${version}.`));
  const other = claims.filter((claim) => !own.includes(claim));
  const whole = versions.every(({ manifest }) => manifest !== null);
  const said =
    failing.length > 0
      ? `Your browser computed it, too: ${failing.length} did not match. Do not rely on it.`
      : "Your browser computed it, too: everything matches.";
  const missing =
    "This link does not open the earlier versions. Choose their certificates above to follow the chain, too.";
  const shown = html`${!whole && html`<p>${missing}</p>`}${claimList(own, titleOf)}${
    other.length > 0 &&
    html`<details><summary>Earlier versions and the chain</summary>${claimList(other, titleOf)}</details>`
  }`;
  return { said, claims: shown };
}
