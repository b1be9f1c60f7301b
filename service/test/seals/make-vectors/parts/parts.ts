import { containers } from "./containers.ts";
import { envelopes } from "./envelopes.ts";
import { type Part, shortened } from "./part.ts";
import { paths } from "./paths.ts";
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
  ];
  return Buffer.from(`[\n${parts.map((part) => ` ${JSON.stringify(shortened(part))}`).join(",\n")}\n]\n`);
}
