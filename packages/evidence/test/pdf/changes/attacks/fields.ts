import type { NewObject } from "../../../seal/signed-pdf.ts";
import { added, edited, formXObject, OBJECT } from "../document.ts";
import { type Attack, BUT_3, sizeOf, update } from "./attack.ts";

/**
 * Makes the objects of a revision that adds a new field to the lists with these object numbers. The object after the
 * field is a form XObject that paints the whole page.
 */
export const newField =
  (entries: string | ((signed: string) => string), lists: readonly number[] = [OBJECT.fields, OBJECT.annots]) =>
  (signed: string): NewObject[] => {
    const number = sizeOf(signed);
    return [
      [number, `<< ${typeof entries === "string" ? entries : entries(signed)} >>`],
      [number + 1, formXObject("1 0 0 rg 0 0 612 792 re f")],
      ...lists.map((list) => added(signed, list, `${number} 0 R`)),
    ];
  };
const INVISIBLE = "/Type /Annot /Subtype /Widget /FT /Sig /T (Sneaky) /F 132 /Rect [0 0 0 0] /P 10 0 R";

export const fields: readonly Attack[] = [
  update(
    "a picture on the page: a signature field whose value signs nothing",
    (signed) => {
      const number = sizeOf(signed);
      const shown = `/Rect [0 0 612 792] /AP << /N ${number + 2} 0 R >> /V ${number + 1} 0 R`;
      return [
        [number, `<< ${INVISIBLE.replace("/Rect [0 0 0 0]", shown)} >>`],
        [number + 1, "<< /Type /Sig /Filter /X /Contents <00> /ByteRange [0 1 2 3] >>"],
        [number + 2, formXObject("1 0 0 rg 0 0 612 792 re f")],
        added(signed, OBJECT.fields, `${number} 0 R`),
        added(signed, OBJECT.annots, `${number} 0 R`),
      ];
    },
    { forbidden: BUT_3 },
  ),
  update("an invisible signature field with a border", newField(`${INVISIBLE} /Border [0 0 900]`)),
  update(
    "an invisible signature field with a border style",
    newField(`${INVISIBLE} /BS << /W 900 >> /MK << /BC [1 0 0] >>`),
  ),
  update(
    "an invisible signature field with an appearance that paints",
    newField((signed) => `${INVISIBLE} /AP << /N ${sizeOf(signed) + 1} 0 R >>`),
  ),
  update("an invisible signature field with an action", newField(`${INVISIBLE} /A << /S /JavaScript /JS (1) >>`)),
  update(
    "an invisible signature field with further actions",
    newField(`${INVISIBLE} /AA << /PO << /S /JavaScript /JS (1) >> >>`),
  ),
  update("an invisible signature field that bears an existing name", newField(INVISIBLE.replace("Sneaky", "Amount"))),
  update("an invisible signature field with a dot in its name", newField(INVISIBLE.replace("Sneaky", "Group.x"))),
  update("an invisible signature field without a name", newField(INVISIBLE.replace("/T (Sneaky) ", ""))),
  update("an invisible signature field with a parent", newField(`${INVISIBLE} /Parent 25 0 R`)),
  update(
    "an invisible signature field with a visible kid",
    newField(`/FT /Sig /T (Sneaky) /Kids [23 0 R]`, [OBJECT.fields]),
  ),
  update("an invisible signature field with a default value", newField(`${INVISIBLE} /DV (x)`)),
  update(
    "an invisible signature field in an optional content group",
    newField(`${INVISIBLE} /OC << /Type /OCG /Name (x) >>`),
  ),
  update("a widget of nothing", newField("/Type /Annot /Subtype /Widget /Rect [0 0 612 792]", [OBJECT.annots])),
  update(
    "a text field over the page",
    newField("/Type /Annot /Subtype /Widget /FT /Tx /T (Sneaky) /V (1000000) /Rect [0 0 612 792]"),
  ),
  update(
    "a text field on the page alone",
    newField("/Type /Annot /Subtype /Widget /FT /Tx /T (Sneaky) /V (1000000) /Rect [0 0 612 792]", [16]),
  ),
  update("a text field in the form alone", newField("/FT /Tx /T (Sneaky) /V (1000000)", [OBJECT.fields])),
  update(
    "a push button over the page",
    newField("/Type /Annot /Subtype /Widget /FT /Btn /Ff 65536 /T (Sneaky) /Rect [0 0 612 792]"),
  ),
  update(
    "a visible signature field that nobody signed, with an appearance",
    newField(
      (signed) =>
        `/Type /Annot /Subtype /Widget /FT /Sig /T (Sneaky) /Rect [0 0 612 792] /AP << /N ${sizeOf(signed) + 1} 0 R >>`,
    ),
    { forbidden: BUT_3 },
  ),
  update(
    "a visible empty signature field",
    newField("/Type /Annot /Subtype /Widget /FT /Sig /T (Sneaky) /Rect [0 0 612 792]"),
    {
      forbidden: [1, 2],
    },
  ),
  update("a signature widget on the page that the form does not know", newField(INVISIBLE, [OBJECT.annots]), {
    forbidden: BUT_3,
  }),
  update("a page added to the form's fields", (signed) => [added(signed, OBJECT.fields, "11 0 R")]),
  update("an existing annotation added to the form's fields", (signed) => [added(signed, OBJECT.fields, "24 0 R")]),
  update("a kid added to a field", (signed) => [
    [sizeOf(signed), "<< /Subtype /Widget /Parent 25 0 R /Rect [0 0 612 792] >>"],
    edited(signed, OBJECT.group, "/Kids [", `/Kids [${sizeOf(signed)} 0 R `),
    added(signed, OBJECT.annots, `${sizeOf(signed)} 0 R`),
  ]),
  update("a field removed from the form", (signed) => [edited(signed, OBJECT.fields, "20 0 R ", "")]),
  update("a widget removed from the page", (signed) => [edited(signed, OBJECT.annots, "20 0 R ", "")]),
  update("the fields in another order", (signed) => [edited(signed, OBJECT.annots, "20 0 R 21 0 R", "21 0 R 20 0 R")]),
];
