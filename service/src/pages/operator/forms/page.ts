import type { Environment } from "../../../kernel/identity/identity.ts";
import type { CatalogRow } from "../../../orders/pricing/pricing.ts";
import type { FormVersion } from "../../../orders/templates/templates.ts";
import { card, emptyState, pageHead } from "../../ui/components.ts";
import { shortTime } from "../../ui/format.ts";
import { askFirst } from "../../ui/forms/ask-first.ts";
import { errorSummary, select } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

export const formsPath = "/operator/forms";

export type FormsView = {
  environment: Environment;
  catalog: readonly CatalogRow[];
  /** The latest version of each form in use. */
  forms: readonly (FormVersion & { slug: string })[];
  mayChange: boolean;
  /** The request for the passkey that adding a form requires; false when the operator needs to show none now. */
  passkeyFirst: Html | false;
  /** The document that was chosen in a rejected form. */
  chosen: string;
  error: string | undefined;
};

/** The online forms of catalog documents in one environment, and a form that adds a version. */
export function formsBody(view: FormsView): Html {
  const { environment, forms, mayChange, error } = view;
  const lead = `Firms have these documents filled in online, for ${environment} orders. A firm’s own template with form fields comes first.`;
  return html`${pageHead("Forms of the catalog", lead)}
${errorSummary(error)}
<div class="panels">
${card("forms", "In use", forms.length === 0 ? emptyState("No forms", `No document of the catalog has a form for ${environment} orders.`) : formTable(view))}
${mayChange && card("add", "Add a form", addForm(view))}
</div>`;
}

const formTable = ({ forms, catalog, mayChange }: FormsView): Html =>
  records(
    "Forms by document",
    [
      { label: "Document" },
      { label: "Version", number: true },
      { label: "Pages", number: true },
      { label: "Added", utc: true },
      { label: "Form" },
    ],
    forms.map(({ slug, version, pages, createdAt }) => {
      const title = catalog.find((row) => row.slug === slug)?.title;
      return [
        html`${title ?? "No longer in the catalog"}<br><span class="quiet">${slug}</span>`,
        String(version),
        String(pages),
        shortTime(createdAt),
        html`<a href="${formsPath}/${slug}/form.pdf" download>Download<span class="visually-hidden"> the form of ${title ?? slug}</span></a>${mayChange && retiring(slug, title ?? slug)}`,
      ];
    }),
  );

const retiring = (slug: string, title: string): Html =>
  askFirst({
    label: "Retire",
    about: `the form of ${title}`,
    text: "Nobody can start it any more, and people who have begun can finish. The retention plan deletes it later; a new version brings it back.",
    confirm: "Retire the form",
    action: `${formsPath}/${slug}/retire`,
  });

function addForm({ catalog, forms, chosen, environment, passkeyFirst }: FormsView): Html {
  const latest = new Map(forms.map(({ slug, version }) => [slug, version]));
  const options = catalog.map(({ slug, title }) => {
    const version = latest.get(slug);
    return { value: slug, label: version === undefined ? title : `${title} (has version ${version})` };
  });
  return html`${passkeyFirst}<form class="form" method="post" action="${formsPath}" enctype="multipart/form-data">
${select({ name: "slug", label: "Document", required: true, value: chosen, options: [{ value: "", label: "Choose" }, ...options] })}
<div class="form-field"><label for="form-file">File</label><p class="hint" id="form-hint">A PDF of at most 35 MB with form fields of its own, not signed and not encrypted.</p>
<input type="file" id="form-file" name="document" accept="application/pdf,.pdf" required aria-describedby="form-hint"></div>
<p class="form-note">Every firm can have it filled in for ${environment} orders at once. Forms that people have begun keep their version.</p>
<div class="form-actions"><button type="submit">Add the form</button></div></form>`;
}
