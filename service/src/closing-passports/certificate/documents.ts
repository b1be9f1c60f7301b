import {
  code,
  type Flow,
  fine,
  ink,
  itemLook,
  type Look,
  muted,
  quiet,
  section,
  textWidth,
} from "@signsealship/certificate";
import type { ManifestDocument } from "@signsealship/evidence/manifest";

const artifacts = [
  ["originalSha256", "As uploaded, SHA-256"],
  ["sealedSha256", "Sealed, SHA-256"],
  ["custodyCertSha256", "Custody cert., SHA-256"],
  ["envelopeVerifyCode", "Envelope verify code"],
] as const;

/** The room's orders with their artifacts. */
export function documentList(flow: Flow, documents: readonly ManifestDocument[]): void {
  section(flow, "Documents", 110);
  if (documents.length === 0) flow.text("No order was attached to the room.", quiet);
  for (const document of documents) documentBlock(flow, document);
  flow.skip(4);
}

function documentBlock(flow: Flow, document: ManifestDocument): void {
  const { label, orderCode, statusAtSnapshot } = document;
  const name = label ?? "Order without a label";
  const nameLook: Look = { ...itemLook, colour: label === null ? muted : ink };
  const held = artifacts.filter(([member]) => document[member] !== undefined);
  flow.keep(flow.measure(name, textWidth, nameLook) + (held.length + 2) * 14);
  flow.text(name, nameLook);
  flow.row("Order code", orderCode, code);
  for (const [member, title] of held) flow.row(title, document[member] ?? "", code);
  if (held.length === 0) flow.row("Artifacts", "none held when the snapshot was taken", { ...fine, colour: muted });
  flow.row("Status", `${statusAtSnapshot.value}: attested by this service, not evidence`, fine);
  flow.skip(9);
}
