import {
  body,
  type Colour,
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
import { envelopeAttachmentName } from "@signsealship/evidence/envelope";
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
  section(flow, "Who signed", 150);
  for (const act of actsOf(content)) actBlock(flow, act);
  revisionTable(flow, content);
  trailList(flow, content);
  limits(flow);
  manualChecks(flow, steps(content), { attached: "envelope.json", verifyUrl: content.verifyUrl });
  pageFeet(sheets, typeset, `Custody certificate. Verify code ${envelope.verifyCode}`);
  return certificateFile(sheets, {
    title: `Custody certificate: ${title}`,
    at: new Date(envelope.trail.at(-1)?.at ?? 0),
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
const accentOf = ({ firm }: CustodyContent): Colour => (firm.accentColor ?? "#1f3d6d") as Colour;

function heading(sheets: Sheets, flow: Flow, content: CustodyContent): void {
  const { envelope, title, firm } = content;
  const logoSpace = firmHead(sheets, flow, firm);
  flow.skip(3);
  flow.text(title, titleLook, logoSpace);
  flow.skip(3);
  flow.text("How this document was signed and sealed", { size: 10.5, colour: muted });
  if (envelope.environment === "test") testNotice(sheets, flow);
  flow.skip(10);
  flow.text(statement(content), { size: 10.5, leading: 1.5 });
  flow.skip(10);
}

/** One sentence that names the certifying service, the firm for which it certifies, and the time of the seal. */
function statement({ envelope: { signers, trail }, firm }: CustodyContent): string {
  const people = signers.length === 1 ? "the person" : `the ${signers.length} people`;
  const sealedAt = dateText(trail.at(-1)?.at ?? "");
  return (
    `SignSealShip, on behalf of ${firm.name}, certifies that the file whose SHA-256 is shown below was signed through links mailed to ` +
    `${people} named here, after the steps that are shown with each name, and was sealed on ${sealedAt}.`
  );
}

const sealWords = (content: CustodyContent): SealWords => ({
  holder: content.firm.name,
  at: dateText(content.envelope.trail.at(-1)?.at ?? ""),
  url: content.verifyUrl,
  certificate: `Certificate: ${content.issuer.certificate}`,
  colour: accentOf(content),
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
  flow.row("Consent, SHA-256", act.consentSha256, code);
  flow.row("Network, browser", act.client, fine);
  flow.row("Key of the signature", act.key, fine);
  flow.row("Record, SHA-256", act.actSha256, code);
  flow.skip(9);
}

const columns = { what: 18, bytes: 190, sha256: 246 } as const;

function revisionTable(flow: Flow, { envelope }: CustodyContent): void {
  section(flow, "States of the file", 120);
  flow.text(
    "Who signed, signed the file as it was then, and all of it stands unchanged at the beginning of the signed file: its first so many " +
      "bytes have the SHA-256 shown. What came later was added behind.",
    fine,
  );
  flow.skip(4);
  tableHead(flow, { "No.": 0, State: columns.what, Bytes: columns.bytes, "SHA-256": columns.sha256 });
  const whatOf = { original: "As uploaded", prepared: "Prepared for signing", sealed: "Sealed by this service" };
  for (const { number, kind, signer, bytes, sha256 } of envelope.revisions) {
    const what = kind === "signed" ? `Signed by signer ${signer}` : whatOf[kind];
    flow.cells([
      [String(number), { ...fine, colour: muted }, 0],
      [what, fine, columns.what],
      [count.format(bytes), fine, columns.bytes],
      [sha256, { ...code, size: 6.6 }, columns.sha256],
    ]);
  }
  flow.skip(10);
}

const maxShown = 120;

function trailList(flow: Flow, { envelope }: CustodyContent): void {
  section(flow, "What happened", 100);
  tableHead(flow, { "No.": 0, When: columns.what, What: 140 });
  for (const entry of envelope.trail.slice(0, maxShown)) {
    flow.cells([
      [String(entry.position), { ...fine, colour: muted }, 0],
      [instantText(entry.at), { ...fine, colour: muted }, columns.what],
      [entryWords(envelope, entry), fine, 140],
    ]);
  }
  const more = envelope.trail.length - maxShown;
  if (more > 0) flow.text(`and ${more} more, in the attached envelope.json.`, { ...fine, colour: muted });
  flow.skip(10);
}

/** Lists what the certificate does not prove. */
const limits = (flow: Flow): void =>
  limitsSection(flow, [
    "Each signer acted through a link that was mailed to the address named, after the steps named beside “Identified by”. Nobody looked at an identity document: that the holder of the address is the person named is not proven here.",
    "Each signature is a digital one of its own in the file, by a key that was used once. They are electronic signatures, and not qualified ones in the sense of the European Union: the signers’ certificates were issued by this service, which is no qualified trust service provider.",
    "The signatures, the hashes and the time stamps can be checked without this service. The steps, the times without a time stamp, and who holds which key are what this service recorded. Networks and browsers are what the browsers sent.",
    "Whether what the document says is true, or whether it needs another form, is not said here.",
    "The attached envelope.json names people and their addresses in full: give this certificate only to those whom the document concerns. The public page shows them masked.",
  ]);

const steps = ({ envelope, envelopeSha256 }: CustodyContent) => {
  const { revisions, document } = envelope;
  const signed = revisions.find(({ kind }) => kind === "signed");
  return [
    ["sha256sum sealed.pdf", `It prints ${document.sealedSha256.slice(0, 12)}… for the very file that was signed.`],
    [
      `head -c ${signed?.bytes} sealed.pdf | sha256sum`,
      `It prints ${signed?.sha256.slice(0, 12)}…: the state after the first signature.`,
    ],
    ["pdfsig certificate.pdf; pdfsig sealed.pdf", "Each signature and seal is valid."],
    ["pdfdetach -saveall certificate.pdf", "The evidence and the texts of consent, as they were hashed."],
    ["sha256sum envelope.json", `It prints ${envelopeSha256.slice(0, 12)}…, its hash above.`],
    ["jq -Sca .trail[0] envelope.json|tr -d '\n'|sha256sum", "The hash that the record after it names: so for each."],
  ] as const;
};
