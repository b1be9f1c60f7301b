import type { PlannedField } from "../fields.ts";
import type { FormSignature } from "./form-signatures.ts";

/** Whose signature is not one of the signers'. */
const ofOthers = /notar|witness/i;
const numbered = /(?:signer|signatory|signature|sign|sig|party|recipient|client|role|r)[\s._-]*(\d{1,2})$/i;
const roles =
  /buyer|seller|borrower|lender|landlord|tenant|lessor|lessee|grantor|grantee|owner|guarantor|trustee|principal|agent|employer|employee|contractor|client|customer|spouse|co-?signer/i;

/**
 * Gives a document's signature fields to the signers: `signer2` to the second one; of other names each new one (`buyer`, `seller`) to the next
 * signer who has none, in the order of the pages. Fields of notaries and witnesses stay empty.
 * @param mayAdd whether a signer's second field can be shown as a mark: not in a document that is signed
 */
export function matchSigners(fields: readonly FormSignature[], signers: number, mayAdd: boolean): PlannedField[] {
  const ours = fields.filter(({ name }) => !ofOthers.test(name));
  const signerOf = new Map<string, number>();
  for (const { name } of ours) {
    const n = Number(numbered.exec(name)?.[1] ?? 0);
    if (n >= 1 && n <= signers) signerOf.set(keyOf(name), n);
  }
  const taken = new Set(signerOf.values());
  const free = Array.from({ length: signers }, (_, index) => index + 1).filter((signer) => !taken.has(signer));
  for (const { name } of ours) {
    const key = keyOf(name);
    const next = signerOf.has(key) ? undefined : free.shift();
    if (next !== undefined) signerOf.set(key, next);
  }
  const has = new Set<number>();
  return ours.flatMap(({ object, name, page, place }): PlannedField[] => {
    const signer = signerOf.get(keyOf(name));
    if (signer === undefined || (has.has(signer) && !mayAdd)) return [];
    const field = { kind: "signature", signer, page, place } as const;
    if (has.has(signer)) return [field];
    has.add(signer);
    return [{ ...field, existing: { object, name } }];
  });
}

/** Fields of one key are one person's. */
function keyOf(name: string): string {
  const number = numbered.exec(name)?.[1];
  if (number !== undefined) return `number ${Number(number)}`;
  const role = roles.exec(name)?.[0];
  return role === undefined ? `name ${name}` : `role ${role.toLowerCase()}`;
}
