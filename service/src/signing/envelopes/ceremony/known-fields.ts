import { idsReadBy, textsIn } from "../../../orders/order/order.ts";
import { ownFields } from "../pdf/fields.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { alteredRecord, readTrail } from "../records/trail.ts";
import type { Linked } from "./links.ts";
import type { KnownField } from "./view.ts";

type Deps = Pick<EnvelopeDeps, "db" | "rowMac">;

/**
 * The fields of others that the rules of a signer's own fields read: the sender's values, and what signers of earlier turns filled in.
 * @throws Error when the trail is not what was written
 */
export async function knownFields(deps: Deps, { envelope, signer }: Pick<Linked, "envelope" | "signer">) {
  const own = ownFields(envelope.fields, signer.n);
  const ids = new Set(own.flatMap(idsReadBy));
  const read = envelope.fields.filter((field) => field.id !== undefined && ids.has(field.id) && !own.includes(field));
  if (read.length === 0) return [];
  const isSenders = read.every(({ readOnly }) => readOnly);
  const filled = isSenders ? new Map<string, string>() : await valuesOfActs(deps, envelope);
  return read.map(
    (field): KnownField => ({
      kind: field.kind,
      label: field.label,
      ...(field.id !== undefined && { id: field.id }),
      texts: textsIn(field, (field.readOnly ? field.value : filled.get(field.name)) ?? ""),
    }),
  );
}

type ActRecord = {
  readonly event: string;
  readonly act?: { readonly values: readonly { readonly field: string; readonly value: string }[] };
};

/** The values that signers filled in, by the names of their fields. */
async function valuesOfActs(
  { db, rowMac }: Deps,
  { id, verifyCode }: Linked["envelope"],
): Promise<Map<string, string>> {
  const trail = await readTrail(db, id);
  const altered = alteredRecord(rowMac, verifyCode, trail);
  if (altered) throw new Error(`record ${altered.position} of the trail of envelope ${id} was altered`);
  const values = trail.flatMap(({ record }) => {
    const { event, act } = JSON.parse(record) as ActRecord;
    return event === "signed" && act ? act.values : [];
  });
  return new Map(values.map(({ field, value }) => [field, value]));
}
