import { appendRevision, bodyOf } from "../../../seal/signed-pdf.ts";
import { edited, formXObject, OBJECT, stream } from "../document.ts";
import { appendStreams } from "../revisions.ts";
import { ALL, type Attack, EVIL, evil, update } from "./attack.ts";

/** A stream whose dictionary could be the dictionary of a tag. */
const tag = (data: string) => stream(data, "/Type /StructElem /S /P /P 41 0 R");
const HONEST = EVIL.replace("900 to Mallet", "100 to Alice");
const drawn = "<< /Font << /Helv 6 0 R >> /XObject << /X 44 0 R >> >>";
const structureRoot = (entries: string) => `<< /Type /StructTreeRoot ${entries} /ParentTreeNextKey 6 >>`;
const box = (page: string) =>
  `<< /Type /Page /Parent 2 0 R ${page} /Resources 17 0 R /Contents 9 0 R /Annots 16 0 R /StructParents 5 >>`;

/** Attacks that declare drawn content to be a tag, because a tag may gain and lose other tags. */
const tagged: readonly Attack[] = [
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

/** Attacks that declare drawn content to be the number tree of tags, because that tree may grow. */
const numbered: readonly Attack[] = [
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

const CONTAINER = 45;

/**
 * An attack that replaces the object stream `CONTAINER`. This changes an object in the stream, although the new
 * cross-reference section does not name that object.
 */
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

const containers: readonly Attack[] = [
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

/**
 * Attacks in which the /Parent of a page or field is an object with another purpose as well. Later revisions may change
 * that object freely, and the page or field inherits entries from it.
 */
const parents: readonly Attack[] = [
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

export const shielded = { tagged, numbered, containers, parents };
