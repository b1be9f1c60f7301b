import { bodyOf } from "../../../seal/signed-pdf.ts";
import { added, edited, formXObject, OBJECT, signForm } from "../document.ts";
import { ALL, FORMS, type Honest, INVISIBLE, sizeOf, update } from "./update.ts";
import { withStore } from "./validation.ts";

export const signatures: readonly Honest[] = [
  { name: "an invisible signature", permitted: FORMS, make: (signed, signer) => signForm(signed, { signer }) },
  ...["/Action /All", "/Action /Exclude /Fields [(Amount)]", "/Action /All /P 2"].map(
    (lock): Honest => ({
      name: `an invisible signature where the signed field asks for a lock of ${lock}`,
      permitted: FORMS,
      signature: { lock },
      make: (signed, signer) => signForm(signed, { signer }),
    }),
  ),
  {
    name: "an invisible signature on no page",
    permitted: FORMS,
    make: (signed, signer) => signForm(signed, { signer, offPage: true }),
  },
  {
    name: "an invisible signature with an empty appearance",
    permitted: FORMS,
    make: (signed, signer) =>
      signForm(signed, {
        signer,
        fieldEntries: " /AP << /N 80 0 R >>",
        objects: [[80, formXObject("% DSBlank\nq Q")]],
      }),
  },
  {
    name: "an invisible signature with a lock",
    permitted: FORMS,
    make: (signed, signer) =>
      signForm(signed, {
        signer,
        lock: "/Action /Include /Fields [(Name)]",
        fieldMdp: "/Action /Include /Fields [(Name)]",
      }),
  },
  {
    name: "a visible signature in an empty field",
    permitted: FORMS,
    make: (signed, signer) => {
      const withAppearance =
        `${bodyOf(signed, OBJECT.empty).replace(/ >>$/, "")} /AP << /N 80 0 R >> /F 132 >>`.replace("/F 4 ", "");
      return signForm(signed.replace(bodyOf(signed, OBJECT.empty), bodyOf(signed, OBJECT.empty)), {
        signer,
        field: OBJECT.empty,
        objects: [
          [80, formXObject("BT (Bob) Tj ET")],
          [OBJECT.empty, withAppearance.replace(/ >>$/, ` /V ${sizeOf(signed)} 0 R >>`)],
        ],
      });
    },
  },
  {
    name: "a visible signature in a new field",
    permitted: [3, "approval"],
    make: (signed, signer) =>
      signForm(signed, {
        signer,
        rect: "300 40 500 90",
        fieldEntries: " /AP << /N 80 0 R >>",
        objects: [[80, formXObject("BT (Bob) Tj ET")]],
      }),
  },
  {
    name: "an invisible signature, then another",
    permitted: FORMS,
    make: (signed, signer) => signForm(signForm(signed, { signer }), { signer }),
  },
  update("a signature field whose widget is its kid", FORMS, (signed) => {
    const number = sizeOf(signed);
    return [
      [number, `<< /FT /Sig /T (Later) /Kids [${number + 1} 0 R] >>`],
      [number + 1, `<< /Type /Annot /Subtype /Widget /Rect [0 0 0 0] /F 132 /P 10 0 R /Parent ${number} 0 R >>`],
      added(signed, OBJECT.fields, `${number} 0 R`),
      added(signed, OBJECT.annots, `${number + 1} 0 R`),
    ];
  }),
  update("a signature field and an order of tabs", FORMS, (signed) => [
    [sizeOf(signed), `<< ${INVISIBLE} >>`],
    added(signed, OBJECT.fields, `${sizeOf(signed)} 0 R`),
    added(signed, OBJECT.annots, `${sizeOf(signed)} 0 R`),
    edited(signed, OBJECT.page, / >>$/, " /Tabs /S >>"),
  ]),
  update("a signature field and its tag", FORMS, (signed) => {
    const number = sizeOf(signed);
    return [
      [number, `<< ${INVISIBLE} /StructParent 6 >>`],
      [number + 1, `<< /Type /StructElem /S /Form /P 41 0 R /Pg 10 0 R /K << /Type /OBJR /Obj ${number} 0 R >> >>`],
      added(signed, OBJECT.fields, `${number} 0 R`),
      added(signed, OBJECT.annots, `${number} 0 R`),
      edited(signed, OBJECT.elements, "/K [42 0 R]", `/K [42 0 R ${number + 1} 0 R]`),
      edited(signed, OBJECT.parentTree, "5 [41 0 R]", `5 [41 0 R] 6 ${number + 1} 0 R`),
      edited(signed, OBJECT.structure, "/ParentTreeNextKey 6", "/ParentTreeNextKey 7"),
    ];
  }),
  {
    name: "a document time stamp",
    permitted: ALL,
    make: (signed, signer, contents) => signForm(signed, { signer, documentTimeStamp: true, contents }),
  },
  {
    name: "a security store, then a document time stamp",
    permitted: ALL,
    make: (signed, signer, contents) => signForm(withStore(signed), { signer, documentTimeStamp: true, contents }),
  },
];
