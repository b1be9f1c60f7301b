import { edited, OBJECT } from "../document.ts";
import { type Attack, sizeOf, update } from "./attack.ts";

const inCatalog = (name: string, entries: string): Attack =>
  update(`a catalog with ${name}`, (signed) => [edited(signed, OBJECT.catalog, / >>$/, ` ${entries} >>`)]);

export const catalogs: readonly Attack[] = [
  inCatalog("optional content", "/OCProperties << /OCGs [] /D << >> >>"),
  inCatalog("an action when opened", "/OpenAction << /S /JavaScript /JS (1) >>"),
  inCatalog("further actions", "/AA << /WC << /S /JavaScript /JS (1) >> >>"),
  inCatalog("scripts", "/Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (1) >>] >> >>"),
  inCatalog("attachments", "/Names << /EmbeddedFiles << /Names [] >> >>"),
  inCatalog("associated files", "/AF []"),
  inCatalog("viewer preferences", "/ViewerPreferences << /HideToolbar true >>"),
  inCatalog("page labels", "/PageLabels << /Nums [0 << /S /r >>] >>"),
  inCatalog("a portfolio", "/Collection << >>"),
  inCatalog("rendering by XFA", "/NeedsRendering true"),
  inCatalog("a base address", "/URI << /Base (https://example.org) >>"),
  inCatalog("a language", "/Lang (de)"),
  inCatalog("output intents", "/OutputIntents []"),
  inCatalog("a second form", "/AcroForm << /Fields [] >>"),
  inCatalog("a stream for its extensions", "/Extensions 44 0 R"),
  inCatalog("a page's content for its security store", "/DSS << /Certs [10 0 R] >>"),
  inCatalog("a security store with a key of its own", "/DSS << /Certs [] /Evil 44 0 R >>"),
  inCatalog("a security store whose /VRI is odd", "/DSS << /VRI << /Evil << >> >> >>"),
  update("other pages", (signed) => [
    [sizeOf(signed), "<< /Type /Pages /Count 1 /Kids [11 0 R] >>"],
    edited(signed, OBJECT.catalog, "/Pages 2 0 R", `/Pages ${sizeOf(signed)} 0 R`),
  ]),
  update("no outlines", (signed) => [edited(signed, OBJECT.catalog, "/Outlines 5 0 R ", "")]),
  update("other outlines", (signed) => [edited(signed, OBJECT.outlineItem, "(First)", "(Last)")]),
  update("no form", (signed) => [edited(signed, OBJECT.catalog, "/AcroForm 3 0 R ", "")]),
  update("an empty form", (signed) => [
    edited(signed, OBJECT.catalog, "/AcroForm 3 0 R", "/AcroForm << /Fields [] >>"),
  ]),
  update("no tags", (signed) => [edited(signed, OBJECT.catalog, "/StructTreeRoot 40 0 R ", "")]),
  update("a form by XFA", (signed) => [edited(signed, OBJECT.form, / >>$/, " /XFA 44 0 R >>")]),
  update("an order of calculation", (signed) => [edited(signed, OBJECT.form, / >>$/, " /CO [20 0 R] >>")]),
  update("no signature flags", (signed) => [edited(signed, OBJECT.form, "/SigFlags 3", "/SigFlags 0")]),
];

export const pages: readonly Attack[] = Object.entries({
  "another size": ["/MediaBox [0 0 612 792]", "/MediaBox [0 0 9 9]"],
  "a crop box": [/ >>$/, " /CropBox [0 0 9 9] >>"],
  "a rotation": [/ >>$/, " /Rotate 180 >>"],
  "a unit": [/ >>$/, " /UserUnit 9 >>"],
  "other content": ["/Contents 9 0 R", "/Contents 44 0 R"],
  "no content": ["/Contents 9 0 R ", ""],
  "other resources": ["/Resources 17 0 R", "/Resources << >>"],
  actions: [/ >>$/, " /AA << /O << /S /JavaScript /JS (1) >> >> >>"],
  "a transition": [/ >>$/, " /Trans << /S /Dissolve >> >>"],
  "a group": [/ >>$/, " /Group << /S /Transparency >> >>"],
  "another parent": ["/Parent 2 0 R", "/Parent 1 0 R"],
  "another type": ["/Type /Page", "/Type /Pages"],
  "its annotations twice": ["/Annots 16 0 R", "/Annots 16 0 R /Annots 9 0 R"],
  "no annotations": ["/Annots 16 0 R ", ""],
  "a stream for its annotations": ["/Annots 16 0 R", "/Annots 44 0 R"],
  "a duration": [/ >>$/, " /Dur 1 >>"],
  "other keys of its structure": ["/StructParents 5", "/StructParents 1"],
}).map(([name, [from, to]]) =>
  update(`a page with ${name}`, (signed) => [edited(signed, OBJECT.page, from ?? "", String(to))]),
);
