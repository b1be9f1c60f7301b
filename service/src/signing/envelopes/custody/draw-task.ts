import { verifyEnvelope, verifySignedDocument } from "@signsealship/evidence/envelope";
import { typesetFor } from "../../../kernel/pdf/typeset.ts";
import { drawCustody, writtenTexts } from "./certificate.ts";
import type { CustodyContent } from "./content.ts";

/**
 * Compares the evidence with the sealed document, and draws the certificate.
 * @returns the certificate, or the reason why a comparison failed
 */
export async function run(
  document: Buffer,
  content: Omit<CustodyContent, "envelope">,
): Promise<Uint8Array | { readonly fault: string }> {
  const { envelope, claims } = await verifyEnvelope(content.envelopeBytes);
  const about = envelope ? await verifySignedDocument(envelope, document) : [];
  const fault = [...claims, ...about].find(({ state }) => state !== "holds");
  if (fault || !envelope) return { fault: fault?.why ?? "It can't be read." };
  const whole = { ...content, envelope };
  return drawCustody(await typesetFor(writtenTexts(whole)), whole);
}
