import { makePdf } from "@signsealship/testing/inputs/pdf-maker";
import { appendRevision, bodyOf } from "../../../../packages/evidence/test/seal/signed-pdf.ts";

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
