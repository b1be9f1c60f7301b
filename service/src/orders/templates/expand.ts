import type { Principal } from "../../kernel/identity/identity.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import { isCode, isUuid, shownText, wholeNumberIn } from "../../kernel/platform/text.ts";
import {
  acceptsValue,
  type Expanded,
  fieldsOf,
  findFill,
  looksLikePdf,
  membersOf,
  pagesOf,
  parseSigners,
  type RequestedField,
  type SentDocument,
  type SentOrder,
  type signerSchema,
} from "../order/order.ts";
import { decided, type FormField, preset, requestedOf, type TemplateContent, type TemplateRole } from "./content.ts";
import { likenessOf, printsIn } from "./prints.ts";
import type { TemplateDeps } from "./save.ts";
import { findVersion, type TemplateVersion, withPrints } from "./store.ts";

/** `log` gets an error when the template's own document fails its checks. */
type Expanding = TemplateDeps & { log: Log };

/** The form fields about a template. All of them require `template`. */
const own = ["template", "template_version", "roles", "values", "other_document"] as const;
const replaced = [...decided, "signers", "fields", "signer_auth"] as const;

/**
 * Fills in an order form from the template that it names.
 * @returns undefined for a form that names none
 * @throws ServiceError naming the field and the rule
 */
export async function expandForm(
  deps: Expanding,
  principal: Principal,
  { fields: sent, upload }: SentOrder,
): Promise<Expanded | undefined> {
  const fields = fieldsOf(sent);
  const templateId = fields.optional("template", 100);
  if (templateId === null) {
    const alone = sentName(sent, own.slice(1));
    if (alone) throw invalid(`${alone} must be left out without template.`);
    return undefined;
  }
  refuseDecided(sent);
  const template = await templateOf(deps, principal, templateId, fields.optional("template_version", 10));
  const hasDocument = upload !== null || sentName(sent, ["fill_token"]) !== undefined;
  if (!fields.flag("other_document")) {
    if (upload) await requireForm(deps, principal, template, upload);
    else if (hasDocument) await requireFilledFrom(deps, principal, template, sent.get("fill_token")?.trim() ?? "");
  }
  const expanded = formFrom(template.content, sent);
  const { version, sha256, bytes, pages, blobKey, name } = template;
  const use = { templateId, version };
  if (hasDocument) return { fields: expanded, use, name };
  return { fields: expanded, use, name, document: { sha256, bytes, pages, blobKey, name, slug: null } };
}

const sentName = (sent: ReadonlyMap<string, string>, names: readonly string[]) =>
  names.find((name) => (sent.get(name) ?? "").trim() !== "");

function refuseDecided(sent: ReadonlyMap<string, string>): void {
  const twice = sentName(sent, replaced);
  if (twice) throw invalid(`${twice} must be left out with template: the template decides it.`);
}

/**
 * Makes an order form from the template's fields and the sent ones.
 * @throws ServiceError naming the field and the rule
 */
export function formFrom(content: TemplateContent, sent: ReadonlyMap<string, string>): Map<string, string> {
  const signing = signingFields(content, sent.get("roles") ?? "", sent.get("values") ?? "");
  const services = Object.entries(content.services);
  const isPreset = (name: string) => preset.some((each) => each === name);
  const dropped: readonly string[] = [...own, ...replaced];
  return new Map([
    ...services.filter(([name]) => isPreset(name)),
    ...[...sent].filter(([name, value]) => !dropped.includes(name) && !(isPreset(name) && value.trim() === "")),
    ...services.filter(([name]) => !isPreset(name)),
    ...signing,
  ]);
}

export async function templateOf(
  deps: Pick<TemplateDeps, "db" | "rowMac">,
  principal: Principal,
  templateId: string,
  text: string | null,
): Promise<TemplateVersion> {
  const version = text === null ? null : wholeNumberIn(text, 1, 9999);
  if (version === undefined) throw invalid("template_version must be a whole number from 1.");
  const found = isUuid(templateId) ? await findVersion(deps, principal, templateId) : undefined;
  if (!found) throw invalid("template is not one of your templates in this environment.");
  if (found.archivedAt) throw invalid("template is archived: it places no orders.");
  if (version === null || version === found.version) return found;
  const wanted = await findVersion(deps, principal, templateId, version);
  if (!wanted) throw invalid(`template_version must be at most ${found.version}, the template's latest.`);
  if (wanted.deletedAt)
    throw invalid(
      `template_version must be a version with a document: that of ${version} was deleted, as the retention plan says.`,
    );
  return wanted;
}

/** The pages on which another document must have the same words as the template's document; null for all pages. */
export const pagesWithFields = ({ fields, roles }: TemplateContent): number[] | null =>
  fields && [...new Set(requestedOf(fields, roles).map(({ page }) => page))];

/**
 * Refuses a document in which the template's fields would be placed on other words than in the template's own document.
 * Accepts a document without words to compare.
 */
async function requireForm(
  deps: TemplateDeps,
  { partnerId: holder }: Principal,
  template: TemplateVersion,
  { bytes, sha256 }: SentDocument,
): Promise<void> {
  if (sha256 === template.sha256 || !looksLikePdf(bytes)) return;
  const pages = await pagesOf(deps.workers, holder, bytes);
  // Reading the words may last seconds, so it is done only for a document with the right number of pages.
  const prints = pages === template.pages ? await printsIn(deps.workers, holder, bytes) : null;
  const [form] = await withPrints(deps, [template]);
  if (!form) throw new Error("the prints of a template are missing");
  const likeness = likenessOf(form, { sha256, pages, prints }, pagesWithFields(template.content));
  if (likeness !== "other") return;
  const why =
    pages === template.pages
      ? "its words or its page sizes differ"
      : `it has ${pages} pages, and the template's form has ${template.pages}`;
  throw invalid(
    `document must be the form of the template: ${why}. Send other_document to use the template all the same.`,
  );
}

/**
 * Refuses a fill token whose document was not filled in from this version of the template. The document's words are not
 * compared with the template's, so the fields could otherwise be placed on wrong words.
 */
async function requireFilledFrom(
  deps: Expanding,
  principal: Principal,
  { templateId, version }: TemplateVersion,
  token: string,
): Promise<void> {
  const filled = isCode(token) ? await findFill(deps, principal, token, deps.clock()) : undefined;
  if (filled?.use?.templateId !== templateId)
    throw invalid("fill_token needs other_document with template: nothing compares it with the form.");
  if (filled.use.version !== version)
    throw invalid(`fill_token was filled in from version ${filled.use.version}: send it as template_version.`);
}

/**
 * The firm's own template from which the document of a fill token was filled in. Null for any other document, and for
 * an archived template or a deleted version. Also null if orders of the template would have neither fields nor roles.
 * `version` is null for the latest version.
 */
export async function templateOfFill(
  deps: Expanding,
  principal: Principal,
  token: string,
): Promise<{ templateId: string; version: number | null } | null> {
  const filled = isCode(token) ? await findFill(deps, principal, token, deps.clock()) : undefined;
  if (!filled?.use) return null;
  const { templateId, version } = filled.use;
  const latest = await findVersion(deps, principal, templateId);
  if (!latest || latest.archivedAt) return null;
  const isLatest = latest.version === version;
  const used = isLatest ? latest : await findVersion(deps, principal, templateId, version);
  if (!used || used.deletedAt) return null;
  const { roles, fields } = used.content;
  return roles.length === 0 && fields === null ? null : { templateId, version: isLatest ? null : version };
}

/**
 * The values for the form's `signers` and `fields`. Errors in them name `roles` and `values`, because these are what
 * the caller sent.
 */
function signingFields(content: TemplateContent, rolesText: string, valuesText: string): [string, string][] {
  const { roles, fields } = content;
  const values = objectOf("values", valuesText) ?? {};
  if (roles.length === 0) {
    if (rolesText.trim() !== "") throw invalid("roles must be left out: the template is not signed.");
    if (Object.keys(values).length > 0) throw invalid("values must be left out: the template is not signed.");
    return [];
  }
  const people = objectOf("roles", rolesText);
  if (!people) throw invalid(`roles is required: it names a person for ${roles.map(({ name }) => name).join(", ")}.`);
  const signers = JSON.stringify(signersOf(roles, people));
  renamed(
    () => parseSigners(signers, "link"),
    (text) => text.replaceAll(/signers\[(\d+)\]/g, (_all, n) => `roles.${roles[Number(n)]?.name}`),
  );
  if (fields === null) {
    if (Object.keys(values).length > 0) throw invalid("values must be left out: the template has no fields.");
    return [["signers", signers]];
  }
  const filled = withValues(fields, requestedOf(fields, roles), values);
  renamed(
    () => requestedOf(filled, roles),
    (text) =>
      text.replace(/^fields\[(\d+)\]\.value/, (_all, n) => `values.${shownText(String(filled[Number(n)]?.["label"]))}`),
  );
  return [
    ["signers", signers],
    ["fields", JSON.stringify(filled)],
  ];
}

function renamed(check: () => unknown, rename: (text: string) => string): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    throw new ServiceError(error.code, rename(error.message), { at: error.at && rename(error.at) });
  }
}

function objectOf(name: string, text: string): Readonly<Record<string, unknown>> | null {
  if (text.trim() === "") return null;
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    throw invalid(`${name} must be JSON.`);
  }
  if (typeof found !== "object" || found === null || Array.isArray(found))
    throw invalid(`${name} must be a JSON object.`);
  return found as Readonly<Record<string, unknown>>;
}

const personMembers = [
  "name",
  "email",
  "phone",
  "access_code",
  "language",
] as const satisfies readonly (keyof typeof signerSchema.properties)[];

function signersOf(roles: readonly TemplateRole[], people: Readonly<Record<string, unknown>>): object[] {
  const names = roles.map(({ name }) => name);
  const unknown = Object.keys(people).find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw invalid(`roles must name no others than ${names.join(", ")}: ${shownText(unknown)} is not one of them.`);
  return roles.map(({ name, routing, auth, language }) => {
    if (!Object.hasOwn(people, name)) throw invalid(`roles.${name} is required.`);
    const members = membersOf(people[name], `roles.${name}`, personMembers);
    const person = Object.fromEntries(
      personMembers.flatMap((member) => (members.raw(member) === null ? [] : [[member, members.raw(member)]])),
    );
    return { language, ...person, routing, auth };
  });
}

/** Fills in the values by the fields' labels. Fields with the same label get the same value. */
function withValues(
  fields: readonly FormField[],
  requested: readonly RequestedField[],
  values: Readonly<Record<string, unknown>>,
): FormField[] {
  for (const label of Object.keys(values))
    if (!requested.some((field) => field.label === label && acceptsValue(field)))
      throw invalid(`values.${shownText(label)} names no field of the template that takes a value.`);
  return fields.map((field, index) => {
    const own = requested[index];
    const label = own?.label ?? null;
    if (!own || label === null || !Object.hasOwn(values, label) || !acceptsValue(own)) return field;
    return { ...field, value: values[label] };
  });
}
