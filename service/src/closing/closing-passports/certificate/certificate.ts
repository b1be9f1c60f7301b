import {
  type Attached,
  body,
  bullet,
  certificateFile,
  code,
  createFlow,
  createSheets,
  createTypeset,
  type Faces,
  type Flow,
  fine,
  heading,
  instantText,
  manualChecks,
  margin,
  muted,
  openFaces,
  pageFeet,
  quiet,
  section,
  type Typeset,
  tableHead,
  textWidth,
} from "@signsealship/certificate";
import { type Manifest, plainCoverage } from "@signsealship/evidence/manifest";
import type { ChainLink } from "../store.ts";
import { type CertificateContent, documentName, firmName } from "./content.ts";
import { documentList } from "./documents.ts";
import { certification, title } from "./frame.ts";

export type { CertificateContent } from "./content.ts";

/**
 * Returns a function that draws certificates. It reads the fonts at its first call. Equal contents give equal bytes.
 */
export function openCertificates(): (content: CertificateContent) => Promise<Buffer> {
  let opening: Promise<Faces> | undefined;
  return async (content) => {
    opening ??= openFaces();
    const faces = await opening;
    const { passport, documents } = content.manifest;
    const written = [
      passport.roomName,
      passport.reference,
      content.firm.name,
      content.firm.brandName,
      content.issuer.certificate,
      content.timeStamp?.name ?? null,
      ...documents.map(({ label, orderCode }) => documentName(label, content.details[orderCode])),
      ...Object.values(content.details).flatMap(({ signers }) => signers.map(({ name }) => name)),
    ];
    for (const text of written) if (text !== null) await faces.prepare(text);
    return draw(createTypeset(faces), content);
  };
}

function draw(typeset: Typeset, content: CertificateContent): Buffer {
  const sheets = createSheets();
  const flow = createFlow(sheets, typeset);
  sheets.newPage();
  title(sheets, flow, typeset, content);
  certification(sheets, flow, typeset, content);
  summary(flow, content);
  documentList(flow, content);
  coverageLists(flow, content.manifest.coverage);
  chainList(flow, content.chain);
  manualChecks(flow, checkSteps(content), { attached: "manifest.json", verifyUrl: content.verifyUrl });
  codesNote(flow);
  const { roomName, version, generatedAtUtc } = content.manifest.passport;
  pageFeet(sheets, typeset, `Closing Passport, version ${version}. Verify code ${content.verifyCode}`);
  return certificateFile(sheets, {
    title: `Closing Passport, version ${version}: ${roomName}`,
    at: new Date(generatedAtUtc),
    attached: attachments(content),
  });
}

/** The files attached to the certificate, sorted by name. */
function attachments({ manifestBytes, timeStamp }: CertificateContent): Attached[] {
  const description = "Canonical manifest of the Closing Passport";
  const manifest = { name: "manifest.json", description, bytes: manifestBytes };
  if (!timeStamp) return [manifest];
  const stamp = {
    name: "manifest.tst",
    description: "RFC 3161 time-stamp token of manifest.json",
    bytes: timeStamp.token,
  };
  return [manifest, { ...stamp, media: "application/timestamp-token" }];
}

/** Every version up to this one, with the hash of its manifest. */
function chainList(flow: Flow, chain: readonly ChainLink[]): void {
  section(flow, "Versions of this passport", 80);
  tableHead(flow, { Version: 0, Sealed: 58, "Manifest, SHA-256": 178 });
  for (const { version, createdAt, manifestSha256 } of chain) {
    flow.cells([
      [`Version ${version}`, { ...fine, weight: version === chain.length ? "semibold" : "regular" }, 0],
      [instantText(createdAt.toISOString()), { ...fine, color: muted }, 58],
      [manifestSha256, { ...code, size: 7.6 }, 178],
    ]);
  }
  flow.skip(10);
}

/** Commands that check the certificate without this service. */
const checkSteps = ({ manifestSha256, timeStamp }: CertificateContent) => [
  [
    "sha256sum DOCUMENT.pdf",
    "It prints a hash listed above. If a byte of the file differs, it prints another hash.",
  ] as const,
  ["pdfsig certificate.pdf", "It prints “Signature is Valid” and “Total document signed”."] as const,
  ["pdfdetach -saveall certificate.pdf", "It extracts the manifest, byte for byte."] as const,
  ["sha256sum manifest.json", `It prints ${manifestSha256.slice(0, 12)}…, the manifest’s hash above.`] as const,
  ...(timeStamp
    ? [["openssl ts -reply -token_in -in manifest.tst -text", "It shows the manifest’s time stamp."] as const]
    : []),
];

/**
 * The note about codes. The attached manifest contains codes that grant access. A printed copy shows only the verify
 * code.
 */
function codesNote(flow: Flow): void {
  const note =
    "The attached manifest.json contains the codes of the room and of its orders. Anybody who has a code can open its page. Give " +
    "this file only to people whom the closing concerns. A printed copy shows only the verify code.";
  flow.skip(6);
  flow.keep(flow.measure(note, textWidth, quiet));
  flow.text(note, quiet);
}

const gap = 24;

/** Two lists side by side: the facts that the seal covers, and those that it doesn't cover. */
function coverageLists(flow: Flow, { covers, doesNotCover }: Manifest["coverage"]): void {
  const width = (textWidth - gap) / 2;
  const right = { x: margin.side + width + gap, width };
  section(flow, "What the seal covers", 150);
  const top = flow.y();
  for (const text of covers) bullet(flow, plainCoverage[text] ?? text, { x: margin.side, width });
  const lowest = flow.y();
  flow.moveTo(top + heading.size * (heading.leading ?? 1) + 2);
  flow.text("What it does not cover", heading, right);
  flow.skip(2);
  for (const text of doesNotCover) bullet(flow, plainCoverage[text] ?? text, right);
  flow.moveTo(Math.min(lowest, flow.y()) - 8);
}

/** The section about the issuer, the seal's certificate, and the version that is certified. */
function summary(flow: Flow, content: CertificateContent): void {
  const { manifest, manifestSha256, verifyCode, issuer, firm, checkpoint } = content;
  const { prevManifestSha256 } = manifest.passport;
  const legal = firmName(firm) === firm.name ? "" : ` (${firm.name})`;
  section(flow, "Issued by", 150);
  flow.row("Issuer", `SignSealShip, ${issuer.url}`, body);
  flow.row("On behalf of", `${firmName(firm)}${legal}`, body);
  flow.row("Seal certificate", issuer.certificate, body);
  flow.row("Certificate, SHA-256", issuer.fingerprint, code);
  flow.row("Time stamp", timeStampText(content), body);
  if (checkpoint !== null) flow.row("Transparency log", logStateText(checkpoint), fine);
  flow.row("Verify code", verifyCode, { ...code, size: 9.5 });
  flow.row("Manifest, SHA-256", manifestSha256, code);
  const before = prevManifestSha256 ?? "none: this is the first version";
  flow.row("Previous version, SHA-256", before, prevManifestSha256 === null ? fine : code);
  flow.skip(10);
}

/**
 * The state of the transparency log in words. The first three lines of a checkpoint are the log's origin, its size and
 * its root in base64.
 */
function logStateText(checkpoint: string): string {
  const [origin, size, root] = checkpoint.split("\n");
  return `${origin}, ${size} entries, root ${root} (state before this seal)`;
}

const timeStampText = ({ timeStamp }: CertificateContent): string =>
  timeStamp
    ? `${instantText(timeStamp.at.toISOString())} over the manifest, by ${timeStamp.name} (${timeStamp.authority})`
    : "none was obtained for the manifest; only this service states the time";
