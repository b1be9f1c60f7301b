import { edited, formXObject, OBJECT, stream } from "../document.ts";
import { type Attack, sizeOf, update } from "./attack.ts";

const LOCKED = { signature: { fieldMdp: "/Action /Include /Fields [(Amount) (Group.One)]" } } as const;
const GROUP = {
  group: "<< /T (Group) /FT /Tx /V (100) /DA (/Helv 12 Tf 0 g) /Kids [26 0 R 27 0 R] >>",
  first: "<< /Subtype /Widget /T (One) /Parent 25 0 R /Rect [72 400 92 420] >>",
  second: "<< /Subtype /Widget /T (Two) /Parent 25 0 R /Rect [102 400 122 420] >>",
};
const locked = (name: string, number: number, from: string | RegExp, to: string, more: Partial<Attack> = {}): Attack =>
  update(name, (signed) => [edited(signed, number, from, to)], { ...LOCKED, ...more });

/** Attacks that change the appearance of a locked field through an object that the lock does not name. */
const aroundLocks: readonly Attack[] = [
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

/** Attacks in which a flag or a permission is a reference instead of a number. */
const references: readonly Attack[] = [
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

/** Attacks that change a page or an annotation which a drawing also uses as a resource, for example as a font. */
const drawnThrough: readonly Attack[] = [
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

/** Attacks on a read-only field, which nobody may fill in. */
const readOnly: readonly Attack[] = [
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

export const indirect = {
  "around locks": aroundLocks,
  references,
  "drawn through": drawnThrough,
  "read-only fields": readOnly,
};
