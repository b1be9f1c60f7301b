import {
  body,
  type Color,
  certificateFile,
  code,
  createFlow,
  createSheets,
  dateText,
  type Flow,
  firmHead,
  instantText,
  letterhead,
  limitsSection,
  manualChecks,
  pageFeet,
  pageSize,
  sealBlock,
  section,
  testNotice,
  titleLook,
} from "@signsealship/certificate";
import { evidenceNames } from "@signsealship/evidence/records";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import type { ProofCertificate } from "./content.ts";

/** Draws a proof certificate with the record attached. Equal contents give equal bytes. */
export async function run(_document: Buffer, content: ProofCertificate): Promise<Uint8Array> {
  const { record, firm, verifyUrl, sealedBy } = content;
  const title = record.name ?? "Sealed document";
  const sealedAt = record.sealedAt.toISOString();
  const color = (firm?.accentColor ?? "#1f3d6d") as Color;
  const typeset = await typesetFor([title, firm?.name ?? "", content.authorityName ?? "", sealedBy.certificate]);
  const sheets = createSheets();
  const flow = createFlow(sheets, typeset);
  sheets.newPage();
  sheets.rectangle(0, pageSize.height - 5, pageSize.width, 5, color);
  letterhead(sheets, flow, typeset, "Proof certificate");
  const logoSpace = firm ? firmHead(sheets, flow, firm) : {};
  flow.skip(3);
  flow.text(title, titleLook, logoSpace);
  if (record.environment === "test") testNotice(sheets, flow);
  flow.skip(10);
  flow.text(statement(content), { size: 10.5, leading: 1.5 });
  flow.skip(10);
  sealBlock(sheets, flow, typeset, {
    ...(firm && { holder: firm.name }),
    at: `Document sealed ${dateText(sealedAt)}`,
    url: verifyUrl,
    certificate: `Certificate: ${sealedBy.certificate}`,
    color,
  });
  factList(flow, content);
  limits(flow);
  manualChecks(flow, steps(content), { attached: evidenceNames.record, verifyUrl });
  pageFeet(sheets, typeset, `Proof certificate. Verify code ${record.verifyCode}`);
  return certificateFile(sheets, {
    title: `Proof certificate: ${title}`,
    at: record.sealedAt,
    attached: { name: evidenceNames.record, description: "Record of the proof passport", bytes: content.recordBytes },
  });
}

const size = (bytes: number): string => `${new Intl.NumberFormat("en-US").format(bytes)} bytes`;

const extentText = ({ pages, bytes, sealedBytes }: NonNullable<ProofCertificate["document"]>): string =>
  `${pages === null ? "" : `${pages} ${pages === 1 ? "page" : "pages"}, `}${size(bytes)}; with the seal ${size(sealedBytes)}`;

function factList(flow: Flow, content: ProofCertificate): void {
  const { record, document, sealedBy, issuer } = content;
  section(flow, "Recorded facts", 150);
  flow.row("Document, SHA-256", record.docSha256, code);
  flow.row("Sealed file, SHA-256", record.sealedSha256, code);
  if (document) flow.row("Size", extentText(document), body);
  flow.row("Issuer", `SignSealShip, ${issuer.url}`, body);
  flow.row("Seal certificate", sealedBy.certificate, body);
  flow.row("Certificate, SHA-256", sealedBy.fingerprint, code);
  flow.row("This page’s seal, SHA-256", issuer.fingerprint, code);
  if (record.sealRetirement) flow.row("Retired", retirementText(record.sealRetirement), body);
  flow.row("Time stamp", timeStampText(content), body);
  flow.row("Bitcoin anchor", anchorText(content), body);
  flow.row("Transparency log", logText(content), body);
  flow.row("Verify code", record.verifyCode, { ...code, size: 9.5 });
  flow.skip(10);
}

const retirementText = ({ at, reason }: { at: Date; reason: string }): string =>
  `${instantText(at.toISOString())}, ${reason}; seals made after this time do not count`;

const timeStampText = ({ record: { timeStamp }, authorityName }: ProofCertificate): string =>
  timeStamp
    ? `${instantText(timeStamp.at.toISOString())}, by ${authorityName} (${timeStamp.authority})`
    : "none was obtained; only this service states the time";

function anchorText({ record: { anchor } }: ProofCertificate): string {
  if (!anchor) return "none was obtained";
  const submitted = `${instantText(anchor.submittedAt.toISOString())} to ${anchor.calendar}`;
  return anchor.status === "confirmed"
    ? `confirmed by a Bitcoin block; submitted ${submitted}`
    : `submitted ${submitted}; not confirmed by then`;
}

const logText = ({ logged: { origin, index } }: ProofCertificate): string =>
  index === null ? `queued for ${origin} when this page was made` : `logged: entry ${index} of ${origin}`;

/** The limits of what the certificate proves. */
const limits = (flow: Flow): void =>
  limitsSection(flow, [
    "The sealed file is the evidence. Anybody can check its seal and time stamp without this page or this service.",
    "This page does not prove that the document is true, who agreed to it before sealing, or that no other form is required.",
    "This service made this page from its records at the first request. The page has its own seal and does not change the sealed file. The proof of the Bitcoin anchor shows whether a block has confirmed it since then.",
  ]);

const steps = ({ record, document }: ProofCertificate) => [
  ["pdfsig sealed.pdf", "It prints “Signature is Valid” and “Total document signed”."] as const,
  ["sha256sum sealed.pdf", `It prints ${record.sealedSha256.slice(0, 12)}…, the sealed file’s hash.`] as const,
  ...(document
    ? [
        [
          `head -c ${document.bytes} sealed.pdf | sha256sum`,
          `It prints ${record.docSha256.slice(0, 12)}…, the document’s hash.`,
        ] as const,
      ]
    : []),
];

const count = new Intl.NumberFormat("en-US");

function statement({ record, firm, document }: ProofCertificate): string {
  const behalf = firm ? `, on behalf of ${firm.name},` : "";
  const named = record.name === null ? "a document" : `the document “${record.name}”`;
  const pages = document?.pages ? `${document.pages} ${document.pages === 1 ? "page" : "pages"} and ` : "";
  const size = document ? ` of ${pages}${count.format(document.bytes)} bytes,` : "";
  return (
    `SignSealShip${behalf} certifies that on ${dateText(record.sealedAt.toISOString())} it sealed ${named}${size} whose SHA-256 is shown ` +
    "below. It also certifies that the seal changed no byte of the document: the sealed file begins with the document exactly as it was handed in."
  );
}
