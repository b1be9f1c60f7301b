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
 * A page with a field of each type that its author drew: text and choice with one drawing, boxes with states, a field
 * in a group, a field with two widgets, a button, and an empty signature field. Object numbers: 20 the text `fullname`,
 * 22 the box `check`, 23 the choice, 25 `group.kid`.
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
