import { type Flow, margin, muted, textWidth } from "@signsealship/certificate";
import type { ChainLink } from "../store.ts";
import { instantText } from "./content.ts";
import { code, fine, quiet, section } from "./looks.ts";

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

const escapedNote =
  "Characters that no font here shows, or that show nothing, are written as \\u{…} with their code points. The attached manifest has the exact texts.";

/** Commands that check the certificate without this service. */
export function manualChecks(flow: Flow, manifestSha256: string): void {
  section(flow, "Check it yourself", 82);
  const steps = [
    ["pdfsig certificate.pdf", "The seal is a CMS signature over the whole file."],
    ["pdfdetach -save 1 -o manifest.json certificate.pdf", "The manifest is attached as it was hashed."],
    ["sha256sum manifest.json", `It prints ${manifestSha256.slice(0, 12)}…, the manifest’s hash above.`],
  ] as const;
  for (const [command, outcome] of steps) {
    flow.text(command, code);
    flow.moveTo(flow.y() + code.size * (code.leading ?? 1));
    flow.text(outcome, { ...fine, colour: muted }, { x: margin.side + 270, width: textWidth - 270 });
    flow.skip(2);
  }
  if (!flow.escaped()) return;
  flow.skip(6);
  flow.keep(flow.measure(escapedNote, textWidth, quiet));
  flow.text(escapedNote, quiet);
}
