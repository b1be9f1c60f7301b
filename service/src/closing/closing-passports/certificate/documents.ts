import {
  code,
  type Flow,
  fine,
  ink,
  instantText,
  itemLook,
  type Look,
  muted,
  quiet,
  section,
  textWidth,
} from "@signsealship/certificate";
import type { ManifestDocument } from "@signsealship/evidence/manifest";
import { statusLabel } from "../../../orders/order/order.ts";
import { type CertificateContent, type DocumentDetails, documentName, type TakenIn } from "./content.ts";

const artifacts = [
  ["originalSha256", "As uploaded, SHA-256"],
  ["sealedSha256", "Sealed, SHA-256"],
  ["notarizedSha256", "Notarized, SHA-256"],
  ["custodyCertSha256", "Custody cert., SHA-256"],
  ["envelopeVerifyCode", "Envelope verify code"],
] as const;

const takenInWords: Readonly<Record<TakenIn, string>> = {
  sealed: "Signed elsewhere, taken in by an operator. The sealed file does not contain the signatures made here.",
  notarized: "Notarized elsewhere, taken in by an operator.",
};

/**
 * The section about the room's orders: the hashes of each order's documents, and what this service has on record about
 * the order.
 */
export function documentList(flow: Flow, { manifest: { documents }, details }: CertificateContent): void {
  section(flow, "Documents", documents.length === 0 ? 60 : 170);
  if (documents.length === 0) flow.text("No order was attached to the room.", quiet);
  for (const document of documents) documentBlock(flow, document, details[document.orderCode]);
  if (documents.length > 0) {
    const note =
      "The hashes are evidence: anybody who has a file can compare its hash. This service states the statuses, page counts, signers and times of signing from its records. The signatures themselves are in the sealed files.";
    flow.keep(flow.measure(note, textWidth, quiet));
    flow.text(note, quiet);
  }
  flow.skip(10);
}

function documentBlock(flow: Flow, document: ManifestDocument, details?: DocumentDetails): void {
  const { label, statusAtSnapshot } = document;
  const ownTitle = documentName(label, details);
  const name = ownTitle ?? "Document without a title";
  const nameLook: Look = { ...itemLook, color: ownTitle === null ? muted : ink };
  const signers = details?.signers ?? [];
  const takenIn = details?.takenIn ?? [];
  const held = artifacts.filter(([member]) => document[member] !== undefined);
  flow.keep(
    flow.measure(name, textWidth, nameLook) + Math.min(held.length + signers.length + takenIn.length + 3, 12) * 13,
  );
  flow.text(name, nameLook);
  flow.row("Status", `${statusLabel(statusAtSnapshot.value)} (stated by this service, not evidence)`, fine);
  if (details?.pages) flow.row("Pages", String(details.pages), fine);
  for (const [index, signer] of signers.entries()) flow.row(index === 0 ? "Signers" : "", signerText(signer), fine);
  for (const kind of takenIn) flow.row("Origin", takenInWords[kind], fine);
  for (const [member, title] of held) flow.row(title, document[member] ?? "", code);
  if (held.length === 0) flow.row("Files", "none held when this version was made", { ...fine, color: muted });
  flow.skip(9);
}

const signerText = ({ name, signedAt }: DocumentDetails["signers"][number]): string =>
  signedAt === null ? `${name}: no signature on record` : `${name}, signed ${instantText(signedAt)}`;
