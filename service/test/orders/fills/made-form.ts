import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { appendRevision, bodyOf } from "../../../../packages/evidence/test/seal/signed-pdf.ts";

/** A field of a form: its dictionary without its position. `kids` are the widgets of radio buttons. */
export type MadeField = {
  entries: string;
  rect?: string;
  kids?: readonly { entries: string; rect: string }[];
  /** The text that the field's appearance draws; absent for a field without an appearance. */
  drawn?: string;
  parent?: number;
};

type Recipe = {
  /** Content operators that follow the page's text. */
  content?: string;
  pages?: number;
  pageEntries?: string;
  formEntries?: string;
  text?: string;
};

/** A PDF with these fields on its first page, or on the page given by `page`. */
export function madeForm(fields: readonly (MadeField & { page?: number })[], recipe: Recipe = {}): Buffer {
  const { content = "", pages = 1, pageEntries = "", formEntries = "", text = "Form" } = recipe;
  const bare = makePdf({ content, pages, pageEntries, text }).toString("latin1");
  let next = 5 + 2 * pages + 5;
  const objects: [number, string][] = [];
  const onPage = new Map<number, number[]>();
  const pageObject = (page = 1) => 5 + 2 * (page - 1);
  const widget = (rect: string, own: string, page?: number, drawn?: string): number => {
    const number = next++;
    const entries = drawn === undefined ? own : `${own} /AP << /N ${next} 0 R >>`;
    if (drawn !== undefined) objects.push([next++, appearance(drawn)]);
    objects.push([
      number,
      `<< /Type /Annot /Subtype /Widget /F 4 /P ${pageObject(page)} 0 R /Rect [${rect}] ${entries} >>`,
    ]);
    onPage.set(pageObject(page), [...(onPage.get(pageObject(page)) ?? []), number]);
    return number;
  };
  const roots = fields.map(({ entries, rect, kids, page, drawn }) => {
    if (!kids) return widget(rect ?? "72 600 272 620", entries, page, drawn);
    const parent = next++;
    const refs = kids.map((kid) => widget(kid.rect, `/Parent ${parent} 0 R ${kid.entries}`, page));
    objects.push([parent, `<< ${entries} /Kids [${listed(refs)}] >>`]);
    return parent;
  });
  const changed = [...onPage].map(([number, refs]): [number, string] => [
    number,
    bodyOf(bare, number).replace(/ >>$/, ` /Annots [${listed(refs)}] >>`),
  ]);
  const form = `<< /Fields [${listed(roots)}] /DA (/Helv 0 Tf 0 g) /DR << /Font << /Helv 3 0 R >> >> ${formEntries} >>`;
  const catalog = bodyOf(bare, 1).replace(/ >>$/, ` /AcroForm ${form} >>`);
  return Buffer.from(appendRevision(bare, [...changed, [1, catalog], ...objects]), "latin1");
}

function appearance(text: string): string {
  const content = `/Tx BMC BT /Helv 11 Tf 2 5 Td (${text}) Tj ET EMC`;
  const entries = "/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /Helv 3 0 R >> >>";
  return `<< ${entries} /Length ${content.length} >>\nstream\n${content}\nendstream`;
}

const listed = (numbers: readonly number[]) => numbers.map((number) => `${number} 0 R`).join(" ");
const said = (text: string, x: number, y: number) => `BT /F1 11 Tf ${x} ${y} Td (${text}) Tj ET`;

/** A form with a field of each kind. Some fields have labels, some have words next to them, and some have neither. */
export const everyKind = (): Buffer =>
  madeForm(
    [
      { entries: "/FT /Tx /T (buyer) /TU (Full name of the buyer) /Ff 2", rect: "200 640 400 660" },
      { entries: "/FT /Tx /T (f2) /Q 2 /V (Springfield)", rect: "200 610 400 630" },
      { entries: "/FT /Tx /T (notes) /TU (Remarks) /Ff 4096", rect: "72 500 300 580" },
      { entries: "/FT /Tx /T (zip) /TU (ZIP code) /Ff 16777216 /MaxLen 5", rect: "320 560 420 580" },
      { entries: "/FT /Btn /T (agree) /Ff 2", rect: "72 470 84 482" },
      {
        entries: "/FT /Btn /Ff 49152 /T (married) /TU (Married)",
        kids: [
          { entries: "/AS /Off", rect: "72 440 84 452" },
          { entries: "/AS /Off", rect: "172 440 184 452" },
        ],
      },
      {
        entries: "/FT /Ch /Ff 131072 /T (state) /TU (State) /Opt [[(CA) (California)] [(NV) (Nevada)]]",
        rect: "200 400 400 420",
      },
      { entries: "/FT /Ch /Ff 2097152 /T (pets) /TU (Pets) /Opt [(Cat) (Dog) (Fish)]", rect: "200 330 400 390" },
      { entries: "/FT /Tx /T (Text 9)", rect: "200 280 400 300" },
      { entries: "/FT /Tx /T (office) /TU (Office use) /Ff 1 /V (kept)", rect: "200 250 400 270" },
      { entries: "/FT /Sig /T (sign)", rect: "200 200 400 240" },
    ],
    {
      content: [
        said("City:", 160, 614),
        said("I have read the terms", 90, 472),
        said("Yes", 90, 442),
        said("No", 190, 442),
      ].join("\n"),
      formEntries: "/NeedAppearances true",
    },
  );
