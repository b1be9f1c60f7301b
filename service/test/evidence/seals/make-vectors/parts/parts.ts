import { formDocument } from "../../../../../../packages/evidence/test/pdf/changes/document.ts";
import { bytesOf } from "../../../../../../packages/evidence/test/seal/signed-pdf.ts";
import { attachments } from "./attachments.ts";
import { changeParts } from "./changes.ts";
import { containers } from "./containers.ts";
import { encryptedParts } from "./encrypted.ts";
import { envelopes } from "./envelopes.ts";
import { oddSections } from "./odd-sections.ts";
import { type Part, shortened } from "./part.ts";
import { paths } from "./paths.ts";
import { pdfParts } from "./pdf-files.ts";
import { signatures } from "./signatures.ts";
import { structures } from "./structures.ts";
import { texts } from "./texts.ts";

/** packages/evidence/vectors/parts/index.json: one line for each part. */
export function partsIndex(): Uint8Array {
  const parts: readonly Part[] = [
    ...structures(),
    ...texts(),
    ...signatures(),
    ...paths(),
    ...envelopes(),
    ...containers(),
    ...pdfParts(),
    ...oddSections,
    ...attachments,
    ...encryptedParts(),
    ...changeParts(),
  ];
  return Buffer.from(`[\n${parts.map((part) => ` ${JSON.stringify(shortened(part))}`).join(",\n")}\n]\n`);
}

/** packages/evidence/vectors/parts/form.pdf: the form that parts of the kind `changes` continue. */
export const partsForm = (): Uint8Array => bytesOf(formDocument());
