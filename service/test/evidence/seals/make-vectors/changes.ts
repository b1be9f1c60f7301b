import { createHash } from "node:crypto";
import { attacks } from "../../../../../packages/evidence/test/pdf/changes/attacks/attacks.ts";
import {
  added,
  asBytes,
  type FormSignature,
  formDocument,
  OBJECT,
  signForm,
} from "../../../../../packages/evidence/test/pdf/changes/document.ts";
import { honest } from "../../../../../packages/evidence/test/pdf/changes/honest/honest.ts";
import { endOf, type NewObject, sealRevision } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { cmsOver } from "../../../../../packages/evidence/test/signer.ts";
import { PdfRefusal } from "../../../../src/kernel/pdf/refusal.ts";
import { collection, type Expectation, type Made, notVerified, type State, verified } from "./case.ts";
import { sealed } from "./sealing.ts";
import { seal, stamp, stranger } from "./signers.ts";

type Permission = 1 | 2 | 3 | "approval";

const HONEST_2 = [
  "a field filled, its appearance new",
  "a field filled that had no appearance",
  "a checkbox set",
  "a radio button set: the group has the value, its kids neither type nor name",
  "a font added to the form's resources",
  "a field filled that is not locked",
  "an invisible signature",
  "an invisible signature on no page",
  "an invisible signature where the signed field asks for a lock of /Action /All",
  "a field that is computed from others, though it is read-only",
  "a visible signature in an empty field",
  "an invisible signature, then another",
  "a signature field whose widget is its kid",
  "a signature field and its tag",
  "a document time stamp",
  "a security store, then a document time stamp",
  "metadata rewritten",
  "information rewritten",
  "extensions named",
  "nothing",
  "objects written again as they were",
  "free numbers, freed again",
  "a field filled by a cross-reference stream",
  "a field filled in an object stream",
  "a field filled in a hybrid section",
];
const HONEST_3 = [
  "a note",
  "a note and its tag",
  "a note removed and freed with its appearance",
  "a note's appearance rewritten",
  "a highlight",
  "a visible signature in a new field",
];
const UNDUE_2 = [
  "a text box over the page",
  "a stamp over the page",
  "a redaction",
  "an existing annotation moved to another page",
  "Ink dressed as an empty signature field, on the page",
];
const UNDUE_3 = [
  "Polygon dressed as an empty signature field, on the page and in the form",
  "Highlight dressed as an empty signature field without /Rect",
  "an invisible signature field with an appearance that paints",
  "an invisible signature field that bears an existing name",
  "a text field over the page",
  "a push button over the page",
  "a widget removed from the page",
  "a field with another rectangle",
  "a field with the hidden flag",
  "a field with an action",
  "a new place for the signature",
  "a content stream through an indirect /Contents array",
  "a page less",
  "the page's content rewritten",
  "a content stream that calls itself metadata",
  "an appearance stream that the page draws",
  "a font replaced",
  "an object that nothing leads to, replaced",
  "a catalog with optional content",
  "a catalog with an action when opened",
  "a catalog with a page's content for its security store",
  "other pages",
  "a form by XFA",
  "a page with another size",
  "the permissions removed",
  "the signature's field removed",
  "the signature's field and the permissions removed",
  "the signature removed from its field",
  "the signature removed, another in an object stream whose places seem to hold it",
  "the signed revision bypassed",
  "a field that is locked by name, filled",
  "a field that is locked with all, filled",
  "a field that /Lock alone locks, filled",
  "a tag with another text",
  "content hidden in the stream of a hybrid section",
  "content freed",
  "content changed and restored",
  "an object stream replaced",
  "an object that lies after the end of what was signed",
  "the page's content, the only tag, rewritten",
  "a form XObject of the page, a tag, rewritten",
  "content added to a page's /Contents that is the parent tree's /Kids",
  "content added to a page's /Contents that is the parent tree",
  "a page's /MediaBox that is the parent tree's /Nums, grown",
  "an object stream that is a field's value, rewritten",
  "an object stream that is a tag, rewritten",
  "an object of the document that becomes an object stream",
  "resources of a page's parent that is the catalog's /Extensions",
  "a rotation of a page's parent that is the catalog's /MarkInfo",
  "a value of a field's parent that is the catalog's /Extensions",
  "extensions with what is neither a name nor a number",
  "an entry of /MarkInfo that is none of its own",
  "a locked field drawn by the reader",
  "a locked field in another color by the form",
  "a locked field's value by the field above",
  "a field hidden by a flag that is elsewhere",
  "a field's kind by a flag that is elsewhere",
  "a field filled under a lock whose /P is elsewhere",
  "a field filled under a lock whose names are elsewhere",
  "a signature field's type that is elsewhere",
  "a locked field's name that is elsewhere",
  "a color space that a page's /Tabs is",
  "an external state under a naming key, which is an annotation",
  "a read-only field, filled",
  "a read-only field opened",
];

/** Adds a seal to a file that the sealer would refuse. Any holder of a trusted key could write such a seal. */
function sealedInSpite(pdf: string): Uint8Array {
  const { size } = endOf(pdf);
  const placeholder = `<${"0".repeat(1800)}>`;
  const head = `<</Type/Sig/Filter/Adobe.PPKLite/SubFilter/ETSI.CAdES.detached/M(D:20260115120000Z)/Reason(Proof passport)`;
  const objects = (ranges: string): NewObject[] => [
    [size, `${head}/SSSOriginalLength ${pdf.length}/Contents ${placeholder}/ByteRange[${ranges.padEnd(40)}]>>`],
    [size + 1, `<</Type/Annot/Subtype/Widget/FT/Sig/T(Seal)/F 132/Rect[0 0 0 0]/P 10 0 R/V ${size} 0 R>>`],
    added(pdf, OBJECT.fields, `${size + 1} 0 R`),
    added(pdf, OBJECT.annots, `${size + 1} 0 R`),
  ];
  return sealRevision(pdf, placeholder, objects, { signer: seal });
}

async function sealedForm(pdf: string): Promise<Uint8Array> {
  try {
    return await sealed(asBytes(pdf));
  } catch (error) {
    if (error instanceof PdfRefusal) return sealedInSpite(pdf);
    throw error;
  }
}

type Update = Partial<Pick<(typeof attacks)[number], "prepared" | "preparedRevision" | "signature">>;

function signedForm(update: Update, permission: Permission, signature: Partial<FormSignature> = {}) {
  const original = (update.preparedRevision ?? ((pdf: string) => pdf))(formDocument(update.prepared));
  const certify = permission === "approval" ? {} : { certify: permission };
  const options = { signer: stranger, reserve: 900, ...certify, ...update.signature, ...signature };
  return { original, signed: signForm(original, options) };
}

function named<T extends { readonly name: string }>(list: readonly T[], name: string): T {
  const found = list.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no update is called ${name}`);
  return found;
}

const respected: Expectation = verified({ certification_respected: "holds" });
const broken: Expectation = notVerified({ certification_respected: "fails" });
const finding = (later: State): Record<string, State> => ({
  revision_covered: "holds",
  signature_valid: "holds",
  later_changes_permitted: later,
});

/** The attacks whose expected result is not `broken`; currently none. */
const OTHERWISE: Readonly<Record<string, Expectation>> = {};

/** Forms that a stranger certified or signed, and that were then changed and sealed. */
export async function changes(): Promise<Made> {
  const { add, put, made, slug } = collection("changes");
  const one = async (name: string, pdf: string, expect: Expectation, teaches: string) =>
    add({
      name,
      kind: "sealed_pdf",
      files: { sealed: put(`${slug(name)}.pdf`, await sealedForm(pdf)) },
      expect,
      teaches,
    });
  const update = async (name: string, permission: Permission, expect: Expectation, teaches: string) => {
    const found = named(honest, name);
    const { signed } = signedForm(found, permission);
    const title = permission === "approval" ? `after an approval: ${name}` : `under P ${permission}: ${name}`;
    await one(title, found.make(signed, stranger, stamp), expect, teaches);
  };
  for (const name of HONEST_2) await update(name, 2, respected, "Within P 2: up to form values and signatures.");
  for (const name of HONEST_3) await update(name, 3, respected, "Within P 3: up to annotations.");
  for (const name of ["a note", "a note removed and freed with its appearance", "a visible signature in a new field"])
    await update(name, 2, broken, "More than P 2 permits.");
  await update("a field filled that is excluded from the lock", 2, broken, "The seal's own field is not excluded.");
  await update("nothing", 1, broken, "P 1 permits no signature: a seal itself breaks it, and the sealer refuses it.");
  for (const [name, later] of [
    ["a field filled, its appearance new", "holds"],
    ["a visible signature in a new field", "holds"],
    ["a note", "fails"],
  ] as const) {
    const expect = {
      ...verified(),
      earlier: name.includes("signature") ? [finding(later), finding("holds")] : [finding(later)],
    };
    await update(name, "approval", expect, "A finding about a signature without a permission: the verdict stands.");
  }
  for (const [names, permission] of [
    [UNDUE_2, 2],
    [UNDUE_3, 3],
  ] as const) {
    for (const name of names) {
      const attack = named(attacks, name);
      const { original, signed } = signedForm(attack, permission);
      const teaches = `Not within P ${permission}.`;
      await one(
        `undue under P ${permission}: ${name}`,
        attack.make(signed, original),
        OTHERWISE[name] ?? broken,
        teaches,
      );
    }
  }
  const ber = signedForm({}, "approval", { contents: asBer });
  await one(
    "after an approval in BER",
    ber.signed,
    { ...verified(), earlier: [finding("holds")] },
    "Other programs' signatures may be BER; a seal may not.",
  );
  return made();
}

/** A CMS in BER: its outermost value has an indefinite length. */
function asBer(signed: Uint8Array): Uint8Array {
  const der = cmsOver(Uint8Array.from(createHash("sha256").update(signed).digest()), stranger);
  if (der[1] !== 0x82) throw new Error("the CMS has another length than two octets say");
  return Uint8Array.from([0x30, 0x80, ...der.subarray(4), 0, 0]);
}
