import { code, type Flow, fine, margin, muted, section } from "@signsealship/certificate";
import type { ChainLink } from "../store.ts";
import { instantText } from "./content.ts";

/** Every version up to this one, with the hash of its manifest. */
export function chainList(flow: Flow, chain: readonly ChainLink[]): void {
  section(flow, "Versions of this passport", 80);
  for (const { version, createdAt, manifestSha256 } of chain) {
    flow.keep(14);
    const y = flow.y();
    flow.text(`Version ${version}`, { ...fine, weight: version === chain.length ? "semibold" : "regular" });
    flow.moveTo(y);
    flow.text(instantText(createdAt.toISOString()), { ...fine, colour: muted }, { x: margin.side + 58 });
    flow.moveTo(y);
    flow.text(manifestSha256, { ...code, size: 7.6 }, { x: margin.side + 178 });
  }
  flow.skip(10);
}

/** Commands that check the certificate without this service. */
export const checkSteps = (manifestSha256: string) =>
  [
    ["pdfsig certificate.pdf", "The seal is a CMS signature over the whole file."],
    ["pdfdetach -save 1 -o manifest.json certificate.pdf", "The manifest is attached as it was hashed."],
    ["sha256sum manifest.json", `It prints ${manifestSha256.slice(0, 12)}…, the manifest’s hash above.`],
  ] as const;
