import { edited, formXObject, OBJECT } from "../document.ts";
import { type Attack, update } from "./attack.ts";

const inField = (name: string, from: string | RegExp, to: string, more: Partial<Attack> = {}): Attack =>
  update(`a field with ${name}`, (signed) => [edited(signed, OBJECT.amount, from, to)], more);

export const fieldKeys: readonly Attack[] = [
  inField("another rectangle", "/Rect [72 600 272 620]", "/Rect [0 0 612 792]"),
  inField("another name", "(Amount)", "(Amounts)"),
  inField("another type", "/FT /Tx", "/FT /Btn"),
  inField("no type", "/FT /Tx ", ""),
  inField("no subtype", "/Subtype /Widget ", ""),
  inField("another subtype", "/Subtype /Widget", "/Subtype /FreeText"),
  inField("an action", / >>$/, " /A << /S /JavaScript /JS (1) >> >>"),
  inField("further actions", / >>$/, " /AA << /K << /S /JavaScript /JS (1) >> >> >>"),
  inField("a background", / >>$/, " /MK << /BG [1 1 1] >> >>"),
  inField("a border", / >>$/, " /BS << /W 90 >> >>"),
  inField("another parent", / >>$/, " /Parent 25 0 R >>"),
  inField("kids", / >>$/, " /Kids [21 0 R] >>"),
  inField("a default value", / >>$/, " /DV (1) >>"),
  inField("a length", / >>$/, " /MaxLen 1 >>"),
  inField("a tooltip", / >>$/, " /TU (x) >>"),
  inField("the hidden flag", "/F 4", "/F 6"),
  inField("the no-view flag", "/F 4", "/F 36"),
  inField("the flag for no zoom", "/F 4", "/F 12"),
  inField("the flag for no rotation", "/F 4", "/F 20"),
  inField("the password flag", / >>$/, " /Ff 8192 >>"),
  inField("a signature for its value", "/V (100)", "/V << /Type /Sig /ByteRange [0 1 2 3] /Contents <00> >>"),
  inField("the certification for its value", "/V (100)", "/V 45 0 R"),
  inField("an appearance twice", /\/AP << \/N 30 0 R >>/, "/AP << /N 30 0 R >> /AP << /N 44 0 R >>"),
  inField("a normal appearance twice", "/N 30 0 R", "/N 30 0 R /N 44 0 R"),
  inField("a stray key in its appearance", "/N 30 0 R", "/N 30 0 R /X 44 0 R"),
  inField("another structure parent", "/StructParent 1", "/StructParent 2"),
  inField("optional content", / >>$/, " /OC << /Type /OCG /Name (x) >> >>"),
  update("an appearance shared by two fields, rewritten", [[OBJECT.agreeOff, formXObject("1 0 0 rg 0 0 10 10 re f")]]),
  update("a checkbox's state, rewritten", [[OBJECT.agreeYes, formXObject("1 0 0 rg 0 0 10 10 re f")]]),
  update("another group of radio buttons", (signed) => [edited(signed, OBJECT.group, "49152", "0")]),
  update("a radio button moved", (signed) => [edited(signed, OBJECT.first, "[72 400 92 420]", "[0 0 612 792]")]),
  update("an empty signature field with an appearance and no signature", (signed) => [
    edited(signed, OBJECT.empty, / >>$/, " /AP << /N 44 0 R >> >>"),
  ]),
  update("an empty signature field signed by an object that was there", (signed) => [
    edited(signed, OBJECT.empty, / >>$/, " /V 45 0 R >>"),
  ]),
  update("a new appearance for the signature", (signed) => [edited(signed, 46, / >>$/, " /AP << /N 44 0 R >> >>")]),
  update("a new place for the signature", (signed) => [edited(signed, 46, "[0 0 0 0]", "[0 0 612 792]")]),
];
