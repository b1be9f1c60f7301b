import { blankPlace } from "../../../../kernel/pdf/blank-place.ts";
import type { Place } from "../../../../kernel/pdf/pages/page-box.ts";
import { lookUpPdf } from "../../../../kernel/pdf/xref/lookup.ts";
import type { RequestedField } from "../../../../orders/order/order.ts";
import { type PlannedField, signersWithout } from "../fields.ts";
import type { PlannedBlock } from "../prepare.ts";
import { asked } from "./asked.ts";
import { type DocumentField, formSignatures, usableFields } from "./document-fields.ts";
import { fieldsNamedForSigners, signerNamedIn } from "./named-for-signers.ts";
import { tagFields } from "./tags/tag-fields.ts";
import type { DocumentFieldKind } from "./usable-kinds.ts";

export type PlanRequest = {
  /** The number of signers. */
  readonly signers: number;
  /** The places that the order lists. Null to use the document's own signature fields or tags. */
  readonly fields: readonly RequestedField[] | null;
  /**
   * True to leave out a form field that is named for a signer but breaks a rule; it becomes read-only. Then an order
   * that was placed under earlier rules doesn't fail. False by default, so that the sender of a new order gets an
   * error.
   */
  readonly closesUnusable?: boolean;
};

/**
 * The places where the signers of a document sign, from the first of these sources that applies:
 *
 * 1. The places that the order lists; the list must be complete. If the document has a usable empty field of the same
 *   kind at such a place, that field is used. A signer's second signature never uses one.
 * 2. The document's own signature fields.
 * 3. The tags in the text, unless somebody has signed or certified the document.
 *
 * Form fields that are named for a signer are added to the sources 2 and 3, unless the document is signed or certified.
 *
 * Signers without a place sign on an added page, and in a certified document invisibly.
 * @throws PdfRefusal, UnmatchedTag
 */
export async function plan(original: Buffer, request: PlanRequest): Promise<PlannedField[]> {
  const { signers, fields, closesUnusable = false } = request;
  if (fields) {
    const planned: PlannedField[] = [];
    for (const field of fields) planned.push(...asked(field, planned.length));
    return withOwn(planned, usableFields(lookUpPdf(original)));
  }
  const look = lookUpPdf(original);
  const untouched = look.signatures === 0 && look.docMdp === null;
  const own = matchSigners(formSignatures(look), signers, untouched);
  if (look.docMdp !== null) return [...own, ...invisibleFor(signersWithout(own, signers))];
  if (!untouched) return own;
  const positioned = own.length > 0 ? own : await tagFields(look, signers);
  return [...positioned, ...(await fieldsNamedForSigners(look, signers, positioned.length, closesUnusable))];
}

/** The kind of the document's own field that a planned field can use. */
const ownKinds: Readonly<Record<PlannedField["kind"], DocumentFieldKind>> = {
  signature: "signature",
  initials: "text",
  date: "text",
  name: "text",
  text: "text",
  number: "text",
  checkbox: "checkbox",
  radio: "radio",
  dropdown: "dropdown",
};

/**
 * Two rectangles are the same place if their common area is at least this share of the area that they cover together.
 */
const sameArea = 0.8;

/**
 * Assigns to each planned field the document's own field at its place. The value is then in the field that the form's
 * author meant, and no second field covers it. Only a signer's first signature field is signed; the others show the
 * same mark.
 */
function withOwn(planned: readonly PlannedField[], own: readonly DocumentField[]): PlannedField[] {
  const free = new Set(own);
  const signed = new Set<number>();
  const options = ownOptions(planned, own);
  return planned.map((field) => {
    const option = options.get(field);
    if (option) return asExisting(field, option);
    if (field.radio !== undefined || (field.kind === "signature" && signed.has(field.signer))) return field;
    if (field.kind === "signature") signed.add(field.signer);
    const at = [...free].find(
      ({ kind, page, place }) =>
        kind === ownKinds[field.kind] && page === field.page && shared(place, field.place) >= sameArea,
    );
    if (!at) return field;
    free.delete(at);
    return asExisting(field, at);
  });
}

/**
 * The planned field moves to the place of the document's own field. So the signer sees the request exactly where
 * readers will show the value.
 */
const asExisting = (field: PlannedField, { object, name, place, radio }: DocumentField): PlannedField => ({
  ...field,
  place,
  existing: { object, name, ...(radio && { radio: { object: radio.object, name: radio.name } }) },
});

/**
 * Finds the options of the document's own radios at the places of planned options. A radio is used only if its options
 * are exactly the planned ones. Otherwise some of its options would belong to no signer.
 */
function ownOptions(
  planned: readonly PlannedField[],
  own: readonly DocumentField[],
): ReadonlyMap<PlannedField, DocumentField> {
  const found = new Map<PlannedField, DocumentField>();
  const usedObjects = new Set<number>();
  const asked = Map.groupBy(
    planned.filter(({ kind }) => kind === "radio"),
    ({ radio }) => radio,
  );
  for (const options of asked.values()) {
    const places = options.flatMap(({ page, place }) => {
      const at = own.find((each) => each.radio && each.page === page && shared(each.place, place) >= sameArea);
      return at ? [at] : [];
    });
    const radio = places[0]?.radio;
    const isWhole =
      radio !== undefined &&
      !usedObjects.has(radio.object) &&
      places.length === options.length &&
      radio.options === options.length &&
      places.every((place) => place.radio?.object === radio.object) &&
      new Set(places).size === places.length;
    if (!isWhole) continue;
    usedObjects.add(radio.object);
    for (const [index, option] of options.entries()) {
      const place = places[index];
      if (place) found.set(option, place);
    }
  }
  return found;
}

/** The area where two places overlap, divided by the area that the two cover together. */
function shared(a: Place, b: Place): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  const both = Math.max(width, 0) * Math.max(height, 0);
  return both / (a.width * a.height + b.width * b.height - both);
}

/**
 * The size of a notary's block in points. The certificate of a notarial act, as a U.S. state prescribes it, fits in it
 * next to a seal. The notary is assigned later, so the exact size is unknown.
 */
const blockSize = { width: 290, height: 150 } as const;

/** The place for a notary's block: the lowest blank area on the last pages; if there is none, an added page. */
export async function planBlock(original: Buffer, planned: readonly PlannedField[]): Promise<PlannedBlock> {
  const fields = planned.flatMap(({ page, place, invisible }) => (invisible ? [] : [{ page, ...place }]));
  const place = await blankPlace(original, blockSize, fields, { onPrinted: true });
  return { ...blockSize, at: place && { page: place.page, ...place.upperLeft }, isOptional: true };
}

/**
 * Signature fields that show nothing. Readers accept that a signature adds such a field, even in a certified document
 * that forbids other changes.
 */
const invisibleFor = (signers: readonly number[]): PlannedField[] =>
  signers.map((signer) => ({
    kind: "signature",
    signer,
    page: 0,
    place: { x: 0, y: 0, width: 0, height: 0 },
    label: "Signature (not shown on the page)",
    invisible: true,
  }));

/** Names of signature fields that are meant for a notary or witness, and not for a signer. */
const ofOthers = /notar|witness/i;
/** A word for any signer, with a number. In `buyer1`, the letter before the number is not the word `r`. */
const anySigner = /(?<![a-z])(?:client|role|r)[\s._-]*(\d{1,2})$/i;
const signature = "signatory|signature|signer|sign|sig";
const numberedSignature = new RegExp(`(?:${signature}|party|recipient)[\\s._-]*(\\d{1,2})$`, "i");
const role =
  "buyer|seller|borrower|lender|landlord|tenant|lessor|lessee|grantor|grantee|owner|guarantor|trustee|principal|agent|employer|employee|contractor|client|customer|spouse|co-?signer";
/** A role, with the number of the person in that role: `buyer 2`, `BuyerSignature2`. */
const roles = new RegExp(`(${role})(?:[\\s._-]*(?:${signature})?[\\s._-]*(\\d{1,2})(?!\\d))?`, "i");

/**
 * The number of the signer in a name: `signer2.signature` and `party 2` both mean the second signer. A number after a
 * role counts the people in that role: `BuyerSignature1` and `SellerSignature1` are two signers.
 */
function numberIn(name: string): number | undefined {
  const [, n] = anySigner.exec(name) ?? (roles.test(name) ? null : numberedSignature.exec(name)) ?? [];
  return signerNamedIn(name) ?? (n === undefined ? undefined : Number(n));
}

/**
 * The signer's number in a name that clearly means a signer, such as 5 in `signer5`; otherwise 0. `Signature5` doesn't
 * count: it may be only the fifth field of a form.
 */
function signerMeant(name: string): number {
  const [, n] = /^signer[ _-]?(\d{1,2})$/i.exec(name) ?? [];
  return n === undefined ? (signerNamedIn(name) ?? 0) : Number(n);
}

/**
 * Assigns a document's signature fields to the signers. A field whose name has a signer's number, such as `signer2`,
 * goes to that signer. Each other name, role (`buyer`, `seller 2`) or higher number goes to the next signer without a
 * field, in the order of the pages. Fields of notaries and witnesses stay empty, and so do those of a signer whom the
 * order does not have: `signer5` for two signers.
 * @param mayAdd true if a signer's second field can be shown as a mark, which is impossible in a signed document
 */
export function matchSigners(
  fields: readonly Omit<DocumentField, "kind">[],
  signers: number,
  mayAdd: boolean,
): PlannedField[] {
  const ours = fields.filter(({ name }) => !ofOthers.test(name) && signerMeant(name) <= signers);
  const signerOf = new Map<string, number>();
  for (const { name } of ours) {
    const n = numberIn(name) ?? 0;
    if (n >= 1 && n <= signers) signerOf.set(keyOf(name), n);
  }
  const assigned = new Set(signerOf.values());
  const free = Array.from({ length: signers }, (_, index) => index + 1).filter((signer) => !assigned.has(signer));
  const keys = new Set(ours.map(({ name }) => keyOf(name)).filter((key) => !signerOf.has(key)));
  for (const key of lowerFirst([...keys])) {
    const next = free.shift();
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

/** Exchanges the places of one role's keys, so that its lower numbers come first: `buyer 1` before `buyer 2`. */
function lowerFirst(keys: readonly string[]): string[] {
  const roleOf = (key: string) => key.replace(/(?<=^role \D+)\d+$/, "");
  const sorted = Map.groupBy([...keys].sort(new Intl.Collator("en", { numeric: true }).compare), roleOf);
  return keys.flatMap((key) => sorted.get(roleOf(key))?.shift() ?? []);
}

/** The key of a field's name. Fields with the same key belong to the same person. */
function keyOf(name: string): string {
  const number = numberIn(name);
  if (number !== undefined) return `number ${number}`;
  const [, role, n = ""] = roles.exec(name) ?? [];
  return role === undefined ? `name ${name}` : `role ${role.toLowerCase()} ${n}`;
}
