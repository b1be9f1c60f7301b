import { appendRevision, bodyOf } from "../../../seal/signed-pdf.ts";
import { edited, formXObject, OBJECT, stream } from "../document.ts";
import { appendStreams } from "../revisions.ts";
import { ALL, type Attack, EVIL, evil, sizeOf, update } from "./attack.ts";

/** A stream whose dictionary could be a tag's. */
const tag = (data: string) => stream(data, "/Type /StructElem /S /P /P 41 0 R");
const HONEST = EVIL.replace("900 to Mallet", "100 to Alice");
const drawn = "<< /Font << /Helv 6 0 R >> /XObject << /X 44 0 R >> >>";
const structureRoot = (entries: string) => `<< /Type /StructTreeRoot ${entries} /ParentTreeNextKey 6 >>`;
const box = (page: string) =>
  `<< /Type /Page /Parent 2 0 R ${page} /Resources 17 0 R /Contents 9 0 R /Annots 16 0 R /StructParents 5 >>`;

/** What a page draws is called a tag, which may gain and lose others. */
export const tagged: readonly Attack[] = [
  update("the page's content, a tag beside others, rewritten", [[OBJECT.content, tag(EVIL)]], {
    prepared: {
      content: tag(HONEST),
      elements: "<< /Type /StructElem /S /Document /P 40 0 R /K [42 0 R 7 0 R] >>",
    },
  }),
  update("the page's content, the only tag, rewritten", [[OBJECT.content, evil]], {
    prepared: { content: stream(HONEST), structure: structureRoot("/K [7 0 R] /ParentTree 43 0 R") },
  }),
  update("another page's content, the root's tag, rewritten", [[OBJECT.secondContent, evil]], {
    prepared: { secondContent: stream(HONEST), structure: structureRoot("/K 8 0 R /ParentTree 43 0 R") },
  }),
  update("a form XObject of the page, a tag, rewritten", [[OBJECT.orphan, formXObject("1 0 0 rg 0 0 99 99 re f")]], {
    prepared: {
      content: stream("/X Do"),
      resources: drawn,
      orphan: formXObject("0 0 1 rg 0 0 99 99 re f"),
      structure: structureRoot("/K [44 0 R] /ParentTree 43 0 R"),
    },
  }),
];

const grown = (name: string, number: number, to: string, prepared: NonNullable<Attack["prepared"]>): Attack =>
  update(name, [[number, to]], { prepared });
const BOX = "[0 0 612 792]";
const LATER_BOX = "[0 600 300 792 0 0 612 792]";

/** What a page draws is called the tree of its tags' numbers, which may grow. */
export const numbered: readonly Attack[] = [
  grown("content added to a page's /Contents that is the parent tree's /Kids", OBJECT.contents, "[44 0 R 7 0 R]", {
    parentTree: "<< /Kids 9 0 R >>",
  }),
  grown("content added behind it", OBJECT.contents, "[7 0 R 44 0 R]", { parentTree: "<< /Kids 9 0 R >>" }),
  grown("content added to a page's /Contents that is the parent tree's /Nums", OBJECT.contents, "[44 0 R 7 0 R]", {
    parentTree: "<< /Nums 9 0 R >>",
  }),
  grown("content added to a page's /Contents that is the parent tree", OBJECT.contents, "[7 0 R 44 0 R]", {
    structure: structureRoot("/K 41 0 R /ParentTree 9 0 R"),
  }),
  grown("a page's /MediaBox that is the parent tree's /Nums, grown", OBJECT.orphan, LATER_BOX, {
    orphan: BOX,
    parentTree: "<< /Nums 44 0 R >>",
    page: box("/MediaBox 44 0 R"),
  }),
  grown("a page's /CropBox that is the parent tree's /Nums, grown", OBJECT.orphan, LATER_BOX, {
    orphan: BOX,
    parentTree: "<< /Nums 44 0 R >>",
    page: box("/MediaBox [0 0 612 792] /CropBox 44 0 R"),
  }),
  grown("a /BBox of the page's form XObject that is the parent tree, grown", OBJECT.secondContent, LATER_BOX, {
    content: stream("/X Do"),
    resources: drawn,
    secondContent: BOX,
    secondPage: "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources 17 0 R >>",
    orphan: stream("0 0 1 rg 0 0 612 792 re f", "/Type /XObject /Subtype /Form /BBox 8 0 R"),
    structure: structureRoot("/K 41 0 R /ParentTree 8 0 R"),
  }),
];

/** The object stream of this number is replaced: what is in it changes, and no section says so. */
const CONTAINER = 45;
const contained = (
  name: string,
  inside: (pdf: string) => readonly (readonly [number, string])[],
  more = {},
): Attack => ({
  name,
  forbidden: ALL,
  preparedRevision: (pdf) => appendStreams(pdf, inside(pdf), [[OBJECT.contents, "[7 0 R]"]], CONTAINER),
  make: (signed) => appendRevision(signed, [[CONTAINER, stream("9 0 [8 0 R] ", "/Type /ObjStm /N 1 /First 4")]]),
  ...more,
});

export const containers: readonly Attack[] = [
  contained("an object stream that is a field's appearance, rewritten", (pdf) => [
    edited(pdf, OBJECT.amount, "/N 30 0 R", `/N ${CONTAINER} 0 R`),
  ]),
  contained("an object stream that is a field's value, rewritten", (pdf) => [
    edited(pdf, OBJECT.name, / >>$/, ` /V ${CONTAINER} 0 R >>`),
  ]),
  contained("an object stream that is a tag, rewritten", (pdf) => [
    edited(pdf, OBJECT.elements, "/K [42 0 R]", `/K [42 0 R ${CONTAINER} 0 R]`),
  ]),
  contained("an object stream that is a note's appearance, rewritten", (pdf) => [
    edited(pdf, OBJECT.note, "/N 33 0 R", `/N ${CONTAINER} 0 R`),
  ]),
  {
    name: "an object of the document that becomes an object stream",
    forbidden: ALL,
    make: (signed) =>
      appendStreams(signed, [], [[OBJECT.amount, bodyOf(signed, OBJECT.amount)]], OBJECT.amountAppearance),
  },
];

const climbed = (name: string, entry: string, page: string, later: string): Attack =>
  update(name, [[OBJECT.orphan, later]], {
    prepared: {
      catalog: `<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R /StructTreeRoot 40 0 R ${entry} >>`,
      orphan: "<< /Type /Pages /Kids [10 0 R] /Count 1 >>",
      page,
    },
  });
const page = (entries: string) =>
  `<< /Type /Page /Parent 44 0 R ${entries} /Contents 9 0 R /Annots 16 0 R /StructParents 5 >>`;
const MARKED = "/Type /Pages /Kids [10 0 R] /Count 1";

/** Readers climb to what a page or a field calls its parent, which may be what changes freely. */
export const parents: readonly Attack[] = [
  climbed(
    "resources of a page's parent that is the catalog's /Extensions",
    "/Extensions 44 0 R",
    page("/MediaBox [0 0 612 792]"),
    `<< ${MARKED} /Resources << /Font << /Helv 44 0 R >> >> >>`,
  ),
  climbed(
    "a box of a page's parent that is the catalog's /Extensions",
    "/Extensions 44 0 R",
    page("/Resources 17 0 R"),
    `<< ${MARKED} /MediaBox [0 0 200 200] >>`,
  ),
  climbed(
    "a rotation of a page's parent that is the catalog's /MarkInfo",
    "/MarkInfo 44 0 R",
    page("/MediaBox [0 0 612 792] /Resources 17 0 R"),
    `<< ${MARKED} /Rotate 180 >>`,
  ),
  climbed(
    "a crop box of a page's parent that is the catalog's /MarkInfo",
    "/MarkInfo 44 0 R",
    page("/MediaBox [0 0 612 792] /Resources 17 0 R"),
    `<< ${MARKED} /CropBox [0 0 99 99] >>`,
  ),
  update("a value of a field's parent that is the catalog's /Extensions", [[OBJECT.orphan, "<< /T (X) /V (900) >>"]], {
    prepared: {
      catalog: "<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R /StructTreeRoot 40 0 R /Extensions 44 0 R >>",
      orphan: "<< /T (X) >>",
      name: "<< /Subtype /Widget /FT /Tx /T (Name) /F 4 /Rect [72 560 272 580] /Parent 44 0 R >>",
    },
  }),
  update("extensions with what is neither a name nor a number", (signed) => [
    edited(signed, OBJECT.catalog, / >>$/, " /Extensions << /ESIC << /BaseVersion 44 0 R >> >> >>"),
  ]),
  update("an entry of /MarkInfo that is none of its own", (signed) => [
    edited(signed, OBJECT.catalog, "/Marked true", "/Marked true /Rotate 90"),
  ]),
];

const LOCKED = { signature: { fieldMdp: "/Action /Include /Fields [(Amount) (Group.One)]" } } as const;
const GROUP = {
  group: "<< /T (Group) /FT /Tx /V (100) /DA (/Helv 12 Tf 0 g) /Kids [26 0 R 27 0 R] >>",
  first: "<< /Subtype /Widget /T (One) /Parent 25 0 R /Rect [72 400 92 420] >>",
  second: "<< /Subtype /Widget /T (Two) /Parent 25 0 R /Rect [102 400 122 420] >>",
};
const locked = (name: string, number: number, from: string | RegExp, to: string, more: Partial<Attack> = {}): Attack =>
  update(name, (signed) => [edited(signed, number, from, to)], { ...LOCKED, ...more });

/** What a locked field shows is changed without its name being touched. */
export const aroundLocks: readonly Attack[] = [
  locked("a locked field drawn by the reader", OBJECT.form, / >>$/, " /NeedAppearances true >>"),
  locked("a locked field in another color by the form", OBJECT.form, "0 g", "1 g"),
  locked("a locked field's value by the field above", OBJECT.group, "(100)", "(900)", { prepared: GROUP }),
  locked("a locked field's look by the field above", OBJECT.group, "12 Tf", "1 Tf", { prepared: GROUP }),
  locked("a locked field quadded by the form", OBJECT.form, / >>$/, " /Q 2 >>"),
  locked("a name that a locked field may be drawn by", OBJECT.form, "/Helv 6 0 R", "/Helv 6 0 R /Cour 6 0 R"),
];

const flagged = (name: string, number: number, from: string | RegExp, to: string, more: Partial<Attack> = {}): Attack =>
  update(
    name,
    (signed) => [[sizeOf(signed), "2"], edited(signed, number, from, to.replace("NEW", `${sizeOf(signed)} 0 R`))],
    more,
  );
const PERMISSION = { orphan: "1" };

/** A flag or a permission is not a number, but leads to one. */
export const references: readonly Attack[] = [
  flagged("a field hidden by a flag that is elsewhere", OBJECT.amount, "/F 4", "/F NEW"),
  flagged("a hidden field shown by a flag that is elsewhere", OBJECT.orphan, "2", "4", {
    prepared: {
      orphan: "2",
      name: "<< /Subtype /Widget /FT /Tx /T (Name) /V (900) /F 44 0 R /Rect [0 0 612 792] >>",
    },
  }),
  flagged("a hidden field shown by no flag", OBJECT.name, "/F 44 0 R", "/F 4", {
    prepared: {
      orphan: "2",
      name: "<< /Subtype /Widget /FT /Tx /T (Name) /V (900) /F 44 0 R /Rect [0 0 612 792] >>",
    },
  }),
  flagged("a field's kind by a flag that is elsewhere", OBJECT.amount, / >>$/, " /Ff NEW >>"),
  flagged("a flag that is no integer", OBJECT.amount, "/F 4", "/F 6.0"),
  flagged("a field filled under a lock whose /P is elsewhere", OBJECT.amount, "(100)", "(900)", {
    prepared: PERMISSION,
    signature: { lock: "/Action /Include /Fields [(Name)] /P 44 0 R" },
  }),
  flagged("a field filled under a lock whose names are elsewhere", OBJECT.amount, "(100)", "(900)", {
    prepared: { orphan: "(Amount)" },
    signature: { lock: "/Action /Include /Fields [44 0 R]" },
  }),
  flagged("a signature field's type that is elsewhere", OBJECT.empty, / >>$/, " /V (900) >>", {
    prepared: { orphan: "/Sig", empty: "<< /Subtype /Widget /FT 44 0 R /T (Countersign) /Rect [0 0 200 200] >>" },
  }),
  flagged("a locked field's name that is elsewhere", OBJECT.amount, "(100)", "(900)", {
    prepared: {
      orphan: "(Amount)",
      amount:
        "<< /Type /Annot /Subtype /Widget /FT /Tx /T 44 0 R /F 4 /Rect [72 600 272 620] /P 10 0 R /V (100) /AP << /N 30 0 R >> >>",
    },
    signature: { fieldMdp: "/Action /Include /Fields [(Amount)]" },
  }),
];

/** The drawing leads to a page, an annotation or a tag, of which others may change. */
export const drawnThrough: readonly Attack[] = [
  update(
    "a color space that a page's /Tabs is",
    (signed) => [edited(signed, OBJECT.page, "/Tabs /DeviceGray", "/Tabs /DeviceRGB")],
    {
      prepared: {
        resources: "<< /ColorSpace 10 0 R >>",
        content: stream("/Tabs cs 1 sc 0 0 612 792 re f"),
        page: "<< /Type /Page /Tabs /DeviceGray /Parent 2 0 R /MediaBox [0 0 612 792] /Resources 17 0 R /Contents 9 0 R /Annots 16 0 R >>",
      },
    },
  ),
  update(
    "a font that is an annotation, replaced",
    [[OBJECT.note, "<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"]],
    {
      prepared: { resources: "<< /Font << /Helv 6 0 R /P 24 0 R >> >>" },
    },
  ),
  update(
    "an external state under a naming key, which is an annotation",
    (signed) => [edited(signed, OBJECT.note, "/Rect", "/LW 99 /Rect")],
    { prepared: { resources: "<< /Font << /Helv 6 0 R >> /ExtGState << /Obj 24 0 R >> >>" } },
  ),
];

const READ_ONLY =
  "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /F 4 /Ff 1 /Rect [72 560 272 580] /P 10 0 R /V (1) >>";

/** A field that nobody may fill in. */
export const readOnly: readonly Attack[] = [
  update("a read-only field, filled", (signed) => [edited(signed, OBJECT.name, "(1)", "(9)")], {
    prepared: { name: READ_ONLY },
  }),
  update(
    "a read-only field, drawn anew",
    (signed) => [edited(signed, OBJECT.name, / >>$/, " /AP << /N 44 0 R >> >>")],
    {
      prepared: { name: READ_ONLY, orphan: formXObject("1 0 0 rg 0 0 99 99 re f") },
    },
  ),
  update("a read-only field opened", (signed) => [edited(signed, OBJECT.name, "/Ff 1 ", "")], {
    prepared: { name: READ_ONLY },
  }),
  update(
    "a field that is read-only by the one above, filled",
    (signed) => [edited(signed, OBJECT.first, "(100)", "(900)")],
    {
      prepared: {
        group: "<< /T (Group) /FT /Tx /Ff 1 /Kids [26 0 R 27 0 R] >>",
        first: "<< /Subtype /Widget /T (One) /Parent 25 0 R /Rect [72 400 92 420] /V (100) >>",
        second: "<< /Subtype /Widget /T (Two) /Parent 25 0 R /Rect [102 400 122 420] >>",
      },
    },
  ),
];

export const shielded = {
  tagged,
  numbered,
  containers,
  parents,
  "around locks": aroundLocks,
  references,
  "drawn through": drawnThrough,
  "read-only fields": readOnly,
};
