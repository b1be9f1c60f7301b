import { hash } from "node:crypto";
import { equalBytes } from "@signsealship/evidence/bytes";
import { type EnvelopeEvidence, envelopeBytes, readCustodyCertificate } from "@signsealship/evidence/envelope";
import { sealReasons } from "@signsealship/evidence/seal";
import { issuerOf, type Sealed, sealOwnDocument } from "../../../evidence/seals/seals.ts";
import { firmLogo, readShownFirm } from "../../../firms/partners/partners.ts";
import { languages } from "../../../kernel/platform/languages.ts";
import type { Task } from "../../../kernel/platform/workers/task.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { type Envelope, titleOf } from "../records/envelope.ts";
import { agreedTexts, type CustodyContent } from "./content.ts";

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
  deps: Pick<EnvelopeDeps, "db" | "workers" | "sealDocument" | "chainPem" | "consentTexts" | "baseUrl">,
  envelope: Envelope,
  evidence: EnvelopeEvidence,
  document: Buffer,
): Promise<Sealed> {
  const { db, workers, sealDocument, baseUrl } = deps;
  const bytes = envelopeBytes(evidence);
  const holder = envelope.partnerId;
  const input = {
    envelopeBytes: bytes,
    envelopeSha256: hash("sha256", bytes),
    title: titleOf(envelope),
    firm: {
      name: envelope.partnerName,
      accentColor: (await readShownFirm(db, holder)).branding?.accentColor ?? null,
      logo: await firmLogo(db, holder),
    },
    consents: consentsOf(deps, evidence),
    issuer: issuerOf(deps, envelope.environment),
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

/** The texts that were agreed to; one that is not there any more is missed, and its hash stays. */
const consentsOf = (
  { consentTexts }: Pick<EnvelopeDeps, "consentTexts">,
  evidence: EnvelopeEvidence,
): CustodyContent["consents"] =>
  agreedTexts(evidence).flatMap(({ name, version, language, sha256 }) => {
    const known = languages.find((one) => one === language);
    const text = known && consentTexts.find(version, known);
    return text?.sha256 === sha256 ? [{ name, bytes: Buffer.from(text.markdown) }] : [];
  });
