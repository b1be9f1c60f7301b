import { AlteredRecordError, invalid } from "../../../kernel/platform/errors.ts";
import { applyRules, idsReadBy, settledFormulas, textsIn } from "../../../orders/order/order.ts";
import { ownFields, type PreparedField, type ReferencedField } from "../pdf/fields.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { alteredRecord, readTrail } from "../records/trail.ts";
import type { Linked } from "./links.ts";

type Deps = Pick<EnvelopeDeps, "db" | "rowMac">;

/**
 * Other people's fields to which the rules of the signer's own fields refer. The sender, or signers who have already
 * signed, entered the values of these fields.
 * @throws Error when the trail was altered
 */
export async function referencedFields(deps: Deps, { envelope, signer }: Pick<Linked, "envelope" | "signer">) {
  const own = ownFields(envelope.fields, signer.n);
  const ids = new Set(own.flatMap(idsReadBy));
  const read = envelope.fields.filter((field) => field.id !== undefined && ids.has(field.id) && !own.includes(field));
  if (read.length === 0) return [];
  const isSenders = read.every(({ readOnly }) => readOnly);
  const filled = isSenders ? new Map<string, string>() : await valuesOfActs(deps, envelope);
  return read.map(
    (field): ReferencedField => ({
      kind: field.kind,
      label: field.label,
      ...(field.id !== undefined && { id: field.id }),
      texts: textsIn(field, (field.readOnly ? field.value : filled.get(field.name)) ?? ""),
    }),
  );
}

/**
 * Rejects a signer's values if they make another signer's formula fail, because nobody can correct them after this
 * signature. Calculates only the formulas whose last missing inputs are these values.
 * @param values of the signer's own fields
 * @throws ServiceError naming a field that would prevent its signer from ever signing
 */
export async function requireSignable(
  deps: Deps,
  { envelope, signer }: Pick<Linked, "envelope" | "signer">,
  values: ReadonlyMap<string, string>,
): Promise<void> {
  const { fields } = envelope;
  const own = new Set(ownFields(fields, signer.n));
  const isOthers = (field: PreparedField) => field.formula !== undefined && !own.has(field);
  if (!fields.some(isOthers)) return;
  const filled = await valuesOfActs(deps, envelope);
  const isFixedBefore = (field: PreparedField) => field.readOnly === true || filled.has(field.name);
  const shownText = (field: PreparedField) =>
    (field.readOnly ? field.value : (values.get(field.name) ?? filled.get(field.name))) ?? "";
  const rules = applyRules(fields, (field) => textsIn(field, shownText(field)));
  const before = new Set(settledFormulas(fields, rules, isFixedBefore));
  for (const field of settledFormulas(fields, rules, (each) => isFixedBefore(each) || own.has(each))) {
    if (before.has(field)) continue;
    const result = rules.calculate(field);
    const name = `${field.label ?? field.id ?? "A number"}, which signer ${field.signer} signs,`;
    if (result === "no value" && field.required)
      throw invalid(`${name} can't be calculated from your answers: it would divide by zero. Change them.`);
    if (typeof result === "object" && "rule" in result)
      throw invalid(`${name} would be out of its bounds by your answers. Change them.`);
  }
}

type ActRecord = {
  readonly event: string;
  readonly act?: { readonly values: readonly { readonly field: string; readonly value: string }[] };
};

/** The values that signers filled in, by field name. */
async function valuesOfActs(
  { db, rowMac }: Deps,
  { id, verifyCode }: Linked["envelope"],
): Promise<Map<string, string>> {
  const trail = await readTrail(db, id);
  const altered = alteredRecord(rowMac, verifyCode, trail);
  if (altered) throw new AlteredRecordError(`record ${altered.position} of the trail of envelope ${id}`);
  const values = trail.flatMap(({ record }) => {
    const { event, act } = JSON.parse(record) as ActRecord;
    return event === "signed" && act ? act.values : [];
  });
  return new Map(values.map(({ field, value }) => [field, value]));
}
