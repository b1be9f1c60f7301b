import { invalid } from "../../platform/errors.ts";
import { jsonList } from "./json-list.ts";
import { mostFields, mostPages, mostPoints, requestedFieldSchema, requestedKinds } from "./signing-schemas.ts";

/** A field as the order asks for it: where a reader shows it, in points from the upper left corner of the page. */
export type RequestedField = {
  readonly kind: (typeof requestedKinds)[number];
  /** From 1. */
  readonly signer: number;
  /** From 1. */
  readonly page: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  readonly label: string | null;
  readonly required: boolean;
};

/** In points: what is smaller can neither be seen nor be tapped. */
const leastSide = 8;

/** The largest place of each kind, in points. A text is as wide as its page less 36 points, which the document decides. */
export const mostSize: Readonly<Record<RequestedField["kind"], { width: number; height: number }>> = {
  signature: { width: 360, height: 120 },
  initials: { width: 120, height: 60 },
  date: { width: mostPoints, height: 200 },
  name: { width: mostPoints, height: 200 },
  text: { width: mostPoints, height: 200 },
};

/** How a rule names a kind. */
export const aKind: Readonly<Record<RequestedField["kind"], string>> = {
  signature: "a signature",
  initials: "initials",
  date: "a date",
  name: "a name",
  text: "a text",
};

/**
 * Reads the form's `fields`. Whether the document has room for them is not looked at.
 * @param signers how many there are: each needs a signature
 * @throws ServiceError naming the member and the rule
 */
export function parseRequestedFields(text: string, signers: number): RequestedField[] {
  const rules = { most: mostFields, schema: requestedFieldSchema };
  const fields = jsonList("fields", text, rules, (members, at): RequestedField => {
    const given = <Value>(name: string, value: Value | null): Value => {
      if (value === null) throw invalid(`${at}.${name} is required.`);
      return value;
    };
    const kind = given("kind", members.oneOf("kind", requestedKinds));
    const signer = given("signer", members.whole("signer", 1, 10));
    if (signer > signers) throw invalid(`${at}.signer must be at most ${signers}, the number of signers.`);
    const required = members.flag("required") ?? true;
    if (kind === "signature" && !required) throw invalid(`${at}.required must not be false for a signature.`);
    const side = (name: "width" | "height"): number => {
      const value = given(name, members.number(name, leastSide, mostPoints));
      const most = mostSize[kind][name];
      if (value > most) throw invalid(`${at}.${name} must be at most ${most} points for ${aKind[kind]}.`);
      return value;
    };
    return {
      kind,
      signer,
      page: given("page", members.whole("page", 1, mostPages)),
      x: given("x", members.number("x", 0, mostPoints)),
      y: given("y", members.number("y", 0, mostPoints)),
      width: side("width"),
      height: side("height"),
      label: members.text("label", 100),
      required,
    };
  });
  for (let signer = 1; signer <= signers; signer++) {
    const signs = fields.some((field) => field.kind === "signature" && field.signer === signer);
    if (!signs) throw invalid(`fields must hold a signature for each signer: signer ${signer} has none.`);
  }
  return fields;
}
