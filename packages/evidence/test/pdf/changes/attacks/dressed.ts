import { added, OBJECT } from "../document.ts";
import { type AddedObjects, type Attack, BUT_3, sizeOf, update } from "./attack.ts";

const PAINTS: Readonly<Record<string, string>> = {
  Ink: "/InkList [[0 0 600 700]] /BS << /W 900 >> /C [1 0 0]",
  Line: "/L [0 400 600 400] /BS << /W 800 >> /C [1 0 0]",
  Polygon: "/Vertices [0 0 612 0 612 792 0 792] /IC [1 0 0]",
  PolyLine: "/Vertices [0 0 612 0 612 792 0 792] /IC [1 0 0] /BS << /W 500 >>",
  Highlight: "/QuadPoints [0 792 612 792 0 0 612 0] /C [1 0 0]",
  Underline: "/QuadPoints [0 792 612 792 0 0 612 0] /C [1 0 0]",
  StrikeOut: "/QuadPoints [0 792 612 792 0 0 612 0] /C [1 0 0]",
  Squiggly: "/QuadPoints [0 792 612 792 0 0 612 0] /C [1 0 0]",
  Square: "/IC [1 0 0] /BS << /W 900 >>",
  Circle: "/IC [1 0 0] /BS << /W 900 >>",
  FreeText: "/DA (/Helv 90 Tf 1 0 0 rg) /Contents (VOID)",
  Stamp: "/Name /Approved",
  Redact: "/QuadPoints [0 792 612 792 0 0 612 0] /IC [0 0 0]",
  Text: "/Contents (Void)",
  Link: "/A << /S /URI /URI (https://example.org) >>",
  Watermark: "/FixedPrint << /Type /FixedPrint >>",
  Screen: "/A << /S /JavaScript /JS (app.alert(1)) >>",
};

/** Attacks with an annotation that is disguised as an empty signature field. */
export const dressed: readonly Attack[] = Object.entries(PAINTS).flatMap(([subtype, more]) => {
  const rect = (zero: string) => `<< /Type /Annot /Subtype /${subtype} /FT /Sig /T (Sneaky) ${zero}${more} /F 4 >>`;
  const made =
    (body: string, lists: readonly number[]): AddedObjects =>
    (signed) => {
      const number = sizeOf(signed);
      return [[number, body], ...lists.map((list) => added(signed, list, `${number} 0 R`))];
    };
  const zero = rect("/Rect [0 0 0 0] ");
  return [
    update(`${subtype} dressed as an empty signature field, on the page`, made(zero, [OBJECT.annots]), {
      forbidden: BUT_3,
    }),
    update(`${subtype} dressed as an empty signature field, on the page and in the form`, made(zero, [16, 15])),
    update(`${subtype} dressed as an empty signature field without /Rect`, made(rect(""), [16, 15])),
  ];
});
