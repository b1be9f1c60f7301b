import type { Typeset } from "@signsealship/certificate";
import { textString, withEntries } from "../../pdf/edit.ts";
import type { Ref } from "../../pdf/lexer.ts";
import { lookUpPdf, type PdfLookup } from "../../pdf/lookup.ts";
import { resolve } from "../../pdf/objects.ts";
import { type PageBox, pageBox, placedOn, shownSize } from "../../pdf/page-box.ts";
import { countPages, pages } from "../../pdf/page-tree.ts";
import { buildRevision } from "../../pdf/revision/revision.ts";
import { createRevisionWriter, type RevisionWriter } from "../../pdf/revision/writer.ts";
import { asInteger, type Dict, entry } from "../../pdf/values.ts";
import { type Appearances, createAppearances, type Drawing } from "./appearance.ts";
import type { PlannedField, PreparedField } from "./fields.ts";
import { addSignaturePage, fieldsOnSignaturePage, mostSigners, signaturePageBox } from "./signature-page.ts";

/** A field that can't be put where it was planned. The message follows its name: `lies outside page 2`. */
export class UnfitField extends Error {
  /** Index in the list of planned fields. */
  readonly field: number;

  constructor(field: number, why: string) {
    super(why);
    this.name = "UnfitField";
    this.field = field;
  }
}

export type Preparation = {
  /** None: each signer has a place on a page that is added to the end. */
  readonly planned: readonly PlannedField[];
  /** Their names, the first signer's first. */
  readonly signers: readonly string[];
  /** What the added page says above their places. */
  readonly page: { readonly title: string; readonly note: string };
  /** Hex SHA-256 of the document. */
  readonly docSha256: string;
};

export type Prepared = {
  /** The revision to append to the document. */
  readonly tail: Buffer;
  /** In the order of the planned fields. */
  readonly fields: readonly PreparedField[];
};

/** Both flags of ISO 32000-1 table 219: signatures exist, append only. */
const SIG_FLAGS = 3;
/** Print; a signature's widget is locked besides (table 165). */
const PRINT = 4;
const LOCKED = 128;
const waitsFor: Readonly<Record<PreparedField["kind"], string>> = {
  signature: "Signature",
  mark: "Signature",
  initials: "Initials",
  date: "Date",
  name: "Name",
  text: "Text",
};

/**
 * Builds the revision that gives every signer the fields to fill: whatever is shown later changes only these, so that no
 * signature makes another one invalid.
 * @param original the document; neither changed nor copied
 * @param typeset with faces that all names and texts are prepared with
 * @throws PdfRefusal for a document that can't be continued so, UnfitField
 */
export function prepareDocument(original: Buffer, preparation: Preparation, typeset: Typeset): Prepared {
  const { signers, docSha256 } = preparation;
  const look = lookUpPdf(original);
  const writer = createRevisionWriter(look, docSha256);
  const added = preparation.planned.length === 0 ? addedPage(look, writer, signers) : null;
  const planned = added?.planned ?? preparation.planned;
  refuseUnfit(look, planned, added !== null);
  const onPages = added?.pages ?? pagesOf(look, planned);
  const appearances = createAppearances(typeset);
  const drafts = planned.map((field, index) =>
    draftOf(field, {
      index,
      isFirst: firstOfKind(planned, index),
      page: onPages.get(field.page),
      writer,
      appearances,
      signers,
      docSha256,
    }),
  );
  const formOf = appearances.addTo(writer);
  for (const draft of drafts) draft.fill(bodyOf(draft, drafts, formOf(draft.drawing)));
  for (const { ref, dict } of new Set(onPages.values())) {
    const own = drafts.filter((draft) => draft.pageRef.num === ref.num).map((draft) => draft.ref);
    if (dict) writer.append(dict, "Annots", own, (Annots) => writer.set(ref, dict, { Annots }));
    else if (added) addSignaturePage(look, writer, typeset, { ref: added.reserved, signers, ...preparation.page }, own);
  }
  addToForm(look, writer, drafts);
  const tail = buildRevision(look, writer.objects(), docSha256);
  return { tail, fields: drafts.map(({ prepared }) => prepared) };
}

/**
 * What earlier signatures leave: readers take text fields that are new for a change of what was signed, and in a certified
 * document whatever is visible, too.
 */
function refuseUnfit({ signatures, docMdp }: PdfLookup, planned: readonly PlannedField[], addsPage: boolean): void {
  for (const [index, { kind }] of planned.entries()) {
    if (docMdp !== null)
      throw new UnfitField(index, "can't be added: the document is certified, and allows no new fields");
    if (signatures > 0 && addsPage)
      throw new UnfitField(
        index,
        "can't be added: the document is signed, and allows no new pages; name a place for each signature in fields",
      );
    const isText = kind !== "signature" || !firstOfKind(planned, index);
    if (signatures > 0 && isText)
      throw new UnfitField(index, "can't be added: the document is signed, and allows no new text fields");
  }
}

const firstOfKind = (planned: readonly PlannedField[], index: number): boolean =>
  planned.findIndex(({ kind, signer }) => kind === planned[index]?.kind && signer === planned[index]?.signer) === index;

/** A page that fields are put on; `dict` null for the one that is added. */
type FieldPage = { readonly ref: Ref; readonly dict: Dict | null; readonly box: PageBox };

function addedPage(look: PdfLookup, writer: RevisionWriter, signers: readonly string[]) {
  if (signers.length > mostSigners)
    throw new UnfitField(0, `a signature page has room for ${mostSigners} signers, not ${signers.length}`);
  const number = countPages(look.file, look.root.dict);
  const reserved = writer.reserve();
  const ref = { num: Number.parseInt(reserved.ref, 10), gen: 0 };
  const pages = new Map<number, FieldPage>([[number, { ref, dict: null, box: signaturePageBox }]]);
  return { reserved, pages, planned: fieldsOnSignaturePage(signers, number) };
}

/** The pages that fields are on. @throws UnfitField for a field on a page that there is not, or beside its page */
function pagesOf(look: PdfLookup, planned: readonly PlannedField[]): Map<number, FieldPage> {
  const found = new Map<number, FieldPage>();
  const last = Math.max(...planned.map(({ page }) => page));
  let count = 0;
  for (const page of pages(look.file, look.root.dict)) {
    if (planned.some((field) => field.page === count)) found.set(count, { ...page, box: pageBox(look.file, page) });
    if (count++ >= last) break;
  }
  for (const [index, { page, place }] of planned.entries()) {
    const on = found.get(page);
    if (!on) throw new UnfitField(index, `is on page ${page + 1} of a document with ${count} pages`);
    const { width, height } = shownSize(on.box);
    const isOn = place.x >= 0 && place.y >= 0 && place.x + place.width <= width && place.y + place.height <= height;
    if (!isOn) throw new UnfitField(index, `lies outside page ${page + 1}, which is ${width} by ${height} points`);
  }
  return found;
}

type Draft = {
  prepared: PreparedField;
  ref: string;
  fill: (body: string) => void;
  pageRef: Ref;
  rect: readonly number[];
  drawing: Drawing;
  label: string;
};

type Tools = {
  index: number;
  /** Whether it is the first of its kind for its signer. */
  isFirst: boolean;
  page: FieldPage | undefined;
  writer: RevisionWriter;
  appearances: Appearances;
  signers: readonly string[];
  docSha256: string;
};

function draftOf({ signer, page: number, place, ...planned }: PlannedField, tools: Tools): Draft {
  const { index, page, writer, appearances, signers, docSha256, isFirst } = tools;
  const kind: PreparedField["kind"] = planned.kind === "signature" && !isFirst ? "mark" : planned.kind;
  if (!page) throw new UnfitField(index, `is on page ${number + 1}, which is not there`);
  const { rect, ...shape } = placedOn(page.box, place);
  const { ref, fill } = writer.reserve();
  // The name contains the document's own hash, so no field of the document can bear it.
  const name = `SignSealShip-${docSha256.slice(0, 16)}-${signer}-${index + 1}-${kind}`;
  const label = `${waitsFor[kind]}: ${signers[signer - 1] ?? ""}`;
  const prepared = {
    kind,
    signer,
    name,
    object: Number.parseInt(ref, 10),
    page: number,
    unit: page.box.unit,
    ...shape,
  };
  return { prepared, ref, fill, pageRef: page.ref, rect, drawing: appearances.empty(prepared, label), label };
}

/** The dictionary of a field, merged with its widget (ISO 32000-1 12.7.3 and 12.5.6.19). */
function bodyOf({ prepared, pageRef, rect, label }: Draft, all: readonly Draft[], form: string): string {
  const { kind, name, signer, matrix } = prepared;
  const turned = matrix[0] === 1 ? "" : `/MK<</R ${turnOf(matrix)}>>`;
  const common =
    `<</Type/Annot/Subtype/Widget/T(${name})/TU${textString(label)}/P ${pageRef.num} ${pageRef.gen} R` +
    `/Rect[${rect.map((value) => Math.round(value * 1000) / 1000).join(" ")}]/AP<</N ${form}>>${turned}`;
  if (kind !== "signature") return `${common}/FT/Tx/F ${PRINT}/DA(/Helv 0 Tf 0 g)>>`;
  const own = all.filter((draft) => draft.prepared.signer === signer).map((draft) => `(${draft.prepared.name})`);
  const lock = `<</Type/SigFieldLock/Action/Include/Fields[${own.join("")}]>>`;
  return `${common}/FT/Sig/F ${PRINT | LOCKED}/Lock ${lock}>>`;
}

/** Degrees counterclockwise, of the field against its page (table 189). */
const turnOf = ([a = 0, b = 0]: readonly number[]): number => (b === 1 ? 90 : a === -1 ? 180 : 270);

function addToForm(look: PdfLookup, writer: RevisionWriter, drafts: readonly Draft[]): void {
  const { root, acroForm, file } = look;
  const refs = drafts.map(({ ref }) => ref);
  const texts = drafts.some(({ prepared }) => prepared.kind !== "signature");
  if (!acroForm) {
    const helvetica = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>";
    const defaults = texts ? `/DR<</Font<</Helv ${helvetica}>>>>` : "";
    const form = `<</Fields[${refs.join(" ")}]/SigFlags ${SIG_FLAGS}${defaults}>>`;
    writer.set(root.ref, root.dict, { AcroForm: writer.add(form) });
    return;
  }
  const { ref, dict } = acroForm;
  const changes: Record<string, string> = {};
  writer.append(dict, "Fields", refs, (Fields) => Object.assign(changes, { Fields }));
  const flags = asInteger(resolve(file, entry(dict, "SigFlags"))) ?? 0;
  if ((flags & SIG_FLAGS) !== SIG_FLAGS) changes["SigFlags"] = String(flags | SIG_FLAGS);
  if (ref) writer.set(ref, dict, changes);
  else writer.set(root.ref, root.dict, { AcroForm: withEntries(dict, changes) });
}
