import { maxUploadBytes } from "../../kernel/http/uploads/multipart.ts";
import type { Environment } from "../../kernel/identity/identity.ts";
import { inlineWorkers } from "../../kernel/platform/workers/inline.ts";
import { addCatalogForm, endCatalogForm } from "../../orders/fills/fills.ts";
import { loadPricingFiles } from "../../orders/pricing/pricing.ts";
import { listCatalogForms } from "../../orders/templates/templates.ts";
import { defineVerb, lines, type Options, readInput, type ValuesOf, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const options = {
  test: { type: "boolean", help: "The form for test orders; without it, for live ones." },
} as const satisfies Options;

const environmentIn = ({ test }: ValuesOf<typeof options>): Environment => (test ? "test" : "live");

export const catalogVerbs: Verb[] = [
  defineVerb({
    name: "catalog form add",
    args: ["SLUG", "FILE"],
    options,
    summary: "Gives a catalog document a form, which every firm can have filled in. Each further call adds a version.",
    examples: ["catalog form add affidavit affidavit.pdf --test"],
    async run([slug = "", file = ""], values) {
      const bytes = await readInput(file);
      return withResources(async (resources) => {
        const { catalog } = loadPricingFiles(resources.config.priceFiles);
        const pricing = { catalogRow: (asked: string) => catalog.content.find((row) => row.slug === asked) ?? null };
        const change = { slug, environment: environmentIn(values), actor: "operator" };
        const added = await addCatalogForm({ ...resources, workers: inlineWorkers, pricing }, change, {
          bytes,
          maxBytes: maxUploadBytes,
        });
        return { json: added, text: lines(added) };
      });
    },
  }),
  defineVerb({
    name: "catalog form list",
    args: [],
    options,
    summary: "Lists the catalog documents that have a form, with its latest version.",
    run: (_args, values) =>
      withResources(async (resources) => {
        const found = await listCatalogForms(resources, environmentIn(values));
        const forms = found.map(({ slug, environment, version, pages, sha256, createdAt }) => {
          return { slug, environment, version, pages, sha256, createdAt: createdAt.toISOString() };
        });
        const text = forms.map(
          ({ slug, version, pages, createdAt }) => `${slug}  v${version}  ${pages} pages  ${createdAt}`,
        );
        return {
          json: { forms },
          text: text.join("\n") || `no document has a form for ${environmentIn(values)} orders`,
        };
      }),
  }),
  defineVerb({
    name: "catalog form retire",
    args: ["SLUG"],
    options,
    summary: "Retires a form: nobody can start it any more, and people who have begun can finish.",
    run: ([slug = ""], values) =>
      withResources(async (resources) => {
        const environment = environmentIn(values);
        await endCatalogForm(resources, { slug, environment, actor: "operator" });
        return { json: { slug, environment }, text: `retired: ${slug} (${environment})` };
      }),
  }),
];
