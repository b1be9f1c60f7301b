import type { NewObject } from "../../../seal/signed-pdf.ts";
import { testSigner } from "../../../signer.ts";
import { edited, type FormSignature, formXObject, OBJECT, signForm } from "../document.ts";
import { ALL, type Attack, update } from "./attack.ts";
import { newField } from "./fields.ts";

const lockedField = (
  name: string,
  signature: Partial<FormSignature>,
  objects: (signed: string) => readonly NewObject[],
): Attack => update(name, objects, { signature, forbidden: [2, 3, "approval"] });
const otherAmount = (signed: string) => [edited(signed, OBJECT.amount, "(100)", "(900)")];
const lockAmount = "/Action /Include /Fields [(Amount)]";

export const locks: readonly Attack[] = [
  lockedField("a field that is locked by name, filled", { fieldMdp: lockAmount }, otherAmount),
  lockedField("a field that is locked with all, filled", { fieldMdp: "/Action /All" }, otherAmount),
  lockedField(
    "a field that is not excluded from a lock, filled",
    { fieldMdp: "/Action /Exclude /Fields [(Name)]" },
    otherAmount,
  ),
  lockedField("a field that /Lock alone locks, filled", { lock: lockAmount }, otherAmount),
  lockedField("a field that /Lock alone locks with all, filled", { lock: "/Action /All" }, otherAmount),
  lockedField("the appearance of a locked field, replaced", { fieldMdp: lockAmount }, (signed) => [
    edited(signed, OBJECT.amount, "/N 30 0 R", "/N 44 0 R"),
  ]),
  lockedField("the appearance of a locked field, rewritten", { fieldMdp: lockAmount }, () => [
    [OBJECT.amountAppearance, formXObject("(900) Tj")],
  ]),
  lockedField("a locked group's button, set", { fieldMdp: "/Action /Include /Fields [(Group)]" }, (signed) => [
    edited(signed, OBJECT.group, "/V /Off", "/V /One"),
    edited(signed, OBJECT.first, "/AS /Off", "/AS /One"),
  ]),
  lockedField("a locked group's button, shown as set", { fieldMdp: "/Action /Include /Fields [(Group)]" }, (signed) => [
    edited(signed, OBJECT.first, "/AS /Off", "/AS /One"),
  ]),
  lockedField("a field under a locked lock without an action", { fieldMdp: "/Fields [(Name)]" }, otherAmount),
  lockedField(
    "any field under a lock that forbids all",
    { lock: "/Action /Include /Fields [(Name)] /P 1" },
    otherAmount,
  ),
  lockedField("a lock removed from the signature's field", { lock: lockAmount }, (signed) => [
    edited(signed, 46, / \/Lock << .*? >>/, ""),
  ]),
  {
    name: "an invisible signature under a signed lock of all",
    signature: { fieldMdp: "/Action /All" },
    forbidden: ALL,
    make: (signed) => signForm(signed, { signer: testSigner("stranger"), reserve: 1500 }),
  },
  lockedField(
    "a new text field under a lock of all",
    { fieldMdp: "/Action /All" },
    newField("/FT /Tx /T (Sneaky) /V (1)"),
  ),
];
