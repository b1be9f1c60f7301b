import { bodyOf } from "../../../seal/signed-pdf.ts";
import { edited, formXObject, OBJECT } from "../document.ts";
import { FORMS, type Honest, sizeOf, update } from "./update.ts";

export const forms: readonly Honest[] = [
  update("a field filled, its appearance new", FORMS, (signed) => [
    [
      OBJECT.amount,
      bodyOf(signed, OBJECT.amount)
        .replace("(100)", "(250)")
        .replace("30 0 R", `${sizeOf(signed)} 0 R`),
    ],
    [sizeOf(signed), formXObject("BT (250) Tj ET", " /Resources 17 0 R")],
  ]),
  update("a field filled, its appearance rewritten", FORMS, (signed) => [
    edited(signed, OBJECT.amount, "(100)", "(250)"),
    [OBJECT.amountAppearance, formXObject("BT (250) Tj ET", " /Resources 17 0 R")],
  ]),
  update(
    "a field filled, its appearance in a dictionary of its own rewritten",
    FORMS,
    (signed) => [
      edited(signed, OBJECT.amount, "(100)", "(250)"),
      [OBJECT.orphan, `<< /N ${sizeOf(signed)} 0 R >>`],
      [sizeOf(signed), formXObject("BT (250) Tj ET")],
    ],
    {
      prepared: {
        orphan: "<< /N 30 0 R >>",
        amount:
          "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Amount) /F 4 /Rect [72 600 272 620] /P 10 0 R /V (100) /AP 44 0 R >>",
      },
    },
  ),
  update("a field filled that had no appearance", FORMS, (signed) => [
    edited(signed, OBJECT.name, / >>$/, ` /V (Bob) /M (D:20260301000000Z) /AP << /N ${sizeOf(signed)} 0 R >> >>`),
    [sizeOf(signed), formXObject("BT (Bob) Tj ET", " /Resources << /Font << /Helv 6 0 R >> >>")],
  ]),
  update("a field filled by an indirect string", FORMS, (signed) => [
    edited(signed, OBJECT.name, / >>$/, ` /V ${sizeOf(signed)} 0 R >>`),
    [sizeOf(signed), "(Bob)"],
  ]),
  update("a field's indirect value rewritten", FORMS, () => [[OBJECT.orphan, "(Bob)"]], {
    prepared: {
      orphan: "(Alice)",
      name: "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /Rect [72 560 272 580] /V 44 0 R >>",
    },
  }),
  update("a field emptied", FORMS, (signed) => [edited(signed, OBJECT.amount, "/V (100) ", "")]),
  update("a field filled and made read-only", FORMS, (signed) => [
    edited(signed, OBJECT.amount, "(100)", "(250) /Ff 1"),
  ]),
  update(
    "a field filled that gets /Type",
    FORMS,
    (signed) => [edited(signed, OBJECT.name, / >>$/, " /Type /Annot /V (Bob) >>")],
    {
      prepared: { name: "<< /Subtype /Widget /FT /Tx /T (Name) /F 4 /Rect [72 560 272 580] /P 10 0 R >>" },
    },
  ),
  update("a field with rich text filled", FORMS, (signed) => [
    edited(signed, OBJECT.amount, "(100)", "(250) /RV (<p>250</p>)"),
  ]),
  update("a list's choice", FORMS, (signed) => [edited(signed, OBJECT.name, / >>$/, " /V (b) /I [1] /TI 1 >>")], {
    prepared: { name: "<< /Subtype /Widget /FT /Ch /T (Name) /Opt [(a) (b)] /F 4 /Rect [72 560 272 580] /P 10 0 R >>" },
  }),
  update("a checkbox set", FORMS, (signed) => [
    [OBJECT.agree, bodyOf(signed, OBJECT.agree).replace("/V /Off", "/V /Yes").replace("/AS /Off", "/AS /Yes")],
  ]),
  update("a radio button set: the group has the value, its kids neither type nor name", FORMS, (signed) => [
    edited(signed, OBJECT.group, "/V /Off", "/V /One"),
    edited(signed, OBJECT.first, "/AS /Off", "/AS /One"),
  ]),
  update(
    "a field filled under a node without /FT",
    FORMS,
    (signed) => [edited(signed, OBJECT.first, / >>$/, " /V (x) >>")],
    {
      prepared: {
        group: "<< /T (Group) /Kids [26 0 R 27 0 R] >>",
        first: "<< /Subtype /Widget /FT /Tx /T (One) /Parent 25 0 R /Rect [72 400 92 420] >>",
        second: "<< /Subtype /Widget /FT /Tx /T (Two) /Parent 25 0 R /Rect [102 400 122 420] >>",
      },
    },
  ),
  update("appearances left to the reader", FORMS, (signed) => [
    edited(signed, OBJECT.amount, "(100)", "(250)"),
    edited(signed, OBJECT.form, / >>$/, " /NeedAppearances true >>"),
  ]),
  update("a font added to the form's resources", FORMS, (signed) => [
    [sizeOf(signed), "<< /Type /Font /Subtype /Type1 /BaseFont /ZapfDingbats >>"],
    edited(signed, OBJECT.form, "/Helv 6 0 R", `/Helv 6 0 R /ZaDb ${sizeOf(signed)} 0 R`),
  ]),
  update("a field filled that is not locked", FORMS, (signed) => [edited(signed, OBJECT.amount, "(100)", "(250)")], {
    signature: { fieldMdp: "/Action /Include /Fields [(Name)]" },
  }),
  update(
    "a field that is computed from others, though it is read-only",
    FORMS,
    (signed) => [edited(signed, OBJECT.name, "(1)", "(2)")],
    {
      prepared: {
        form: "<< /Fields 15 0 R /SigFlags 3 /DR << /Font << /Helv 6 0 R >> >> /DA (/Helv 0 Tf 0 g) /CO [21 0 R] >>",
        name: "<< /Type /Annot /Subtype /Widget /FT /Tx /T (Name) /F 4 /Ff 1 /Rect [72 560 272 580] /P 10 0 R /V (1) /AP << /N 44 0 R >> >>",
        orphan: formXObject("BT (1) Tj ET"),
      },
    },
  ),
  update(
    "a field filled that is excluded from the lock",
    FORMS,
    (signed) => [edited(signed, OBJECT.amount, "(100)", "(250)")],
    {
      signature: { fieldMdp: "/Action /Exclude /Fields [(Amount)]" },
    },
  ),
];
