import { appendRevision, bodyOf, endOf, type NewObject } from "../../../seal/signed-pdf.ts";
import { edited, OBJECT } from "../document.ts";
import { appendStreams, freeing } from "../revisions.ts";
import { ALL, type Attack, evil, sizeOf, update } from "./attack.ts";

const signatureOf = (signed: string) => Number(/.*\/V (\d+) 0 R/s.exec(signed)?.[1]);
const withoutField = (signed: string): NewObject[] => [
  edited(signed, OBJECT.fields, / 46 0 R\]$/, "]"),
  edited(signed, OBJECT.annots, / 46 0 R\]$/, "]"),
];
const withoutPermissions = (signed: string): NewObject => [
  OBJECT.catalog,
  bodyOf(signed, 1).replace(/ \/Perms << .*? >>/, ""),
];

export const removals: readonly Attack[] = [
  update("the permissions removed", (signed) => [edited(signed, 1, / \/Perms << .*? >>/, "")], {
    forbidden: [1, 2, 3],
  }),
  update("the permissions empty", (signed) => [edited(signed, 1, /\/DocMDP \d+ 0 R /, "")], { forbidden: [1, 2, 3] }),
  update("the signature's field removed", withoutField),
  update("the signature's field and the permissions removed", (signed) => [
    ...withoutField(signed),
    withoutPermissions(signed),
  ]),
  update("the signature removed from its field", (signed) => [
    edited(signed, 46, / \/V \d+ 0 R/, ""),
    withoutPermissions(signed),
  ]),
  update("null for the signature", (signed) => [[signatureOf(signed), "null"]]),
  update("another signature in the field", (signed) => [
    [sizeOf(signed), "<< /Type /Sig /Filter /X /SubFilter /ETSI.CAdES.detached /Contents <00> /ByteRange [0 0 0 0] >>"],
    edited(signed, 46, /\/V \d+ 0 R/, `/V ${sizeOf(signed)} 0 R`),
  ]),
  update("the signature's dictionary changed", (signed) => [
    edited(signed, signatureOf(signed), "/Filter /Adobe.PPKLite", "/Filter /X /Name (Bob)"),
  ]),
  {
    name: "the signature removed, another in an object stream whose places seem to hold it",
    forbidden: ALL,
    make: (signed) => {
      const size = sizeOf(signed);
      const another = `<< /Type /Sig /Filter /X /Name (${"x".repeat(2 * signed.length)}) /ByteRange [0 1 2 3] >>`;
      const fields = edited(signed, OBJECT.fields, / 46 0 R\]$/, ` ${size} 0 R]`);
      const others = withoutField(signed).filter(([number]) => number !== OBJECT.fields);
      const objects = [fields, ...others, withoutPermissions(signed)] as const;
      const field: NewObject = [size, `<< /FT /Sig /T (Another) /V ${size + 1} 0 R >>`];
      return appendStreams(signed, [...objects, field], [[size + 1, another]]);
    },
  },
  {
    name: "the signature freed",
    forbidden: ALL,
    make: (signed) => freeing(signed, [signatureOf(signed), 46], [...withoutField(signed), withoutPermissions(signed)]),
  },
  {
    name: "the signed revision bypassed",
    forbidden: ALL,
    make: (signed, original) =>
      appendRevision(signed, [[OBJECT.content, evil]]).replace(
        /(.*)\/Prev \d+/s,
        `$1/Prev ${endOf(original).startxref}`,
      ),
  },
  {
    name: "the signed revision bypassed, nothing else",
    forbidden: ALL,
    make: (signed, original) =>
      appendRevision(signed, [[60, "null"]]).replace(/(.*)\/Prev \d+/s, `$1/Prev ${endOf(original).startxref}`),
  },
  {
    name: "the startxref of the original",
    forbidden: ALL,
    make: (signed, original) => `${signed}startxref\n${endOf(original).startxref}\n%%EOF\n`,
  },
];
