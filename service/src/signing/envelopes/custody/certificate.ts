import {
  body,
  type Color,
  certificateFile,
  code,
  createFlow,
  createSheets,
  dateText,
  type Flow,
  fine,
  firmHead,
  instantText,
  itemLook,
  letterhead,
  limitsSection,
  manualChecks,
  muted,
  pageFeet,
  pageSize,
  type SealWords,
  type Sheets,
  sealBlock,
  section,
  type Typeset,
  tableHead,
  testNotice,
  titleLook,
} from "@signsealship/certificate";
import { type EnvelopeEvidence, type EnvelopeRevision, envelopeAttachmentName } from "@signsealship/evidence/envelope";
import { actsOf, type CustodyContent, entryWords, type ShownAct } from "./content.ts";

/** All texts in a certificate that are not fixed words of the service, such as titles, names and addresses. */
export const writtenTexts = (content: CustodyContent): string[] => [
  content.title,
  content.reference ?? "",
  content.firm.name,
  content.issuer.certificate,
  ...content.envelope.signers.flatMap(({ name, email }) => [name, email]),
  ...actsOf(content).flatMap((act) => Object.values(act).map(String)),
  ...content.envelope.trail.slice(0, maxShown).map((entry) => entryWords(content.envelope, entry)),
];

/** Draws a custody certificate with the evidence attached. Equal contents give equal bytes. */
export function drawCustody(typeset: Typeset, content: CustodyContent): Buffer {
  const { envelope, title } = content;
  const sheets = createSheets();
  const flow = createFlow(sheets, typeset);
  sheets.newPage();
  sheets.rectangle(0, pageSize.height - 5, pageSize.width, 5, accentOf(content));
  letterhead(sheets, flow, typeset, "Custody certificate");
  heading(sheets, flow, content);
  sealBlock(sheets, flow, typeset, sealWords(content));
  summary(flow, content);
  section(flow, "Signers", 150);
  for (const act of actsOf(content)) actBlock(flow, act);
  revisionTable(flow, content);
  trailList(flow, content);
  limits(flow);
  manualChecks(flow, steps(content), { attached: "envelope.json", verifyUrl: content.verifyUrl });
  pageFeet(sheets, typeset, `Custody certificate. Verify code ${envelope.verifyCode}`);
  return certificateFile(sheets, {
    title: `Custody certificate: ${title}`,
    at: new Date(sealedAt(envelope)),
    attached: [
      {
        name: envelopeAttachmentName,
        description: "Canonical evidence of the envelope",
        bytes: content.envelopeBytes,
      },
      ...content.consents.map((text) => ({
        ...text,
        description: "Text that signers agreed to",
        media: "text/markdown",
      })),
    ],
  });
}

/** The firm's own color; without one, the service's. */
const accentOf = ({ firm }: CustodyContent): Color => (firm.accentColor ?? "#1f3d6d") as Color;

function heading(sheets: Sheets, flow: Flow, content: CustodyContent): void {
  const { envelope, title, firm } = content;
  const logoSpace = firmHead(sheets, flow, firm);
  flow.skip(3);
  flow.text(title, titleLook, logoSpace);
  flow.skip(3);
  flow.text("How this document was signed and sealed", { size: 10.5, color: muted });
  if (envelope.environment === "test") testNotice(sheets, flow);
  flow.skip(10);
  flow.text(statement(content), { size: 10.5, leading: 1.5 });
  flow.skip(10);
}

/**
 * The time of the seal, which the last record of the trail states.
 * @throws Error for a trail without records: a certificate must not state an invented time
 */
function sealedAt({ trail, verifyCode }: EnvelopeEvidence): string {
  const last = trail.at(-1);
  if (!last) throw new Error(`the trail of the envelope ${verifyCode} has no records`);
  return last.at;
}

/**
 * The state of the file after the first signature.
 * @throws Error if no state is signed: the printed command would lack its number of bytes
 */
function firstSigned({ revisions, verifyCode }: EnvelopeEvidence): EnvelopeRevision {
  const signed = revisions.find(({ kind }) => kind === "signed");
  if (!signed) throw new Error(`the envelope ${verifyCode} has no signed revision`);
  return signed;
}

/** Names the certifying service, the firm for which it certifies, the number of signers and the time of the seal. */
function statement({ envelope, title, firm }: CustodyContent): string {
  const { length } = envelope.signers;
  const signers = length === 1 ? "The signer" : `The ${length} signers`;
  return (
    `SignSealShip, on behalf of ${firm.name}, certifies the following. ${signers} named below signed the document “${title}”. ` +
    "Each signer was identified only by the steps shown with the signer’s name. SignSealShip sealed the signed file, whose " +
    `SHA-256 is shown below, on ${dateText(sealedAt(envelope))}.`
  );
}

const sealWords = (content: CustodyContent): SealWords => ({
  holder: content.firm.name,
  at: dateText(sealedAt(content.envelope)),
  url: content.verifyUrl,
  certificate: `Certificate: ${content.issuer.certificate}`,
  color: accentOf(content),
});

function summary(flow: Flow, { title, reference, envelope, envelopeSha256, issuer }: CustodyContent): void {
  const { verifyCode, document } = envelope;
  flow.row("Document", title, body);
  if (reference !== null && reference !== title) flow.row("File number", reference, body);
  flow.row("Issuer", `SignSealShip, ${issuer.url}`, body);
  flow.row("Seal certificate", issuer.certificate, body);
  flow.row("Certificate, SHA-256", issuer.fingerprint, code);
  flow.row("Verify code", verifyCode, { ...code, size: 9.5 });
  flow.row("Signed file", size(document.bytes), body);
  flow.row("Signed file, SHA-256", document.sealedSha256, code);
  flow.row("As uploaded, SHA-256", document.originalSha256, code);
  flow.row("envelope.json, SHA-256", envelopeSha256, code);
  flow.skip(10);
}

const count = new Intl.NumberFormat("en-US");
const size = (bytes: number): string => `${count.format(bytes)} bytes`;

function actBlock(flow: Flow, act: ShownAct): void {
  flow.keep(145);
  flow.text(`${act.n}. ${act.name}`, itemLook);
  flow.row("Email", act.email, fine);
  flow.row("Signed", act.signedAt, fine);
  flow.row("Time stamp", act.timeStamp, fine);
  flow.row("Signature shown as", act.mark, fine);
  flow.row("Identified by", act.identifiedBy, fine);
  flow.row("Consent", act.consent, fine);
  flow.row("Consent text, SHA-256", act.consentSha256, code);
  flow.row("Network, browser", act.client, fine);
  flow.row("Signature key", act.key, fine);
  flow.row("Record, SHA-256", act.actSha256, code);
  flow.skip(9);
}

const columns = { what: 18, bytes: 190, sha256: 246 } as const;

function revisionTable(flow: Flow, { envelope }: CustodyContent): void {
  section(flow, "Versions of the file", 120);
  flow.text(
    "Each signer signed the file as it was at that time. Everything later was added at the end, so each earlier version is still the " +
      "unchanged beginning of the signed file. If a row shows 1,000 bytes, the first 1,000 bytes of the signed file have the SHA-256 " +
      "in that row.",
    fine,
  );
  flow.skip(4);
  tableHead(flow, { "No.": 0, Version: columns.what, Bytes: columns.bytes, "SHA-256": columns.sha256 });
  const whatOf = { original: "As uploaded", prepared: "Prepared for signing", sealed: "Sealed by this service" };
  for (const { number, kind, signer, bytes, sha256 } of envelope.revisions) {
    const what = kind === "signed" ? `Signed by signer ${signer}` : whatOf[kind];
    flow.cells([
      [String(number), { ...fine, color: muted }, 0],
      [what, fine, columns.what],
      [count.format(bytes), fine, columns.bytes],
      [sha256, { ...code, size: 6.6 }, columns.sha256],
    ]);
  }
  flow.skip(10);
}

const maxShown = 120;

function trailList(flow: Flow, { envelope }: CustodyContent): void {
  section(flow, "Record of events", 100);
  tableHead(flow, { "No.": 0, Time: columns.what, Event: 140 });
  for (const entry of envelope.trail.slice(0, maxShown)) {
    flow.cells([
      [String(entry.position), { ...fine, color: muted }, 0],
      [instantText(entry.at), { ...fine, color: muted }, columns.what],
      [entryWords(envelope, entry), fine, 140],
    ]);
  }
  const more = envelope.trail.length - maxShown;
  if (more > 0)
    flow.text(`Later events, not shown here: ${more}. The attached envelope.json lists all events.`, {
      ...fine,
      color: muted,
    });
  flow.skip(10);
}

/** Lists what the certificate does not prove. */
const limits = (flow: Flow): void =>
  limitsSection(flow, [
    "Each signer was identified only by the steps shown under “Identified by”. These steps include a check of an identity document only if they say so. This certificate does not prove that the person who completed the steps is the person named.",
    "Each signature is a separate digital signature in the file. Its key was used only once. The signatures are electronic signatures. They are not qualified electronic signatures under European Union law, because this service issued the signers’ certificates and is not a qualified trust service provider.",
    "Anybody can check the signatures, the hashes and the time stamps without this service. Only the records of this service show the identification steps, the times without a time stamp, and who held each key. This service recorded networks and browsers as the signers’ browsers sent them.",
    "This certificate does not state whether the content of the document is true, or whether the law requires another form for the document.",
    "The attached envelope.json contains people’s full names and addresses. Give this certificate only to people whom the document concerns. The public page shows names and addresses masked.",
  ]);

const steps = ({ envelope, envelopeSha256 }: CustodyContent) => {
  const { sealedSha256 } = envelope.document;
  const { bytes, sha256 } = firstSigned(envelope);
  return [
    ["sha256sum sealed.pdf", `It prints ${sealedSha256.slice(0, 12)}… if sealed.pdf is the signed file.`],
    [
      `head -c ${bytes} sealed.pdf | sha256sum`,
      `It prints ${sha256.slice(0, 12)}…, the hash of the file after the first signature.`,
    ],
    ["pdfsig certificate.pdf; pdfsig sealed.pdf", "It reports each signature and each seal as valid."],
    ["pdfdetach -saveall certificate.pdf", "It extracts the evidence and the consent texts, byte for byte."],
    ["sha256sum envelope.json", `It prints ${envelopeSha256.slice(0, 12)}…, the hash of envelope.json above.`],
    [
      "jq -Sca .trail[0] envelope.json|tr -d '\\n'|sha256sum",
      "It prints the hash of the first record. The second record contains this hash, and so on.",
    ],
  ] as const;
};
