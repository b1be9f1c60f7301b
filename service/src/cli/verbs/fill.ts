import { maxUploadBytes } from "../../kernel/http/uploads/multipart.ts";
import { inlineWorkers } from "../../kernel/platform/workers/inline.ts";
import { addFill, pagesOf } from "../../orders/order/order.ts";
import { loadPricingFiles } from "../../orders/pricing/pricing.ts";
import { defineVerb, lines, readInput, UsageError, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

export const fillVerbs: Verb[] = [
  defineVerb({
    name: "fill add",
    args: ["FILE"],
    options: { slug: { type: "string", help: "The kind of document, as the catalog names it." } },
    summary: "Stores a completed PDF and prints the fill token that one order may use.",
    async run([file = ""], values) {
      const bytes = await readInput(file);
      const slug = values.slug ?? null;
      return withResources(async (resources) => {
        const { catalog } = loadPricingFiles(resources.config.priceFiles);
        if (slug !== null && !catalog.content.some((row) => row.slug === slug))
          throw new UsageError(`--slug must name a document in the catalog; ${slug} is not there`);
        const originals = { pagesOf: (holder: string, read: Buffer) => pagesOf(inlineWorkers, holder, read) };
        const added = await addFill({ ...resources, originals }, bytes, {
          slug,
          maxBytes: maxUploadBytes,
        });
        return { json: added, text: lines(added) };
      });
    },
  }),
];
