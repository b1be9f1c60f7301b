import { added, edited, formXObject, OBJECT } from "../document.ts";
import { ALL, type Attack, BUT_3, type Permission, sizeOf, update } from "./attack.ts";

const annotation = (name: string, entries: string, forbidden: readonly Permission[] = BUT_3): Attack =>
  update(
    name,
    (signed) => [
      [sizeOf(signed), `<< /Type /Annot ${entries} >>`],
      [sizeOf(signed) + 1, formXObject("1 0 0 rg 0 0 612 792 re f")],
      added(signed, OBJECT.annots, `${sizeOf(signed)} 0 R`),
    ],
    { forbidden },
  );

export const annotations: readonly Attack[] = [
  annotation("a text box over the page", "/Subtype /FreeText /Rect [0 0 612 792] /Contents (Void)"),
  annotation("a stamp over the page", "/Subtype /Stamp /Rect [0 0 612 792] /AP << /N 47 0 R >>"),
  annotation("a redaction", "/Subtype /Redact /Rect [0 0 612 792]"),
  annotation("an annotation of no kind", "/Rect [0 0 612 792] /AP << /N 47 0 R >>", ALL),
  update(
    "an existing annotation moved to another page",
    (signed) => [edited(signed, OBJECT.secondPage, / >>$/, " /Annots [24 0 R] >>")],
    { forbidden: BUT_3 },
  ),
  update("a note removed", (signed) => [edited(signed, OBJECT.annots, "24 0 R ", "")], { forbidden: BUT_3 }),
  update("no annotation but a number", (signed) => [added(signed, OBJECT.annots, "7")]),
  update("content for an annotation", (signed) => [added(signed, OBJECT.annots, "7 0 R")]),
];

export const tags: readonly Attack[] = [
  update("a tag with another text", (signed) => [
    edited(signed, OBJECT.amountElement, "/S /Form", "/S /Form /ActualText (900)"),
  ]),
  update("a tag for other content", (signed) => [edited(signed, OBJECT.elements, "/K [42 0 R]", "/K [42 0 R 7]")]),
  update("a tag less", (signed) => [edited(signed, OBJECT.elements, "/K [42 0 R]", "/K []")]),
  update("a tag for content of its own", (signed) => [
    [sizeOf(signed), "<< /Type /StructElem /S /P /P 41 0 R /Pg 10 0 R /K 1 >>"],
    edited(signed, OBJECT.elements, "/K [42 0 R]", `/K [42 0 R ${sizeOf(signed)} 0 R]`),
  ]),
  update("other roles of tags", (signed) => [edited(signed, OBJECT.structure, / >>$/, " /RoleMap << /Form /P >> >>")]),
  update("tags by other numbers", (signed) => [edited(signed, OBJECT.parentTree, "1 42 0 R", "1 41 0 R")]),
];
