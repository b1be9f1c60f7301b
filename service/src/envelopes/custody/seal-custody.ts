import { createHash } from "node:crypto";
import { equalBytes } from "@signsealship/evidence/bytes";
import { type EnvelopeEvidence, envelopeBytes, readCustodyCertificate } from "@signsealship/evidence/envelope";
import { sealReasons } from "@signsealship/evidence/seal";
import type { Task } from "../../platform/workers/task.ts";
import { type Sealed, sealOwnDocument } from "../../seals/seals.ts";
import type { EnvelopeDeps } from "../lifecycle/deps.ts";
import { type Envelope, titleOf } from "../records/envelope.ts";
import type { CustodyContent } from "./content.ts";

const drawing: Task<Omit<CustodyContent, "envelope">, Uint8Array | { readonly fault: string }> = {
  name: "draw a custody certificate",
  module: import.meta.resolve("./draw-task.ts"),
  limitMs: 60_000,
};

/** Where anybody can verify an envelope. */
export const envelopePath = (verifyCode: string): string => `/v/envelope/${verifyCode}`;

/**
 * Draws and seals the custody certificate of an envelope, over evidence that the verifier has accepted.
 * @param document the sealed document that the evidence is of
 * @throws Error when the evidence does not hold: a seal would vouch for it
 * @throws ServiceError `unavailable` when it can't be sealed now
 */
export async function sealCustody(
  { workers, sealDocument, baseUrl }: Pick<EnvelopeDeps, "workers" | "sealDocument" | "baseUrl">,
  envelope: Envelope,
  evidence: EnvelopeEvidence,
  document: Buffer,
): Promise<Sealed> {
  const bytes = envelopeBytes(evidence);
  const holder = envelope.partnerId;
  const input = {
    envelopeBytes: bytes,
    envelopeSha256: createHash("sha256").update(bytes).digest("hex"),
    title: titleOf(envelope),
    partnerName: envelope.partnerName,
    verifyUrl: `${baseUrl}${envelopePath(envelope.verifyCode)}`,
  };
  const drawn = await workers.run(drawing, { holder, bytes: document, input });
  if ("fault" in drawn) throw new Error(`the evidence of order ${envelope.orderCode} does not hold: ${drawn.fault}`);
  const drawnBytes = Buffer.from(drawn.buffer, drawn.byteOffset, drawn.length);
  const reason = sealReasons.custody[envelope.environment];
  const sealed = await sealOwnDocument(sealDocument, { bytes: drawnBytes, holder, reason });
  const { purpose, envelope: attached } = await readCustodyCertificate(sealed.bytes);
  const asMeant = purpose?.kind === "custody" && purpose.environment === envelope.environment;
  if (!asMeant || attached === null || !equalBytes(attached, bytes))
    throw new Error("the sealed custody certificate does not say what it should");
  return sealed;
}
