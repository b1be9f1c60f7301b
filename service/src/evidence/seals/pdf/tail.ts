import { buildSignedRevision, type Tail } from "../../../kernel/pdf/revision/revision.ts";
import type { PdfLookup } from "../../../kernel/pdf/xref/lookup.ts";
import {
  changedObjects,
  fieldObject,
  filledField,
  lockParts,
  type SealDescription,
  signatureParts,
} from "./objects.ts";

/**
 * Builds the revision that adds a signature field with an empty signature, or fills the field that the document
 * reserves. Returns only the bytes after the original.
 * @param docSha256 hex SHA-256 of the original, for names that must be unique
 * @throws PdfRefusal `needs_repair`
 */
export function buildTail(look: PdfLookup, description: SealDescription, docSha256: string): Tail {
  const { reserve, padding } = description;
  const lock = lockParts(look, description.locks);
  const ref = { num: look.nextObject, gen: 0 };
  const field = { num: look.nextObject + 1, gen: 0 };
  const signature = {
    ref,
    ...signatureParts(description, look.file.bytes.length, lock),
    reserve,
    ...(padding && { padding }),
  };
  const waiting = description.isOwn ? filledField(look, ref, lock) : null;
  const objects = waiting
    ? [waiting]
    : [fieldObject(look, field, ref, docSha256, lock), ...changedObjects(look, field)];
  return buildSignedRevision(look, signature, objects, docSha256);
}
