import { ServiceError } from "../../platform/errors.ts";
import { type FormRules, type OrderForm, parseOrderForm } from "./form.ts";

/** What stands in for a field that is refused, so that those after it are read; an empty text leaves it out. */
const standIns: Readonly<Record<string, string>> = {
  email: "client@example.com",
  byod_confirmed: "true",
  ...Object.fromEntries(
    ["ship", "from"].flatMap((prefix) => [
      [`${prefix}_name`, "Name"],
      [`${prefix}_line1`, "1 Main Street"],
      [`${prefix}_line2`, ""],
      [`${prefix}_city`, "City"],
      [`${prefix}_state`, "NY"],
      [`${prefix}_postal`, "10001"],
    ]),
  ),
};

const signing = ["signers", "signer_auth", "signature_fields"];

/**
 * Reads a form to its end, whatever is refused on the way.
 * @returns every refusal, each with its field first, and the form as far as it can be read; null where it can't
 */
export function readWhole(
  values: ReadonlyMap<string, string>,
  hasDocument: boolean,
  rules: FormRules,
): { refusals: string[]; form: OrderForm | null } {
  const refusals: string[] = [];
  const left = new Map(values);
  const replaced = new Set<string>();
  let given = hasDocument;
  for (;;) {
    try {
      return { refusals, form: parseOrderForm(left, given, rules) };
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== "validation") throw error;
      const [field = ""] = /^[a-z0-9_]+/.exec(error.message) ?? [];
      // A refusal that stays says nothing new.
      if (replaced.has(field)) return { refusals, form: null };
      replaced.add(field);
      refusals.push(error.message);
      if (field === "document" || field === "fill_token") {
        left.delete("fill_token");
        given = true;
      } else for (const name of signing.includes(field) ? signing : [field]) left.set(name, standIns[name] ?? "");
    }
  }
}
