import { OBJECT, stream } from "../../../../../../packages/evidence/test/pdf/changes/document.ts";
import { appendRevision, bodyOf } from "../../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { accepted, type ChangeRule, edit, grown, type RuleOptions, refused, sizeOf } from "./change-rules.ts";

const P3 = { permission: 3 } as const;
const NOTE = "<< /Type /OBJR /Obj 24 0 R >>";
const element = (kids: string, more = ""): string => `<< /Type /StructElem /S /Annot /P 41 0 R ${more}/K ${kids} >>`;
const elements = (kids: string): string => `<< /Type /StructElem /S /Document /P 40 0 R /K ${kids} >>`;
const root = (more: string): string => `<< /Type /StructTreeRoot ${more} >>`;
/** Adds a kid to the document's element. NEW stands for a reference to the new object `body`. */
const gains = (name: string, kid: string, body: string | null, make = refused, options: RuleOptions = {}): ChangeRule =>
  make(
    `the tags gain ${name}`,
    (signed) => [
      [OBJECT.elements, elements(`[42 0 R ${kid}]`.replaceAll("NEW", `${sizeOf(signed)} 0 R`))],
      ...(body === null ? [] : [[sizeOf(signed), body] as const]),
    ],
    { ...(make === accepted && P3), ...options },
  );
const tree = (nums: string, more = ""): string => `<< /Nums ${nums} ${more}>>`;
const NUMS = "[1 42 0 R 5 [41 0 R]]";
const LIMITED = { prepared: { parentTree: tree(NUMS, "/Limits [1 5] ") } };
const NODES = { prepared: { parentTree: "<< /Kids [44 0 R] >>", orphan: tree(NUMS, "/Limits [1 5] ") } };
/** Adds a node to the parent tree. NEW stands for a reference to the new object `body`. */
const node = (name: string, kid: string, body: string | null, make = refused, options: RuleOptions = {}): ChangeRule =>
  make(
    `the parent tree gains ${name}`,
    (signed) => [
      [OBJECT.parentTree, `<< /Kids [44 0 R ${kid.replace("NEW", `${sizeOf(signed)} 0 R`)}] >>`],
      ...(body === null ? [] : [[sizeOf(signed), body] as const]),
    ],
    { ...NODES, ...(make === accepted && P3), ...options },
  );
const FRESH = "<< /Nums [6 << /Type /OBJR /Obj 24 0 R >>] /Limits [6 6] >>";

export const tagRules: readonly ChangeRule[] = [
  accepted(
    "the root of the tags gains an element",
    (signed) => [
      [OBJECT.structure, bodyOf(signed, OBJECT.structure).replace("[41 0 R]", `[41 0 R ${sizeOf(signed)} 0 R]`)],
      [sizeOf(signed), element(NOTE)],
    ],
    { ...P3, prepared: { structure: root("/K [41 0 R] /ParentTree 43 0 R") } },
  ),
  accepted("the root's direct parent tree gains a number", edit("structure", "[41 0 R]]", `[41 0 R] 6 ${NOTE}]`), {
    ...P3,
    prepared: { structure: root(`/K 41 0 R /ParentTree ${tree(NUMS)}`) },
  }),
  refused("the root of the tags becomes an array", [[OBJECT.structure, "[]"]]),
  refused("the root of the tags was an array", [[OBJECT.structure, root("")]], { prepared: { structure: "[]" } }),
  accepted("another next key", edit("structure", "/ParentTreeNextKey 6", "/ParentTreeNextKey 7")),
  refused("a next key that is a text", edit("structure", "/ParentTreeNextKey 6", "/ParentTreeNextKey (7)")),
  refused("another number in the root of the tags", grown("structure", "/Odd 7")),
  refused("a tag that becomes a stream", [[OBJECT.orphan, stream("", "/Type /OBJR /Obj 24 0 R")]], {
    prepared: { elements: elements("44 0 R"), orphan: NOTE },
  }),
  refused("a tag that was a stream", [[OBJECT.orphan, NOTE]], {
    prepared: { elements: elements("44 0 R"), orphan: stream("", "/Type /OBJR /Obj 24 0 R") },
  }),
  accepted("a reference to an annotation becomes a list", [[OBJECT.orphan, `[${NOTE}]`]], {
    ...P3,
    prepared: { elements: elements("44 0 R"), orphan: NOTE },
  }),
  accepted("a list of references becomes one", [[OBJECT.orphan, NOTE]], {
    ...P3,
    prepared: { elements: elements("44 0 R"), orphan: `[${NOTE} 42 0 R]`.replace(" 42 0 R", "") },
  }),
  accepted(
    "a reference to a note becomes one to another",
    [[OBJECT.orphan, "<< /Type /OBJR /Obj 24 0 R /Pg 10 0 R >>"]],
    {
      ...P3,
      prepared: { elements: elements("44 0 R"), orphan: NOTE },
    },
  ),
  refused("an element that becomes an array", [[OBJECT.elements, "[]"]]),
  refused("an element of another kind", edit("elements", "/Document", "/Sect")),
  gains("an element of a note", "NEW", element(NOTE), accepted),
  gains("an element that was there", "44 0 R", null, refused, { prepared: { orphan: element(NOTE) } }),
  gains("a number", "7", null),
  gains("an array", "NEW", "[]"),
  gains("an element of a field", "NEW", element("<< /Type /OBJR /Obj 21 0 R >>")),
  gains("a reference to nothing", "NEW", element("<< /Type /OBJR >>")),
  gains("an element with another key", "NEW", element(NOTE, "/ActualText (x) ")),
  gains("an element twice", "42 0 R", null),
  refused("the tags in another order", edit("elements", "[42 0 R 44 0 R]", "[44 0 R 42 0 R]"), {
    prepared: { elements: elements("[42 0 R 44 0 R]"), orphan: element(NOTE) },
  }),
  refused("a tag of content removed", edit("elements", "[42 0 R 44 0 R]", "[42 0 R]"), {
    prepared: { elements: elements("[42 0 R 44 0 R]"), orphan: element("7") },
  }),
  accepted("a tag of a note removed", edit("elements", "[42 0 R 44 0 R]", "[42 0 R]"), {
    ...P3,
    prepared: { elements: elements("[42 0 R 44 0 R]"), orphan: element(NOTE) },
  }),
  accepted("other limits of a parent tree", edit("parentTree", "[1 5]", "[1 9]"), LIMITED),
  refused("limits that are a name", edit("parentTree", "[1 5]", "/X"), LIMITED),
  refused("limits of three numbers", edit("parentTree", "[1 5]", "[1 5 9]"), LIMITED),
  refused("limits of names", edit("parentTree", "[1 5]", "[/A /B]"), LIMITED),
  refused("limits removed", edit("parentTree", "/Limits [1 5]", ""), LIMITED),
  refused("numbers that become a dictionary", edit("parentTree", NUMS, "<< >>")),
  refused("numbers that were a name", edit("parentTree", "/X", "[6 << /Type /OBJR /Obj 24 0 R >>]"), {
    prepared: { parentTree: tree("/X") },
  }),
  refused("another key of a parent tree", grown("parentTree", "/Odd 7")),
  refused("a number's tag replaced", edit("parentTree", "1 42 0 R", "1 41 0 R")),
  refused("a number without a tag", edit("parentTree", "[41 0 R]]", "[41 0 R] 7]")),
  refused("a tag under a text", edit("parentTree", "[41 0 R]]", `[41 0 R] (x) ${NOTE}]`)),
  refused("a number removed", edit("parentTree", "1 42 0 R ", "")),
  accepted("a number of a note's tag", edit("parentTree", "[41 0 R]]", `[41 0 R] 6 ${NOTE}]`), P3),
  node("a node", "NEW", FRESH, accepted),
  node("a direct node", FRESH, null),
  node("a node with another key", "NEW", FRESH.replace("/Limits", "/Odd 7 /Limits")),
  node("a node without limits", "NEW", FRESH.replace("/Limits [6 6]", "")),
  node("a node whose numbers lack a tag", "NEW", FRESH.replace("[6 <<", "[7 6 <<")),
  node("a node that was there", "39 0 R", null, refused, {
    prepared: NODES.prepared,
    preparedRevision: (pdf) => appendRevision(pdf, [[39, FRESH]], " /Info 13 0 R"),
  }),
];
