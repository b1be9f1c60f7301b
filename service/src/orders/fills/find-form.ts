import type { Owner, Principal } from "../../kernel/identity/identity.ts";
import { memoryHolder } from "../../kernel/platform/bounds/memory-budget.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { isPlainText } from "../../kernel/platform/text.ts";
import { documentUse } from "../order/order.ts";
import { type FormVersion, type TemplateDeps, templateOf } from "../templates/templates.ts";
import { formSubject, formsOfDocument } from "./catalog-forms.ts";
import type { NewFillFields } from "./new-fill.ts";
import { type Question, questionsIn, Unfillable } from "./questions.ts";

type Deps = { templates: TemplateDeps };

type FormWithQuestions = { form: FormVersion; isCatalogForm: boolean; questions: Question[] };

/**
 * Finds the form to fill in. The request names its template or its catalog document.
 * @throws ServiceError
 */
export async function formFor(
  deps: Deps,
  principal: Principal,
  { template, templateVersion, docSlug = "" }: NewFillFields,
): Promise<FormWithQuestions> {
  if (template === null) return formOfDocument(deps, principal, docSlug);
  const form = await templateOf(deps.templates, principal, template, templateVersion);
  return { form, isCatalogForm: false, questions: await questionsOfTemplate(deps, principal, form) };
}

/**
 * The form to fill in for a catalog document, with its questions: that of the firm's own template, or else the
 * operator's. A firm's template without form fields doesn't replace the operator's form.
 * @throws ServiceError
 */
export async function formOfDocument(deps: Deps, principal: Owner, slug: string): Promise<FormWithQuestions> {
  const { own, ofCatalog } = await formsOfDocument(deps.templates, principal, slug);
  const withQuestions = async (form: FormVersion, isCatalogForm: boolean) => ({
    form,
    isCatalogForm,
    questions: await questionsOfTemplate(deps, principal, form, formSubject(isCatalogForm)),
  });
  let refusal: unknown = invalid("docSlug has no form to fill in online in this environment.");
  if (own) {
    try {
      return await withQuestions(own, false);
    } catch (error) {
      if (!(error instanceof Unfillable) || error.why !== "no_fields") throw error;
      refusal = error;
    }
  }
  const form = await ofCatalog();
  if (!form) throw refusal;
  return withQuestions(form, true);
}

/** The questions of a template's document. @throws ServiceError */
export async function questionsOfTemplate(
  deps: Deps,
  principal: Owner,
  template: FormVersion,
  subject = "template",
): Promise<Question[]> {
  const at = { key: template.blobKey, use: documentUse(template.sha256), holder: memoryHolder(principal) };
  return deps.templates.blobs.withBytes(at, async (bytes) => {
    if (!bytes) throw invalid(`${subject} has no document any more.`);
    return questionsIn(deps.templates.workers, principal.partnerId, bytes, subject);
  });
}

/**
 * The questions, with the labels that the firm gave some of them.
 * @throws ServiceError naming the field and the rule
 */
export function withLabels(questions: readonly Question[], labels: unknown): Question[] {
  if (labels === undefined || labels === null) return [...questions];
  if (typeof labels !== "object" || Array.isArray(labels)) throw invalid("labels must be an object.");
  const labelOf = new Map<string, unknown>(Object.entries(labels));
  const unknown = [...labelOf.keys()].find((name) => !questions.some((each) => each.name === name));
  if (unknown !== undefined) throw invalid(`labels.${unknown.slice(0, 100)} names no field of the form.`);
  return questions.map((question) => {
    const label = labelOf.get(question.name);
    if (label === undefined) return question;
    if (typeof label !== "string" || label.trim() === "" || [...label].length > 200 || !isPlainText(label))
      throw invalid(`labels.${question.name.slice(0, 100)} must be text of 1 to 200 characters.`);
    return { ...question, label: label.trim(), isGuessed: false };
  });
}
