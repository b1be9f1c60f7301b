import type { Owner } from "../../../kernel/identity/identity.ts";
import type { SentDocument } from "../../../orders/order/order.ts";
import {
  findVersion,
  matchesOf,
  type TemplateContent,
  type TemplateDeps,
  type TemplateVersion,
} from "../../../orders/templates/templates.ts";
import { notice } from "../../ui/components.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type Html, html } from "../../ui/render.ts";
import { type ClosingDocument, documentsIn, peopleIn, peopleRows, signersOf } from "./fields.ts";
import { everybody, personNumber } from "./person-label.ts";
import { waysIn, waysText, wayWords, withoutWay } from "./ways.ts";

/**
 * The template that was just applied to a document, with the person who got each role. `way` says when this person
 * signs, whether a code is mailed, and in which language. It is empty for somebody who signs at once, by a link, in
 * English.
 */
export type UsedTemplate = { n: number; name: string; roles: readonly { role: string; person: string; way: string }[] };

const useTemplate = "use_template";

/** The id of the firm's template that was made from the same PDF form as the file; empty for none. */
export async function templateOf(deps: TemplateDeps, owner: Owner, upload: SentDocument): Promise<string> {
  const [match] = await matchesOf(deps, owner, upload);
  return match?.templateId ?? "";
}

/**
 * The templates that were made from the same PDF forms as the documents, keyed by id. Archived templates are left out.
 */
export async function templatesOf(
  deps: TemplateDeps,
  owner: Owner,
  documents: readonly ClosingDocument[],
): Promise<ReadonlyMap<string, TemplateVersion>> {
  const ids = [...new Set(documents.map(({ template }) => template))].filter((id) => id !== "");
  const found = await Promise.all(ids.map((id) => findVersion(deps, owner, id)));
  return new Map(found.flatMap((each) => (each && !each.archivedAt ? [[each.templateId, each]] : [])));
}

/** The parts of a template that a closing leaves out, in words; empty when it uses everything. */
const leftOut = ({ services, message }: TemplateContent): string[] => [
  ...(message === null ? [] : ["its message to the signers"]),
  ...(services.doc_slug === undefined ? [] : ["its document type"]),
];

/**
 * True if a closing can identify the signers as the template requires. The closing's form has no field for a phone
 * number or an access code. So it can't use a template that needs one.
 */
const fitsClosing = ({ roles }: TemplateContent): boolean =>
  roles.every(({ auth }) => auth === "link" || auth === "mail_code");

/** Offers to apply the template that was made from the same PDF form as the document. */
export function templateNote(
  document: ClosingDocument,
  { templateId, name: called, content }: TemplateVersion,
  rowsPath: string,
): Html {
  const title = `This is the form of “${called}”`;
  if (!fitsClosing(content))
    return notice(
      "info",
      title,
      html`It identifies signers by text message or access code, which the form of a closing has no place for. <a href="/dashboard/templates/${templateId}/order">Place an order from the template</a>, and add it to the closing’s room.`,
    );
  const lost = leftOut(content);
  const left = lost.length > 0 ? ` A closing does not take over ${inWords.format(lost)}.` : "";
  return notice(
    "info",
    title,
    `It has places for ${namesOf(content)}.${left}`,
    html`<div class="form-actions">${rowButton(document, rowsPath, useTemplate, "Use its fields and services")}</div>`,
  );
}

const inWords = new Intl.ListFormat("en");
const namesOf = ({ roles }: TemplateContent): string =>
  roles.length === 0 ? "nobody to sign" : inWords.format(roles.map(({ name }) => name));

export const usedNote = ({ name, roles }: UsedTemplate): Html =>
  notice(
    "info",
    `The fields and services of “${name}” are set`,
    roles.length === 0
      ? "Nobody signs it."
      : `${roles.map(({ role, person, way }) => `${role}: ${person}${way}`).join("; ")}. Change the people in the fields’ window.${roles.some(({ way }) => way !== "") ? " Turns, codes and languages stay with these people." : ""}`,
  );

const inBrackets = (words: string): string => (words === "" ? "" : ` (${words})`);

/** A button that sends the form of the closing to change one document, which its label names for screen readers. */
const rowButton = ({ n, name }: ClosingDocument, rowsPath: string, kind: string, label: string): Html =>
  html`<button type="submit" class="quiet-button" name="${kind}" value="${n}" formaction="${rowsPath}#document-row-${n}" formnovalidate aria-label="${label}, document ${n}: ${name}">${label}</button>`;

/**
 * Says how each signer of a document signs, as its template requires: the turn, a mailed code, the language. This
 * applies only to the people to whom the template was applied, not to somebody who was ticked later.
 * @param hasTemplate true if the template still exists and is not archived
 */
export function waysNote(
  values: FormValues,
  document: ClosingDocument,
  { hasTemplate, rowsPath }: { hasTemplate: boolean; rowsPath: string },
): Html {
  const ways = waysIn(document.ways);
  const signing = signersOf(values, document);
  const lines = signing.flatMap(({ row }) => {
    const way = ways.find(({ person }) => person === personNumber(row));
    return way ? [`${nameOf(values, row)}: ${wayWords(way, ways) || "by a link"}`] : [];
  });
  const missing = withoutWay(document.ways, signing).map(({ row }) => nameOf(values, row));
  const canRepeat = hasTemplate && hasRoleForEach(document, signing);
  const words = [
    ...(signing.length === 0 ? ["Nobody is ticked to sign it."] : []),
    ...(lines.length > 0 ? [`${lines.join("; ")}.`] : []),
    ...(missing.length > 0 ? [noWayWords(missing, canRepeat)] : []),
  ];
  const repeatButton = canRepeat && rowButton(document, rowsPath, useTemplate, "Use the template again");
  const plainButton = rowButton(document, rowsPath, "plain_ways", "Remove turns, codes and languages");
  return notice(
    missing.length === 0 ? "info" : "attention",
    "How people sign, from the template",
    words.join(" "),
    html`<div class="form-actions">${repeatButton}${plainButton}</div>
<p class="hint">Without them everybody signs at once, by a link, in English.</p>`,
  );
}

/**
 * True if the template has a role for each signer. If the template has fewer roles, applying it again would untick the
 * other signers.
 */
export const hasRoleForEach = ({ ways }: ClosingDocument, signing: readonly unknown[]): boolean =>
  signing.length <= waysIn(ways).length;

/** A message that the template does not define how the people in `names` sign, and what the member can do about it. */
export const noWayWords = (names: readonly string[], canRepeat: boolean): string => {
  const cure = canRepeat
    ? "Use the template again, or remove its turns, codes and languages."
    : "Remove the template’s turns, codes and languages, or change who signs.";
  return `The template does not say how ${inWords.format(names)} ${names.length === 1 ? "signs" : "sign"}. ${cure}`;
};

/**
 * Fills in a document from its template. Each role goes to a person: first to those who sign the document now, then to
 * others.
 * @returns the form, and the applied template. The template is null if the form asks for no template that a closing can
 * use
 */
export async function withTemplate(
  deps: TemplateDeps,
  owner: Owner,
  values: FormValues,
): Promise<{ values: FormValues; used: UsedTemplate | null }> {
  const asked = documentsIn(values).find(({ n }) => String(n) === values[useTemplate]);
  const template = asked && (await templatesOf(deps, owner, [asked])).get(asked.template);
  if (!asked || !template || !fitsClosing(template.content)) return { values, used: null };
  const { n } = asked;
  const { roles, fields, services } = template.content;
  const people = peopleFor(values, asked, roles.length);
  const numbers = people.map(personNumber);
  const written = (fields ?? []).map((field) => ({ ...field, signer: numbers[Number(field["signer"]) - 1] }));
  const filled: Record<string, string> = { ...values, [`doc${n}_fields`]: fields ? JSON.stringify(written) : "" };
  filled[`doc${n}_ways`] = waysText(roles, numbers);
  // If the template sets no turn, code or language, the template is not offered a second time.
  if (filled[`doc${n}_ways`] === "") filled[`doc${n}_template`] = "";
  for (const [name, service] of Object.entries({ sign: "svc_sign", notary: "svc_notary", ship: "svc_ship" } as const))
    filled[`doc${n}_${name}`] = services[service] === undefined ? "" : "on";
  for (const person of everybody) filled[`doc${n}_signs_${person}`] = people.includes(person) ? "on" : "";
  const lacking = Math.max(0, ...people.map(Number).filter(Number.isFinite)) - peopleRows(values);
  if (lacking > 0) filled["more_people"] = String(lacking);
  const named = (row: string) => nameOf(values, row);
  const assigned = roles.map((role, index) => ({
    role: role.name,
    person: named(people[index] ?? ""),
    way: inBrackets(wayWords(role, roles)),
  }));
  return { values: filled, used: { n, name: template.name, roles: assigned } };
}

/**
 * The rows for as many people as the template has roles. First come those who sign the document, then the others,
 * beginning with the client.
 */
function peopleFor(values: FormValues, document: ClosingDocument, count: number): string[] {
  const signing = signersOf(values, document).map(({ row }) => row);
  return [...new Set([...signing, ...everybody])].slice(0, count);
}

function nameOf(values: FormValues, row: string): string {
  if (row === "client") return values["name"]?.trim() || "the client";
  const person = peopleIn(values).find((each) => String(each.row) === row);
  return person?.name || person?.email || `person ${row}`;
}
