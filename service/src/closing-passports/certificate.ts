import {
  certificateFile,
  createFlow,
  createSheets,
  createTypeset,
  type Faces,
  type Flow,
  ink,
  type Look,
  margin,
  markOperators,
  muted,
  openFaces,
  pageSize,
  qrOperators,
  type Sheets,
  type Typeset,
  textWidth,
} from "@signsealship/certificate";
import type { Manifest, ManifestDocument } from "@signsealship/evidence/manifest";
import type { Environment } from "../identity/identity.ts";
import type { ChainLink } from "./store.ts";

/** What a certificate says. Hashes are lowercase hex SHA-256. */
export type CertificateContent = {
  manifest: Manifest;
  /** Its canonical JSON: attached as `manifest.json`. */
  manifestBytes: Uint8Array;
  manifestSha256: string;
  environment: Environment;
  partnerName: string;
  verifyCode: string;
  /** Absolute; also in the QR code. */
  verifyUrl: string;
  /** Every version up to this one, in ascending order. */
  chain: readonly ChainLink[];
};

/** Draws a certificate as a PDF that is yet to be sealed. Equal contents give equal bytes. */
export type DrawCertificate = (content: CertificateContent) => Promise<Buffer>;

/** The drawing of certificates; fonts are read when first needed. */
export function openCertificates(): DrawCertificate {
  let opening: Promise<Faces> | undefined;
  return async (content) => {
    opening ??= openFaces();
    const faces = await opening;
    const { passport, documents } = content.manifest;
    const written = [
      passport.roomName,
      passport.reference,
      content.partnerName,
      ...documents.map(({ label }) => label),
    ];
    for (const text of written) if (text !== null) await faces.prepare(text);
    return draw(createTypeset(faces), content);
  };
}

const body: Look = { size: 9.5 };
const fine: Look = { size: 8.5 };
const code: Look = { size: 8, mono: true, leading: 1.6 };
const quiet: Look = { size: 9, colour: muted };
const heading: Look = { size: 12, weight: "semibold", leading: 1.7 };
const titleLook: Look = { size: 20, weight: "semibold", leading: 1.25 };
const qrSide = 100;

function draw(typeset: Typeset, content: CertificateContent): Buffer {
  const sheets = createSheets();
  const flow = createFlow(sheets, typeset);
  sheets.newPage();
  head(sheets, flow, typeset, content);
  summary(sheets, flow, content);
  documentList(flow, content.manifest.documents);
  coverageLists(flow, content.manifest);
  chainList(flow, content);
  byHand(flow, content);
  feet(sheets, typeset, content);
  return certificateFile(sheets, content.manifest, content.manifestBytes);
}

function head(
  sheets: Sheets,
  flow: Flow,
  typeset: Typeset,
  { manifest, partnerName, environment }: CertificateContent,
) {
  const top = flow.y();
  sheets.drawing(margin.side, top - 26, 26 / 64, markOperators);
  flow.skip(5.5);
  flow.text("SignSealShip", { size: 13, weight: "semibold", colour: "#1f3d6d" }, { x: margin.side + 35 });
  const kind = "Closing Passport certificate";
  const width = ((typeset(kind, 1e9).lines[0]?.width ?? 0) * 9.5) / 1000;
  flow.moveTo(top - 8);
  flow.text(kind, { ...body, colour: muted }, { x: margin.side + textWidth - width });
  flow.moveTo(top - 36);
  flow.rule();
  flow.skip(14);
  flow.text(manifest.passport.roomName, titleLook);
  flow.skip(3);
  flow.text(`Version ${manifest.passport.version} of the room’s Closing Passport. Made for ${partnerName}.`, {
    size: 10.5,
    colour: muted,
  });
  if (environment === "test") testNotice(sheets, flow);
  flow.skip(14);
}

function testNotice(sheets: Sheets, flow: Flow) {
  flow.skip(8);
  sheets.rectangle(margin.side, flow.y() - 23, textWidth, 23, "#fdf1d6");
  sheets.rectangle(margin.side, flow.y() - 23, 3, 23, "#b3720a");
  flow.skip(6.5);
  const look: Look = { size: 9.5, weight: "semibold", colour: "#6b4304" };
  flow.text("Test environment: made with a test key, it stands for nothing outside of a test.", look, {
    x: margin.side + 12,
  });
  flow.skip(4);
}

/** Instants as people read them, UTC. */
const instantText = (iso: string): string => `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;

function summary(sheets: Sheets, flow: Flow, content: CertificateContent) {
  const { manifest, manifestSha256, verifyUrl, verifyCode } = content;
  const { passport, documents } = manifest;
  const top = flow.y();
  const beside = { width: textWidth - qrSide - 24 };
  sheets.drawing(pageSize.width - margin.side - qrSide, top - qrSide, 1, qrInk(verifyUrl));
  sheets.link(pageSize.width - margin.side - qrSide, top - qrSide, qrSide, qrSide, verifyUrl);
  flow.row("Reference", passport.reference ?? "none", passport.reference === null ? quiet : body, beside);
  flow.row("Snapshot taken", instantText(passport.generatedAtUtc), body, beside);
  flow.row("Orders", String(documents.length), body, beside);
  flow.row("Verify code", verifyCode, { ...code, size: 9.5 }, beside);
  flow.row("Verify at", verifyUrl, { ...code, size: 7 }, beside);
  flow.moveTo(Math.min(flow.y(), top - qrSide) - 10);
  flow.row("Manifest SHA-256", manifestSha256, code);
  flow.row("Version before, SHA-256", passport.prevManifestSha256 ?? "none: this is the first version", {
    ...(passport.prevManifestSha256 === null ? quiet : code),
    leading: 1.6,
  });
  flow.row("Room code", passport.roomCode, code);
  flow.skip(10);
}

const qrInk = (url: string): string => `0 0 0 rg ${qrOperators(url, qrSide)}`;

function section(flow: Flow, title: string, least: number) {
  flow.keep(least);
  flow.rule();
  flow.skip(12);
  flow.text(title, heading);
  flow.skip(2);
}

const artifacts = [
  ["originalSha256", "As uploaded, SHA-256"],
  ["sealedSha256", "Sealed, SHA-256"],
  ["custodyCertSha256", "Custody cert., SHA-256"],
  ["envelopeVerifyCode", "Envelope verify code"],
] as const;

function documentList(flow: Flow, documents: readonly ManifestDocument[]) {
  section(flow, "Documents", 110);
  if (documents.length === 0) flow.text("No order was attached to the room.", quiet);
  for (const document of documents) documentBlock(flow, document);
  flow.skip(4);
}

function documentBlock(flow: Flow, document: ManifestDocument) {
  const { label, orderCode, statusAtSnapshot } = document;
  const name = label ?? "Order without a label";
  const nameLook: Look = { size: 10.5, weight: "semibold", colour: label === null ? muted : ink };
  const held = artifacts.filter(([member]) => document[member] !== undefined);
  flow.keep(flow.measure(name, textWidth, nameLook) + (held.length + 2) * 14);
  flow.text(name, nameLook);
  flow.row("Order code", orderCode, code);
  for (const [member, title] of held) flow.row(title, document[member] ?? "", code);
  if (held.length === 0) flow.row("Artifacts", "none held when the snapshot was taken", { ...fine, colour: muted });
  flow.row("Status", `${statusAtSnapshot.value}: attested by this service, not evidence`, fine);
  flow.skip(9);
}

function coverageLists(flow: Flow, { coverage }: Manifest) {
  const gap = 24;
  const width = (textWidth - gap) / 2;
  const right = { x: margin.side + width + gap, width };
  section(flow, "What the seal covers", 150);
  const top = flow.y();
  for (const text of coverage.covers) item(flow, text, { x: margin.side, width });
  const lowest = flow.y();
  flow.moveTo(top + heading.size * (heading.leading ?? 1) + 2);
  flow.text("What it does not cover", heading, right);
  flow.skip(2);
  for (const text of coverage.doesNotCover) item(flow, text, right);
  flow.moveTo(Math.min(lowest, flow.y()) - 8);
}

function item(flow: Flow, text: string, { x, width }: { x: number; width: number }) {
  const y = flow.y();
  flow.text("•", fine, { x: x + 2 });
  flow.moveTo(y);
  flow.text(text, fine, { x: x + 12, width: width - 12 });
}

function chainList(flow: Flow, { chain }: CertificateContent) {
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

function byHand(flow: Flow, { manifestSha256 }: CertificateContent) {
  section(flow, "Check it yourself", 82);
  const hash = `${manifestSha256.slice(0, 12)}…`;
  const steps = [
    ["pdfsig certificate.pdf", "The seal is a CMS signature over the whole file."],
    ["pdfdetach -save 1 -o manifest.json certificate.pdf", "The manifest is attached as it was hashed."],
    ["sha256sum manifest.json", `It prints ${hash}, the manifest’s hash above.`],
  ] as const;
  for (const [command, outcome] of steps) {
    flow.text(command, code);
    flow.moveTo(flow.y() + code.size * (code.leading ?? 1));
    flow.text(outcome, { ...fine, colour: muted }, { x: margin.side + 270, width: textWidth - 270 });
    flow.skip(2);
  }
  if (!flow.escaped()) return;
  flow.skip(6);
  const note =
    "Characters that no font here shows, or that show nothing, are written as \\u{…} with their code points. The attached manifest has the exact texts.";
  flow.keep(flow.measure(note, textWidth, quiet));
  flow.text(note, quiet);
}

function feet(sheets: Sheets, typeset: Typeset, { verifyCode, manifest }: CertificateContent) {
  const size = 7.5;
  for (let page = 0; page < sheets.pageCount(); page++) {
    sheets.turnTo(page);
    const [left] = typeset(
      `Closing Passport, version ${manifest.passport.version}. Verify code ${verifyCode}`,
      1e9,
    ).lines;
    const [right] = typeset(`Page ${page + 1} of ${sheets.pageCount()}`, 1e9).lines;
    if (!left || !right) continue;
    sheets.text(left, margin.side, 36, size, muted);
    sheets.text(right, pageSize.width - margin.side - (right.width * size) / 1000, 36, size, muted);
  }
}
