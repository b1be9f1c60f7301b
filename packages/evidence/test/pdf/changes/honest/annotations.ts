import { appendRevision, bodyOf, type NewObject } from "../../../seal/signed-pdf.ts";
import { added, edited, formXObject, OBJECT } from "../document.ts";
import { freeing } from "../revisions.ts";
import { type Honest, NOTES, sizeOf, update } from "./update.ts";

const NOTE = "/Subtype /Text /Rect [10 10 30 30] /Contents (Please check)";

function note(signed: string, entries: string, more: readonly NewObject[] = []): NewObject[] {
  return [[sizeOf(signed), `<< ${entries} >>`], added(signed, OBJECT.annots, `${sizeOf(signed)} 0 R`), ...more];
}

export const annotations: readonly Honest[] = [
  update("a note", NOTES, (signed) => note(signed, `/Type /Annot ${NOTE}`)),
  update("a note without /Type", NOTES, (signed) => note(signed, NOTE)),
  update("a note with an appearance and a popup", NOTES, (signed) => {
    const number = sizeOf(signed);
    return [
      [number, `<< ${NOTE} /AP << /N ${number + 1} 0 R >> /Popup ${number + 2} 0 R >>`],
      [number + 1, formXObject("0 0 9 9 re f")],
      [number + 2, `<< /Type /Annot /Subtype /Popup /Rect [9 9 99 99] /Parent ${number} 0 R >>`],
      [OBJECT.annots, bodyOf(signed, OBJECT.annots).replace("]", ` ${number} 0 R ${number + 2} 0 R]`)],
    ];
  }),
  update("a note and an order of tabs", NOTES, (signed) =>
    note(signed, NOTE, [edited(signed, OBJECT.page, / >>$/, " /Tabs /S >>")]),
  ),
  update("a note and its tag", NOTES, (signed) => {
    const number = sizeOf(signed);
    return note(signed, `${NOTE} /StructParent 6`, [
      [number + 1, `<< /Type /StructElem /S /Annot /P 41 0 R /Pg 10 0 R /K << /Type /OBJR /Obj ${number} 0 R >> >>`],
      edited(signed, OBJECT.elements, "/K [42 0 R]", `/K [42 0 R ${number + 1} 0 R]`),
      edited(signed, OBJECT.parentTree, "5 [41 0 R]", `5 [41 0 R] 6 ${number + 1} 0 R`),
      edited(signed, OBJECT.structure, "/ParentTreeNextKey 6", "/ParentTreeNextKey 7"),
    ]);
  }),
  update("a note on a page that had none", NOTES, (signed) => [
    [sizeOf(signed), `<< ${NOTE} >>`],
    edited(signed, OBJECT.secondPage, / >>$/, ` /Annots [${sizeOf(signed)} 0 R] >>`),
  ]),
  update("a note in a list that becomes direct", NOTES, (signed) => [
    [sizeOf(signed), `<< ${NOTE} >>`],
    edited(
      signed,
      OBJECT.page,
      "/Annots 16 0 R",
      `/Annots ${bodyOf(signed, OBJECT.annots).replace("]", ` ${sizeOf(signed)} 0 R]`)}`,
    ),
  ]),
  update("a note changed", NOTES, (signed) => [
    edited(signed, OBJECT.note, "(Note)", "(Other note) /M (D:20260301000000Z)"),
  ]),
  update("a note's appearance rewritten", NOTES, () => [[OBJECT.noteAppearance, formXObject("0 0 10 10 re S")]]),
  update("a reply to a note", NOTES, (signed) => note(signed, `${NOTE} /IRT 24 0 R`)),
  update("a note removed", NOTES, (signed) => [edited(signed, OBJECT.annots, "24 0 R ", "")]),
  {
    name: "a note removed and freed with its appearance",
    permitted: NOTES,
    make: (signed) =>
      freeing(signed, [OBJECT.note, OBJECT.noteAppearance], [edited(signed, OBJECT.annots, "24 0 R ", "")]),
  },
  {
    name: "a note removed, another in its number",
    permitted: NOTES,
    make: (signed) => {
      const once = freeing(signed, [OBJECT.note], [edited(signed, OBJECT.annots, "24 0 R ", "")]);
      return appendRevision(once, [[OBJECT.note, `<< ${NOTE} >>`], added(once, OBJECT.annots, "24 0 R")]);
    },
  },
  update("a highlight", NOTES, (signed) =>
    note(signed, "/Subtype /Highlight /Rect [72 710 200 740] /QuadPoints [72 740 200 740 72 710 200 710]"),
  ),
];
