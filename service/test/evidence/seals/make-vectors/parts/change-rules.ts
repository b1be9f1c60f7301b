import type { Permission } from "../../../../../../packages/evidence/test/pdf/changes/attacks/attack.ts";
import {
  edited,
  formXObject,
  metadata,
  OBJECT,
  stream,
} from "../../../../../../packages/evidence/test/pdf/changes/document.ts";
import {
  appendRevision,
  bodyOf,
  endOf,
  type NewObject,
} from "../../../../../../packages/evidence/test/seal/signed-pdf.ts";
import type { FormChange } from "./changes.ts";
import type { Part } from "./part.ts";

/**
 * A change, and the permission of the signature before it. A rejected change is usually tried under the laxest
 * permission, 3; an accepted one under 2.
 */
export type ChangeRule = FormChange & { readonly permission: Permission; readonly expect: Part["expect"] };
type Made = readonly NewObject[] | ((signed: string) => readonly NewObject[]);
export type RuleOptions = Partial<FormChange> & { readonly permission?: Permission };

const rule =
  (expect: Part["expect"], usual: Permission) =>
  (name: string, made: Made, { permission = usual, ...more }: RuleOptions = {}): ChangeRule => ({
    name,
    permission,
    expect,
    make: (signed) => appendRevision(signed, typeof made === "function" ? made(signed) : made),
    ...more,
  });
export const refused = rule("refused", 3);
export const accepted = rule("accepted", 2);
export const edit =
  (object: keyof typeof OBJECT, from: string | RegExp, to: string): Made =>
  (signed) => [edited(signed, OBJECT[object], from, to)];
/** Adds entries to a dictionary of the form document. */
export const grown = (object: keyof typeof OBJECT, entries: string): Made => edit(object, / >>$/, ` ${entries} >>`);
export const sizeOf = (pdf: string): number => endOf(pdf).size;

const catalogBody = (more: string): string =>
  `<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R /Metadata 4 0 R /Outlines 5 0 R /StructTreeRoot 40 0 R ${more} >>`;
const MARKED = "/MarkInfo << /Marked true >>";
export const field = (name: string, more: string): string =>
  `<< /Type /Annot /Subtype /Widget /FT /Tx /T (${name}) /F 4 /Rect [72 560 272 580] /P 10 0 R ${more}>>`;

const XMP = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><a>2</a></x:xmpmeta>';
const xmp = (data: string): Made => [[OBJECT.metadata, metadata(data)]];

const catalogs: readonly ChangeRule[] = [
  refused("extensions that were a name", edit("catalog", "/Extensions /X", "/Extensions << >>"), {
    prepared: { catalog: catalogBody(`${MARKED} /Extensions /X`) },
  }),
  refused("extensions removed", edit("catalog", "/Extensions << >>", ""), {
    prepared: { catalog: catalogBody(`${MARKED} /Extensions << >>`) },
  }),
  refused("extensions with a /URL that is elsewhere", grown("catalog", "/Extensions << /A << /URL 4 0 R >> >>")),
  refused("extensions with another text", grown("catalog", "/Extensions << /A << /Text (x) >> >>")),
  accepted("extensions with a /URL and a /Type", grown("catalog", "/Extensions << /Type /X /A << /URL (x) >> >>")),
  refused("extensions whose /Type is no name", grown("catalog", "/Extensions << /Type (x) >>")),
  refused("a catalog's /Version that is no name", grown("catalog", "/Version (2.0)")),
  refused("marks where there were none", grown("catalog", MARKED), { prepared: { catalog: catalogBody("") } }),
  refused("marks removed", edit("catalog", MARKED, "")),
  refused("a mark that is not known", edit("catalog", "/Marked true", "/Marked true /Odd true")),
  refused("a mark that is no boolean", edit("catalog", "/Marked true", "/Marked (true)")),
  accepted("marks changed", edit("catalog", "/Marked true", "/Suspects false")),
  refused("a catalog that becomes a stream", (signed) => [
    [OBJECT.catalog, `${bodyOf(signed, OBJECT.catalog)}\nstream\n\nendstream`],
  ]),
  refused("metadata behind another text", xmp(`x ${XMP}`)),
  refused("metadata with a declaration", xmp(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><!-- a --></x:xmpmeta>`)),
  refused("metadata without the name space", xmp("<x:xmpmeta><a>2</a></x:xmpmeta>")),
  refused("metadata behind the first byte of another mark", xmp(`a\xbb\xbf${XMP}`)),
  refused("metadata behind the second byte of another mark", xmp(`\xefb\xbf${XMP}`)),
  refused("metadata behind the third byte of another mark", xmp(`\xef\xbbc${XMP}`)),
  accepted("metadata behind a byte order mark", xmp(`\xef\xbb\xbf\n${XMP}`), { permission: 1 }),
  refused("metadata of another type", [[OBJECT.metadata, stream(XMP, "/Type /XObject /Subtype /XML")]]),
  refused("metadata of another subtype", [[OBJECT.metadata, stream(XMP, "/Type /Metadata /Subtype /Form")]]),
  refused("metadata that is no stream", [[OBJECT.metadata, "<< /Type /Metadata /Subtype /XML >>"]]),
  refused("metadata that was no XMP", xmp(XMP), { prepared: { metadata: stream("q Q") } }),
  refused("metadata that goes on behind its length", [
    [OBJECT.metadata, metadata(`${XMP}          `).replace(/\/Length \d+/, `/Length ${XMP.length}`)],
  ]),
  refused("metadata freed", [], { make: (signed) => free(signed, OBJECT.metadata) }),
  accepted("metadata no longer named", edit("catalog", "/Metadata 4 0 R ", ""), { permission: 1 }),
  refused("metadata that was referred to and not there", () => [[70, metadata(XMP)]], {
    prepared: { catalog: catalogBody(MARKED).replace("4 0 R", "70 0 R") },
  }),
  refused("information that was a stream", [[OBJECT.info, "<< /Title (x) >>"]], { prepared: { info: stream("x") } }),
  refused("information that becomes a stream", [[OBJECT.info, stream("x")]]),
  refused("information freed", [], { make: (signed) => free(signed, OBJECT.info) }),
  accepted("information that is a stream, left alone", (signed) => [[sizeOf(signed), "null"]], {
    prepared: { info: stream("x") },
    make: (signed) => appendRevision(signed, [[sizeOf(signed), "null"]], " /Info 13 0 R"),
  }),
  accepted("information that is a stream, no longer named", (signed) => [[sizeOf(signed), "null"]], {
    prepared: { info: stream("x") },
  }),
];

function free(pdf: string, number: number): string {
  const { startxref, size } = endOf(pdf);
  const trailer = `/Size ${size} /Root 1 0 R /Info 13 0 R /Prev ${startxref}`;
  return `${pdf}xref\n${number} 1\n0000000000 00001 f \ntrailer\n<< ${trailer} >>\nstartxref\n${pdf.length}\n%%EOF\n`;
}

const NAME = { prepared: { name: field("Name", "") } };
const APART = {
  prepared: { orphan: "<< /N 30 0 R >>", amount: field("Amount", "/V (100) /AP 44 0 R ") },
};

const fields: readonly ChangeRule[] = [
  refused("a field that becomes an array", [[OBJECT.name, "[]"]]),
  refused("a field that becomes a stream", (signed) => [
    [OBJECT.name, `${bodyOf(signed, OBJECT.name).replace(/ >>$/, " /Length 0 >>")}\nstream\n\nendstream`],
  ]),
  refused("a field that is reached in two ways, filled", edit("amount", "(100)", "(900)"), {
    prepared: { group: "<< /T (Group) /FT /Btn /Ff 49152 /V /Off /Kids [26 0 R 27 0 R 20 0 R] >>" },
  }),
  accepted("a locked field made read-only", grown("amount", "/Ff 1"), {
    signature: { fieldMdp: "/Action /Include /Fields [(Amount)]" },
  }),
  accepted("a field made required", grown("amount", "/Ff 2")),
  refused("a field with another kind", grown("amount", "/Ff 4096")),
  accepted("a read-only field made required", edit("name", "/Ff 1", "/Ff 3"), {
    prepared: { name: field("Name", "/Ff 1 ") },
  }),
  refused("a field of another /Type", grown("name", "/Type /Odd"), {
    prepared: { name: field("Name", "").replace("/Type /Annot ", "") },
  }),
  refused("a field that had another /Type", edit("name", "/Type /Odd", "/Type /Annot"), {
    prepared: { name: field("Name", "").replace("/Annot", "/Odd") },
  }),
  refused("an appearance of another kind", edit("amount", "/N 30 0 R", "/N 30 0 R /X 30 0 R")),
  refused("an appearance that is an array", edit("amount", "/N 30 0 R", "/N [30 0 R]")),
  refused("an appearance that is a number", edit("amount", /\/AP << .*? >>/, "/AP 7")),
  accepted("an appearance removed", edit("amount", /\/AP << .*? >>/, "")),
  accepted("an appearance apart, changed", [[OBJECT.orphan, "<< /N 30 0 R /D 30 0 R >>"]], APART),
  refused("an appearance apart of another kind", [[OBJECT.orphan, "<< /N 30 0 R /X 30 0 R >>"]], APART),
  refused("an appearance apart that was an array", [[OBJECT.orphan, "<< /N 30 0 R >>"]], {
    prepared: { ...APART.prepared, orphan: "[30 0 R]" },
  }),
  refused("an appearance that is no stream any more", [
    [OBJECT.amountAppearance, "<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] >>"],
  ]),
  refused("an appearance that was no stream", [[OBJECT.amountAppearance, formXObject("q Q")]], {
    prepared: { amountAppearance: "<< /Type /XObject /Subtype /Form >>" },
  }),
  refused("an appearance that goes on behind its length", [
    [OBJECT.amountAppearance, formXObject("q Q        ").replace(/\/Length \d+/, "/Length 3")],
  ]),
  refused("an appearance that becomes an image", [
    [OBJECT.amountAppearance, formXObject("q Q").replace("/Form", "/Image")],
  ]),
  refused("an appearance that two fields share, rewritten", [[OBJECT.amountAppearance, formXObject("q Q")]], {
    prepared: { name: field("Name", "/AP << /N 30 0 R >> ") },
  }),
  refused("an appearance of a field that is reached in two ways", [[OBJECT.amountAppearance, formXObject("q Q")]], {
    prepared: { group: "<< /T (Group) /FT /Btn /Ff 49152 /V /Off /Kids [26 0 R 27 0 R 20 0 R] >>" },
  }),
  refused("a value apart that becomes a dictionary", [[OBJECT.orphan, "<< /A (x) >>"]], {
    prepared: { orphan: "(x)", name: field("Name", "/V 44 0 R ") },
  }),
  refused("a value that becomes a dictionary", grown("name", "/V << /A (x) >>"), NAME),
  refused("a value apart with a key twice in it", [[OBJECT.orphan, "[<< /A 1 /A 2 >>]"]], {
    prepared: { orphan: "[(x)]", name: field("Name", "/V 44 0 R ") },
  }),
  accepted("a value apart that is an array", [[OBJECT.orphan, "[<< /A 1 >>]"]], {
    prepared: { orphan: "[(x)]", name: field("Name", "/V 44 0 R ") },
  }),
  refused("a note with a key twice", grown("note", "/Contents (Other)")),
  accepted("a note rewritten", edit("note", "(Note)", "(Other)"), { permission: 3 }),
  refused("a note that becomes a widget", edit("note", "/Text", "/Widget")),
  refused("a note that becomes something else", edit("note", "/Annot", "/Odd")),
  refused("a note without a subtype", edit("note", "/Subtype /Text ", "")),
  refused("a note that becomes an array", [[OBJECT.note, "[]"]]),
];

export const basicRules: readonly ChangeRule[] = [...catalogs, ...fields];
