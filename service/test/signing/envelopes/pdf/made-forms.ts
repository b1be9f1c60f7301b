import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { appendRevision, bodyOf } from "../../../../../packages/evidence/test/seal/signed-pdf.ts";

/** An empty signature field. */
type Asked = { name: string; rect?: string; flags?: number; more?: string };

/** A page of US Letter with empty signature fields. */
export function formWith(fields: readonly Asked[], pageEntries = ""): Buffer {
  const bare = makePdf().toString("latin1");
  const first = 20;
  const refs = fields.map((_, index) => `${first + index} 0 R`).join(" ");
  const objects = fields.map(({ name, rect = "100 100 300 150", flags = 4, more = "" }, index): [number, string] => [
    first + index,
    `<< /Type /Annot /Subtype /Widget /FT /Sig /T (${name}) /F ${flags} /Rect [${rect}] /P 5 0 R ${more} >>`,
  ]);
  const page = bodyOf(bare, 5).replace(/ >>$/, ` /Annots [${refs}] ${pageEntries} >>`);
  const catalog = bodyOf(bare, 1).replace(/ >>$/, ` /AcroForm << /Fields [${refs}] >> >>`);
  return Buffer.from(appendRevision(bare, [[5, page], [1, catalog], ...objects]), "latin1");
}

const stream = (data: string, box: string, more = "") =>
  `<< /Type /XObject /Subtype /Form /BBox [${box}]${more} /Length ${data.length} >>\nstream\n${data}\nendstream`;
const words = (text: string) =>
  stream(
    `/Tx BMC q BT /Helv 10 Tf 2 4 Td (${text}) Tj ET Q EMC`,
    "0 0 150 20",
    " /Resources << /Font << /Helv 3 0 R >> >>",
  );

/**
 * A page with fields that the form's author has drawn: a text and a choice with one drawing each, a box and two radio
 * buttons with states, and a field in a group. It also has a text without a drawing, a field with two widgets, a push
 * button, and an empty signature field. Object numbers: 20 the text `fullname`, 22 the box `check`, 23 the choice, 25
 * `group.kid`.
 */
export function openForm(): Buffer {
  const bare = makePdf().toString("latin1");
  let top = 700;
  const widget = (more: string) => {
    top -= 30;
    return `<< /Type /Annot /Subtype /Widget /F 4 /P 5 0 R /Rect [72 ${top} 222 ${top + 20}] ${more} >>`;
  };
  const typed = "/DA (/Helv 10 Tf 0 g)";
  const states = (on: string) => `/AP << /N << /${on} 45 0 R /Off 46 0 R >> >>`;
  const objects: [number, string][] = [
    [40, words("open")],
    [41, words("A")],
    [42, words("kid")],
    [43, words("first")],
    [44, words("second")],
    [45, stream("0 0 10 10 re f", "0 0 10 10")],
    [46, stream("", "0 0 10 10")],
    [47, words("Push")],
    [20, widget(`/FT /Tx /T (fullname) /V (open) ${typed} /AP << /N 40 0 R >>`)],
    [21, widget(`/FT /Tx /T (undrawn) ${typed}`)],
    [22, widget(`/FT /Btn /T (check) /V /Off /AS /Off ${states("On")}`)],
    [23, widget(`/FT /Ch /Ff 131072 /T (choice) /V (A) /Opt [(A) (B)] ${typed} /AP << /N 41 0 R >>`)],
    [24, "<< /FT /Tx /T (group) /Kids [25 0 R] >>"],
    [25, widget(`/Parent 24 0 R /T (kid) /V (kid) ${typed} /AP << /N 42 0 R >>`)],
    [26, `<< /FT /Tx /T (twice) /V (two) ${typed} /Kids [27 0 R 28 0 R] >>`],
    [27, widget("/Parent 26 0 R /AP << /N 43 0 R >>")],
    [28, widget("/Parent 26 0 R /AP << /N 44 0 R >>")],
    [29, "<< /FT /Btn /Ff 49152 /T (radio) /V /a /Kids [30 0 R 31 0 R] >>"],
    [30, widget(`/Parent 29 0 R /AS /a ${states("a")}`)],
    [31, widget(`/Parent 29 0 R /AS /Off ${states("b")}`)],
    [32, widget("/FT /Btn /Ff 65536 /T (push) /AP << /N 47 0 R >>")],
    [33, widget("/FT /Sig /T (empty)")],
  ];
  const listed = (numbers: readonly number[]) => numbers.map((number) => `${number} 0 R`).join(" ");
  const annots = listed([20, 21, 22, 23, 25, 27, 28, 30, 31, 32, 33]);
  const page = bodyOf(bare, 5).replace(/ >>$/, ` /Annots [${annots}] >>`);
  const form = `<< /Fields [${listed([20, 21, 22, 23, 24, 26, 29, 32, 33])}] ${typed} /DR << /Font << /Helv 3 0 R >> >> >>`;
  const catalog = bodyOf(bare, 1).replace(/ >>$/, ` /AcroForm ${form} >>`);
  return Buffer.from(appendRevision(bare, [[5, page], [1, catalog], ...objects]), "latin1");
}

/** The places of the fields of `emptyForm`, in points from the upper left corner of the page. */
export const placesOfEmpty = {
  "Buyer Name": 82,
  agreed: 112,
  color: 142,
  "seller.name": 172,
  signature: 202,
  fixed: 232,
  prefilled: 262,
  twice: 292,
  secret: 322,
  inherits: 352,
  double: 382,
} as const;

/**
 * A page with empty fields that a signer may fill, each with its author's own entries. After them come fields that no
 * signer may fill: a read-only one, one with a value, one with two widgets, a password field, and one with an inherited
 * value.
 * @param double the name of the last field, which is empty; a test may give it the name of an earlier field
 */
export function emptyForm(double = "double"): Buffer {
  const bare = makePdf().toString("latin1");
  const typed = "/DA (/Helv 10 Tf 1 0 0 rg)";
  const widget = (y: number, more: string) =>
    `<< /Type /Annot /Subtype /Widget /F 4 /P 5 0 R /Rect [72 ${792 - y - 20} 222 ${792 - y}] ${more} >>`;
  const at = (name: keyof typeof placesOfEmpty, more: string) => widget(placesOfEmpty[name], more);
  const script = "/AA << /K << /S /JavaScript /JS (event.rc = false) >> >>";
  const objects: [number, string][] = [
    [
      20,
      at(
        "Buyer Name",
        `/FT /Tx /T (Buyer Name) /V () /DV (nobody) /MaxLen 4 /Q 2 /MK << /BC [1 0 0] >> ${script} ${typed}`,
      ),
    ],
    [21, at("agreed", "/FT /Btn /T (agreed) /V /Off /AS /Off /AP << /N << /Yes 46 0 R /Off 46 0 R >> >>")],
    [22, at("color", `/FT /Ch /Ff 131072 /T (color) /Opt [(A) (B)] /I [0] ${typed}`)],
    [23, "<< /T (seller) /TU (The seller) /Kids [24 0 R] >>"],
    [24, at("seller.name", `/Parent 23 0 R /FT /Tx /Ff 4096 /T (name) ${typed}`)],
    [25, at("signature", "/FT /Sig /T (signature)")],
    [26, at("fixed", `/FT /Tx /Ff 1 /T (fixed) ${typed}`)],
    [27, at("prefilled", `/FT /Tx /T (prefilled) /V (by the author) ${typed}`)],
    [28, `<< /FT /Tx /T (twice) ${typed} /Kids [29 0 R 30 0 R] >>`],
    [29, at("twice", "/Parent 28 0 R")],
    [30, widget(500, "/Parent 28 0 R")],
    [31, at("secret", `/FT /Tx /Ff 8192 /T (secret) ${typed}`)],
    [32, "<< /T (parent) /V (from above) /Kids [33 0 R] >>"],
    [33, at("inherits", `/Parent 32 0 R /FT /Tx /T (inherits) ${typed}`)],
    [34, at("double", `/FT /Tx /T (${double}) ${typed}`)],
    [46, stream("", "0 0 10 10")],
  ];
  const listed = (numbers: readonly number[]) => numbers.map((number) => `${number} 0 R`).join(" ");
  const page = bodyOf(bare, 5).replace(
    / >>$/,
    ` /Annots [${listed([20, 21, 22, 24, 25, 26, 27, 29, 30, 31, 33, 34])}] >>`,
  );
  const fields = listed([20, 21, 22, 23, 25, 26, 27, 28, 31, 32, 34]);
  const form = `<< /Fields [${fields}] /CO [20 0 R] /DR << /Font << /Helv 3 0 R >> >> >>`;
  const catalog = bodyOf(bare, 1).replace(/ >>$/, ` /AcroForm ${form} >>`);
  return Buffer.from(appendRevision(bare, [[5, page], [1, catalog], ...objects]), "latin1");
}
