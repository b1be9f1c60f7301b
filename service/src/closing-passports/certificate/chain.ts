import {
  code,
  type Flow,
  fine,
  instantText,
  muted,
  quiet,
  section,
  tableHead,
  textWidth,
} from "@signsealship/certificate";
import type { ChainLink } from "../store.ts";
import type { CertificateContent } from "./content.ts";

/** Every version up to this one, with the hash of its manifest. */
export function chainList(flow: Flow, chain: readonly ChainLink[]): void {
  section(flow, "Versions of this passport", 80);
  tableHead(flow, { Version: 0, Sealed: 58, "Manifest, SHA-256": 178 });
  for (const { version, createdAt, manifestSha256 } of chain) {
    flow.cells([
      [`Version ${version}`, { ...fine, weight: version === chain.length ? "semibold" : "regular" }, 0],
      [instantText(createdAt.toISOString()), { ...fine, colour: muted }, 58],
      [manifestSha256, { ...code, size: 7.6 }, 178],
    ]);
  }
  flow.skip(10);
}

/** Commands that check the certificate without this service. */
export const checkSteps = ({ manifestSha256, timeStamp }: CertificateContent) => [
  [
    "sha256sum DOCUMENT.pdf",
    "It prints a hash listed above for that very file, and another one if a byte differs.",
  ] as const,
  ["pdfsig certificate.pdf", "“Signature is Valid” and “Total document signed”."] as const,
  ["pdfdetach -saveall certificate.pdf", "The manifest is attached as it was hashed."] as const,
  ["sha256sum manifest.json", `It prints ${manifestSha256.slice(0, 12)}…, the manifest’s hash above.`] as const,
  ...(timeStamp
    ? [["openssl ts -reply -token_in -in manifest.tst -text", "It shows the manifest’s time stamp."] as const]
    : []),
];

/** What is attached says more than what is printed. */
export function codesNote(flow: Flow): void {
  const note =
    "The attached manifest.json names the codes of the room and of its orders: whoever has a code can open its page. Give this file " +
    "to those alone whom the closing concerns; a printed copy names no code but the verify code.";
  flow.skip(6);
  flow.keep(flow.measure(note, textWidth, quiet));
  flow.text(note, quiet);
}
