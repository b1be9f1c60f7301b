import { OBJECT, stream } from "../../../../../../packages/evidence/test/pdf/changes/document.ts";
import { accepted, type ChangeRule, edit, field, grown, refused } from "./change-rules.ts";
import { INVISIBLE, newFields } from "./signature-rules.ts";

const DR = "/DR << /Font << /Helv 6 0 R >> >>";
const form = (more: string): string => `<< /Fields 15 0 R /SigFlags 3 /DA (/Helv 0 Tf 0 g) ${more} >>`;
const catalog = (more: string): string => `<< /Type /Catalog /Pages 2 0 R /AcroForm 3 0 R ${more} >>`;

const forms: readonly ChangeRule[] = [
  refused("a form that becomes an array", [[OBJECT.form, "[]"]]),
  refused("a form that was a stream", [[OBJECT.form, "<< /DA (x) >>"]], {
    prepared: { form: stream("", "/DA (/Helv 0 Tf 0 g)") },
  }),
  refused("a list of fields that becomes a dictionary", [[OBJECT.fields, "<< >>"]]),
  refused("a list of fields that was a dictionary", [[OBJECT.fields, "[]"]], { prepared: { fields: "<< >>" } }),
  refused("the form's fields in another order", edit("fields", "20 0 R 21 0 R", "21 0 R 20 0 R")),
  refused("a field less in the form", edit("fields", "20 0 R 21 0 R", "20 0 R")),
  refused("a field twice in the form", edit("fields", "20 0 R", "20 0 R 20 0 R")),
  refused("a direct field in the form", edit("fields", "20 0 R", "20 0 R << /FT /Tx /T (x) >>")),
  refused("a field more in a form with a direct one", edit("fields", "null", "null 21 0 R"), {
    prepared: { fields: "[20 0 R null]" },
  }),
  accepted(
    "a signature field more in a form with a direct one",
    (signed) => newFields(signed, INVISIBLE, [], [OBJECT.fields]),
    {
      prepared: { fields: "[20 0 R null 21 0 R 22 0 R 23 0 R 25 0 R]" },
    },
  ),
  refused("a signature flag less", edit("form", "/SigFlags 3", "/SigFlags 1")),
  refused("signature flags that are elsewhere", grown("form", "/SigFlags 44 0 R"), {
    prepared: { orphan: "3", form: form(DR).replace("/SigFlags 3 ", "") },
  }),
  accepted("a signature flag more", edit("form", "/SigFlags 1", "/SigFlags 3"), {
    prepared: { form: form(DR).replace("/SigFlags 3", "/SigFlags 1") },
    permission: 1,
  }),
  refused("resources that become an array", edit("form", DR, "/DR []")),
  refused("resources that were an array", edit("form", "/DR []", DR), { prepared: { form: form("/DR []") } }),
  refused("names of resources that were none", edit("form", "/Font /X", "/Font << >>"), {
    prepared: { form: form("/DR << /Font /X >>") },
  }),
  refused("names of resources removed", edit("form", "/Font << /Helv 6 0 R >>", "")),
  refused("a name of resources that is another's", edit("form", "/Helv 6 0 R", "/Helv 44 0 R")),
  accepted("resources where there were none", grown("form", DR), { prepared: { form: form("") } }),
  refused("a key of the form that is not known", grown("form", "/Odd 7")),
];

const pages: readonly ChangeRule[] = [
  refused("the order of tabs of a node of pages", grown("pages", "/Tabs /S")),
  refused("a page that becomes an array", [[OBJECT.secondPage, "[]"]]),
  refused("a page that was an array", [[OBJECT.orphan, "<< /Type /Page /Parent 2 0 R >>"]], {
    prepared: { kids: "[10 0 R 11 0 R 44 0 R]", orphan: "[]" },
  }),
  accepted("an order of tabs", grown("page", "/Tabs /S")),
  refused("an order of tabs that is no name", grown("page", "/Tabs (S)")),
  refused("an order of tabs removed", edit("page", "/Tabs /S", ""), {
    prepared: {
      page: "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources 17 0 R /Contents 9 0 R /Annots 16 0 R /Tabs /S >>",
    },
  }),
  refused("another name in a page", grown("page", "/Odd /S")),
  refused("annotations that become a dictionary", [[OBJECT.annots, "<< >>"]]),
  refused("annotations that were a dictionary", [[OBJECT.annots, "[]"]], { prepared: { annots: "<< >>" } }),
  refused("annotations in another order", edit("annots", "24 0 R 26 0 R", "26 0 R 24 0 R")),
  refused("a widget that no form knows, rewritten", edit("orphan", "(x)", "(y)"), {
    prepared: {
      annots: "[20 0 R 21 0 R 22 0 R 23 0 R 24 0 R 26 0 R 27 0 R 44 0 R]",
      orphan: field("Other", "/V (x) "),
    },
  }),
];

const VRI = "0123456789ABCDEF0123456789ABCDEF01234567";
const STORED = { orphan: "<< >>", catalog: catalog("/DSS 44 0 R") };
const store = (
  name: string,
  body: string,
  make = refused,
  prepared: Partial<Record<keyof typeof OBJECT, string>> = {},
): ChangeRule =>
  make(
    name,
    [
      [OBJECT.orphan, body],
      [80, stream("x")],
    ],
    { prepared: { ...STORED, ...prepared }, ...(make === accepted && { permission: 1 }) },
  );
const record = (name: string, entries: string, make = refused): ChangeRule =>
  store(`a record with ${name}`, `<< /VRI << /${VRI} << ${entries} >> >> >>`, make);

const stores: readonly ChangeRule[] = [
  store("a store that was an array", "<< >>", refused, { orphan: "[]" }),
  store("a store that becomes an array", "[]"),
  store("a store with its type", "<< /Type /DSS >>", accepted),
  store("a store of another type", "<< /Type /X >>"),
  store("a store whose type is a text", "<< /Type (DSS) >>"),
  store("a store with another key", "<< /X [80 0 R] >>"),
  store("a store's list that is a dictionary", "<< /Certs << >> >>"),
  store("a store's list of numbers", "<< /Certs [7] >>"),
  store("a store's list of what is no stream", "<< /Certs [10 0 R] >>"),
  store("a store's list", "<< /Certs [80 0 R] >>", accepted),
  store("a store's list removed", "<< >>", accepted, { orphan: "<< /Certs [] >>" }),
  store("records that were a name", "<< /VRI << >> >>", refused, { orphan: "<< /VRI /X >>" }),
  store("records removed", "<< >>", refused, { orphan: "<< /VRI << >> >>" }),
  store("a record under another key", "<< /VRI << /X << >> >> >>"),
  store("a record under 41 digits", `<< /VRI << /${VRI}0 << >> >> >>`),
  store("a record that is a number", `<< /VRI << /${VRI} 7 >> >>`),
  store("a record changed", `<< /VRI << /${VRI} << /TU (x) >> >> >>`, refused, {
    orphan: `<< /VRI << /${VRI} << >> >> >>`,
  }),
  record("lists and more", "/Cert [80 0 R] /CRL [] /OCSP [] /TS 80 0 R /TU (x) /Type /VRI", accepted),
  record("a list that is a dictionary", "/Cert << >>"),
  record("a list of numbers", "/Cert [7]"),
  record("a time stamp that is no stream", "/TS 10 0 R"),
  record("a time that is a name", "/TU /X"),
  record("a type that is a text", "/Type (VRI)"),
  record("another text", "/X (x)"),
  record("another name", "/X /Y"),
];

export const formRules: readonly ChangeRule[] = [...forms, ...pages, ...stores];
