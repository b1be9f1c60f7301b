import {
  body,
  certificateFile,
  code,
  createFlow,
  createSheets,
  type Flow,
  fine,
  instantText,
  itemLook,
  letterhead,
  limitsSection,
  manualChecks,
  muted,
  pageFeet,
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

/** All texts of a certificate that people wrote. */
export const writtenTexts = ({ envelope, title, partnerName }: CustodyContent): string[] => [
  title,
  partnerName,
  ...envelope.signers.flatMap(({ name, email }) => [name, email]),
  ...actsOf(envelope).map(({ client }) => client),
];

/** Draws a custody certificate, with the evidence attached; equal contents give equal bytes. */
export function drawCustody(typeset: Typeset, content: CustodyContent): Buffer {
  const { envelope, title } = content;
  const sheets = createSheets();
  const flow = createFlow(sheets, typeset);
  sheets.newPage();
  letterhead(sheets, flow, typeset, "Custody certificate");
  heading(sheets, flow, content);
  sealBlock(sheets, flow, typeset, sealWords(content));
  summary(flow, content);
  section(flow, "Who signed", 150);
  for (const act of actsOf(envelope)) actBlock(flow, act);
  revisionTable(flow, content);
  trailList(flow, content);
  limits(flow);
  manualChecks(flow, steps(content), "envelope.json");
  pageFeet(sheets, typeset, `Custody certificate. Verify code ${envelope.verifyCode}`);
  return certificateFile(sheets, {
    title: `Custody certificate: ${title}`,
    at: new Date(envelope.trail.at(-1)?.at ?? 0),
    attached: {
      name: envelopeAttachmentName,
      description: "Canonical evidence of the envelope",
      bytes: content.envelopeBytes,
    },
  });
}

function heading(sheets: Sheets, flow: Flow, { envelope, title, partnerName }: CustodyContent): void {
  const { signers, environment } = envelope;
  flow.text(title, titleLook);
  flow.skip(3);
  const people = signers.length === 1 ? "one person" : `${signers.length} people`;
  flow.text(`How this document was signed by ${people} and sealed. Sent by ${partnerName}.`, {
    size: 10.5,
    colour: muted,
  });
  if (environment === "test") testNotice(sheets, flow);
  flow.skip(14);
}

const sealWords = ({ envelope: { trail }, partnerName, verifyUrl }: CustodyContent): SealWords => ({
  holder: partnerName,
  at: instantText(trail.at(-1)?.at ?? ""),
  url: verifyUrl,
});

function summary(flow: Flow, { envelope, envelopeSha256 }: CustodyContent): void {
  const { verifyCode, document } = envelope;
  flow.row("Length of the sealed file", `${document.bytes} bytes`, body);
  flow.row("Verify code", verifyCode, { ...code, size: 9.5 });
  flow.row("Sealed file, SHA-256", document.sealedSha256, code);
  flow.row("As uploaded, SHA-256", document.originalSha256, code);
  flow.row("envelope.json, SHA-256", envelopeSha256, code);
  flow.skip(10);
}

function actBlock(flow: Flow, act: ShownAct): void {
  flow.keep(130);
  flow.text(`${act.n}. ${act.name}`, itemLook);
  flow.row("Address", act.email, fine);
  flow.row("Signed", act.signedAt, fine);
  flow.row("Identified by", act.identifiedBy, fine);
  flow.row("Consent", act.consent, fine);
  flow.row("Asked from", act.client, fine);
  flow.row("Key of the signature", act.key, fine);
  flow.row("Time stamp", act.timeStamp, fine);
  flow.row("Act, SHA-256", act.actSha256, code);
  flow.skip(9);
}

const columns = { what: 18, bytes: 190, sha256: 246 } as const;

function revisionTable(flow: Flow, { envelope }: CustodyContent): void {
  section(flow, "States of the file", 120);
  flow.text("Each state is the beginning of the next: head -c BYTES of the sealed file has the hash beside it.", fine);
  flow.skip(4);
  tableHead(flow, { "No.": 0, State: columns.what, Bytes: columns.bytes, "SHA-256": columns.sha256 });
  const whatOf = { original: "As uploaded", prepared: "Prepared for signing", sealed: "Sealed by this service" };
  for (const { number, kind, signer, bytes, sha256 } of envelope.revisions) {
    const what = kind === "signed" ? `Signed by signer ${signer}` : whatOf[kind];
    flow.cells([
      [String(number), { ...fine, colour: muted }, 0],
      [what, fine, columns.what],
      [String(bytes), fine, columns.bytes],
      [sha256, { ...code, size: 6.6, leading: 2.1 }, columns.sha256],
    ]);
  }
  flow.skip(10);
}

const mostShown = 120;

function trailList(flow: Flow, { envelope }: CustodyContent): void {
  section(flow, "What happened", 100);
  tableHead(flow, { "No.": 0, When: columns.what, What: 140 });
  for (const entry of envelope.trail.slice(0, mostShown)) {
    flow.cells([
      [String(entry.position), { ...fine, colour: muted }, 0],
      [instantText(entry.at), { ...fine, colour: muted }, columns.what],
      [entryWords(envelope, entry), fine, 140],
    ]);
  }
  const more = envelope.trail.length - mostShown;
  if (more > 0) flow.text(`and ${more} more, in the attached envelope.json.`, { ...fine, colour: muted });
  flow.skip(10);
}

/** What the certificate is, and what nobody is to take it for. */
const limits = (flow: Flow): void =>
  limitsSection(flow, [
    "Each signer acted through a link that was mailed to the address named, after the steps named beside “Identified by”. Nobody looked at an identity document: that the holder of the address is the person named is not proven here.",
    "Each act is a digital signature of its own in the file, by a key that was used once. They are electronic signatures, and no qualified ones: the certificates were issued by this service, which is no qualified trust service provider.",
    "Times are this service’s own, unless a time stamp is named. Addresses of the network and names of browsers are what the browsers sent.",
    "Whether what the document says is true, or whether it needs another form, is not said here.",
    "The attached envelope.json names people and their addresses in full: give this certificate to those alone whom the document concerns. The public page shows them masked.",
  ]);

const steps = ({ envelope, envelopeSha256 }: CustodyContent) => {
  const first = envelope.revisions[1];
  return [
    ["pdfsig certificate.pdf; pdfsig sealed.pdf", "The seals, and the signature of each act, are intact."],
    ["pdfdetach -save 1 -o envelope.json certificate.pdf", "The evidence is attached as it was hashed."],
    ["sha256sum envelope.json", `It prints ${envelopeSha256.slice(0, 12)}…, its hash above.`],
    [
      `head -c ${first?.bytes} sealed.pdf | sha256sum`,
      `It prints ${first?.sha256.slice(0, 12)}…: so for each state of the file.`,
    ],
    ["jq -Sca .trail[0] envelope.json|tr -d '\\n'|sha256sum", "The hash that the record after it names: so for each."],
  ] as const;
};
