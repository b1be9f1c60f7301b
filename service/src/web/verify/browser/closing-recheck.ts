import { verifyChain } from "@signsealship/evidence/manifest";
import { titleOf } from "@signsealship/verifier/claim-titles";
import { type Html, html } from "../../ui/render.ts";
import { claimList } from "../verdict.ts";
import type { ClosingConfig } from "./config.ts";

/** Hashes and chain of the manifests in the page, computed here and now. */
export async function recheckClosing({ roomCode, version, versions }: ClosingConfig): Promise<Html> {
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
  const done = whole
    ? "Your browser recomputed every hash and followed every link"
    : "Your browser recomputed the hash of this version’s manifest";
  const said = failing.length > 0 ? `${done}: ${failing.length} did not match.` : `${done}: everything matches.`;
  const missing =
    "This link does not open the earlier versions. Drop their certificates below to follow the chain, too.";
  return html`<p>${said} ${!whole && missing}</p>${claimList(own, titleOf)}${
    other.length > 0 &&
    html`<details><summary>Earlier versions and the chain</summary>${claimList(other, titleOf)}</details>`
  }`;
}
