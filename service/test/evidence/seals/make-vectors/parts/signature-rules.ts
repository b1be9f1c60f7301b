import { added, formXObject, OBJECT } from "../../../../../../packages/evidence/test/pdf/changes/document.ts";
import { appendRevision, type NewObject } from "../../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { accepted, type ChangeRule, type RuleOptions, refused, sizeOf } from "./change-rules.ts";

export const INVISIBLE = "/Type /Annot /Subtype /Widget /FT /Sig /T (Later) /F 132 /Rect [0 0 0 0] /P 10 0 R";
const SHOWN = INVISIBLE.replace("[0 0 0 0]", "[10 10 90 90]");
/**
 * Adds a new field to the form and the page, then the objects in `more`. In `entries` and `more`, SELF stands for a
 * reference to the new field, and NEXT for a reference to the first object of `more`.
 */
export function newFields(
  signed: string,
  entries: string,
  more: readonly string[],
  lists: readonly number[] = [OBJECT.fields, OBJECT.annots],
): NewObject[] {
  const number = sizeOf(signed);
  const full = (text: string) => text.replaceAll("NEXT", `${number + 1} 0 R`).replaceAll("SELF", `${number} 0 R`);
  return [
    [number, entries.startsWith("[") ? entries : `<< ${full(entries)} >>`],
    ...more.map((body, index): NewObject => [number + 1 + index, full(body)]),
    ...lists.map((list) => added(signed, list, `${number} 0 R`)),
  ];
}
type Options = RuleOptions & {
  readonly more?: readonly string[];
  readonly lists?: readonly number[];
};
const fieldRule =
  (make: typeof refused) =>
  (name: string, entries: string, { more = [], lists, ...options }: Options = {}): ChangeRule =>
    make(`a new field: ${name}`, (signed) => newFields(signed, entries, more, lists), options);
const no = fieldRule(refused);
const yes = fieldRule(accepted);
const GROUP = "/FT /Sig /T (Later) /Kids [NEXT]";
const KID = "<< /Type /Annot /Subtype /Widget /Parent SELF /F 132 /Rect [0 0 0 0] /P 10 0 R >>";
const FORM_ALONE = { lists: [OBJECT.fields] };
const SIGNATURE = "<< /Type /Sig /Filter /X >>";
const STAMP = "<< /Type /DocTimeStamp /Filter /X /SubFilter /ETSI.RFC3161 >>";
const ALL = { signature: { fieldMdp: "/Action /All" } };

const newSignatures: readonly ChangeRule[] = [
  yes("empty", INVISIBLE),
  yes("with a value of null", `${INVISIBLE} /V null`),
  yes("without a rectangle", "/FT /Sig /T (Later)", FORM_ALONE),
  yes("with an empty /MK", `${INVISIBLE} /MK << >>`),
  no("that was there", INVISIBLE, {
    make: (signed) => appendRevision(signed, [added(signed, OBJECT.fields, "44 0 R")]),
    prepared: { orphan: `<< ${INVISIBLE} >>` },
  }),
  no("that is an array", "[]", FORM_ALONE),
  no("without a name", INVISIBLE.replace("/T (Later) ", "")),
  no("of an empty name", INVISIBLE.replace("Later", "")),
  no("of a name with a period", INVISIBLE.replace("Later", "La.ter")),
  no("of another kind", INVISIBLE.replace("/Sig", "/Tx")),
  no("of an existing name", INVISIBLE.replace("Later", "Name")),
  no("with another key", `${INVISIBLE} /AA << >>`),
  no("with a border", `${INVISIBLE} /BS << /W 1 >>`),
  no("with a caption", `${INVISIBLE} /MK << /CA (x) >>`),
  no("with an /MK that is a name", `${INVISIBLE} /MK /X`),
  no("with an appearance that paints", `${INVISIBLE} /AP << /N NEXT >>`, { more: [formXObject("0 0 9 9 re f")] }),
  no("with an appearance that has a second", `${INVISIBLE} /AP << /N NEXT /D NEXT >>`, { more: [formXObject("q Q")] }),
  no("with an appearance that is a name", `${INVISIBLE} /AP /X`),
  no("with an appearance that is no stream", `${INVISIBLE} /AP << /N NEXT >>`, { more: ["<< >>"] }),
  no("with an appearance that goes on behind its length", `${INVISIBLE} /AP << /N NEXT >>`, {
    more: [formXObject("q 0 0 9 9 re f").replace(/\/Length \d+/, "/Length 1")],
  }),
  no("with a rectangle of three numbers", INVISIBLE.replace("[0 0 0 0]", "[0 0 0]"), { permission: 2 }),
  no("that is no widget", INVISIBLE.replace("/Widget", "/Stamp"), FORM_ALONE),
  no("with a rectangle and without a subtype", "/FT /Sig /T (Later) /Rect [0 0 0 0]", FORM_ALONE),
  no("that shows, with another key", `${SHOWN} /AA << >>`),
  yes("that shows", SHOWN, { permission: "approval" }),
  no("that shows", SHOWN, { permission: 2 }),
  no("that shows a picture", `${SHOWN} /AP << /N NEXT >>`, {
    permission: "approval",
    more: [formXObject("0 0 9 9 re f")],
  }),
  no("that shows a picture and a value without contents", `${SHOWN} /V NEXT /AP << /N ${90} 0 R >>`, {
    permission: "approval",
    more: [SIGNATURE],
  }),
  no("with a direct value", `${INVISIBLE} /V ${SIGNATURE}`),
  no("with a value that was there", `${INVISIBLE} /V 44 0 R`, { prepared: { orphan: SIGNATURE } }),
  no("with a value that is an array", `${INVISIBLE} /V NEXT`, { more: ["[]"] }),
  yes("with a time stamp", `${INVISIBLE} /V NEXT`, { more: [STAMP], permission: 1 }),
  no("with a time stamp of another type", `${INVISIBLE} /V NEXT`, {
    more: [STAMP.replace("DocTimeStamp", "Sig")],
    permission: 1,
  }),
  no("with a time stamp of another filter", `${INVISIBLE} /V NEXT`, {
    more: [STAMP.replace("ETSI.", "")],
    permission: 1,
  }),
  no("with a time stamp, that shows", `${SHOWN} /V NEXT`, { more: [STAMP], permission: 1 }),
  yes("empty, behind a lock of all", INVISIBLE, ALL),
  yes("with a time stamp, behind a lock of all", `${INVISIBLE} /V NEXT`, { more: [STAMP], ...ALL }),
  no("with a signature, behind a lock of all", `${INVISIBLE} /V NEXT`, { more: [SIGNATURE], ...ALL }),
  yes("with a widget apart", GROUP, { ...FORM_ALONE, more: [KID] }),
  no("with a direct widget", GROUP.replace("NEXT", KID.replace("SELF", "10 0 R")), FORM_ALONE),
  no("with a widget that was there", GROUP.replace("NEXT", "44 0 R"), {
    ...FORM_ALONE,
    prepared: { orphan: KID.replace("/Parent SELF ", "") },
  }),
  no("with a widget that is an array", GROUP, { ...FORM_ALONE, more: ["[]"] }),
  no("with a kid of another subtype", GROUP, { ...FORM_ALONE, more: [KID.replace("/Widget", "/Stamp")] }),
  no("with a widget that has another key", GROUP, {
    ...FORM_ALONE,
    more: [KID.replace("/F 132", "/F 132 /BS << /W 1 >>")],
  }),
  no("with a widget that has a caption", GROUP, {
    ...FORM_ALONE,
    more: [KID.replace("/F 132", "/F 132 /MK << /CA (x) >>")],
  }),
  no("with a widget apart and a subtype", `${GROUP} /Subtype /Widget`, { ...FORM_ALONE, more: [KID] }),
  no("with a widget apart and another key", `${GROUP} /AA << >>`, { ...FORM_ALONE, more: [KID] }),
  no("with a widget apart that shows", GROUP, {
    ...FORM_ALONE,
    more: [KID.replace("[0 0 0 0]", "[0 0 9 9]")],
    permission: 2,
  }),
];

const EMPTY = "/Type /Annot /Subtype /Widget /FT /Sig /T (Countersign) /F 4 /P 10 0 R";
const filled = (
  name: string,
  make: typeof refused,
  value: string,
  body: string,
  before = body,
  options: RuleOptions = {},
) =>
  make(
    `an empty field filled: ${name}`,
    (signed) => [
      [OBJECT.empty, `<< ${body} ${value} >>`.replace("NEXT", `${sizeOf(signed)} 0 R`)],
      [sizeOf(signed), STAMP],
    ],
    {
      ...options,
      prepared: { empty: `<< ${before} >>`, ...options.prepared },
    },
  );
const UNSEEN = `${EMPTY} /Rect [0 0 0 0]`;
const filledFields: readonly ChangeRule[] = [
  filled("a time stamp", accepted, "/V NEXT", UNSEEN, UNSEEN, { permission: 1 }),
  filled("a time stamp that shows", refused, "/V NEXT", `${EMPTY} /Rect [0 0 9 9]`, `${EMPTY} /Rect [0 0 9 9]`, {
    permission: 1,
  }),
  filled("a time stamp, behind a lock of all", accepted, "/V NEXT", UNSEEN, UNSEEN, ALL),
  filled("a text", refused, "/V (x)", UNSEEN),
  filled("a direct signature", refused, "/V << /Type /Sig >>", UNSEEN),
  filled("with null that is removed", refused, "", UNSEEN, `${UNSEEN} /V null`),
  filled("with null that is replaced", accepted, "/V NEXT", UNSEEN, `${UNSEEN} /V null`),
  filled("which is not empty", refused, "/V NEXT", UNSEEN, `${UNSEEN} /V 44 0 R`, { prepared: { orphan: SIGNATURE } }),
  filled("with a new appearance state", refused, "/V NEXT /AS /On", UNSEEN),
];

export const signatureRules: readonly ChangeRule[] = [...newSignatures, ...filledFields];
