import { type Tier, tiers } from "../../firms/partners/partners.ts";
import {
  type DataFile,
  dataFile,
  fail,
  fields,
  list,
  members,
  type Place,
  parseDataFile,
  readDataFile,
} from "./data-file.ts";
import { basisPoints, cents, decimal, integer, matching, text } from "./data-values.ts";
import { type FeeType, feeTypes } from "./line-types.ts";
import { type Address, isOneOfTheFiftyOrDc } from "./us-states.ts";

/** A discount code. It subtracts an amount in cents, or a share of the workflow fee in hundredths of a percent. */
type DiscountCode = { label: string } & ({ amountCents: number } | { workflowFeeBasisPoints: number });

/** The postage for weights up to `upToGrams`. `zoneCents` has the cents for zones 1 to 8, in this order. */
type PostageStep = { upToGrams: number; zoneCents: number[] };

export type PostageTable = {
  carrier: string;
  service: string;
  sheetGrams: number;
  envelopeGrams: number;
  steps: PostageStep[];
};

export type PriceBook = {
  business: Address;
  fees: Record<FeeType, number>;
  /** The discount of each tier, in hundredths of a percent of the workflow fee. */
  tierDiscountBasisPoints: Record<Tier, number>;
  discountCodes: Record<string, DiscountCode>;
  postage: PostageTable;
};

/**
 * Reads the price book from a YAML file.
 * @throws DataFileError when the file cannot be read or is not a valid price book; the message names the line, the
 * field and the rule
 */
export const loadPriceBook = (path: string): DataFile<PriceBook> => parsePriceBook(readDataFile(path), path);

/**
 * Parses the text of a price book.
 * @param text YAML or JSON
 * @param file its path, for error messages
 * @throws DataFileError naming the line, the field and the rule
 */
export function parsePriceBook(text: string, file: string): DataFile<PriceBook> {
  const root = fields(parseDataFile(text, file), {
    required: ["business", "fees", "tierDiscountPercent", "postage"],
    optional: ["discountCodes"],
  });
  const fee = fields(root.fees, { required: feeTypes });
  const percent = fields(root.tierDiscountPercent, { required: tiers });
  return dataFile({
    business: business(root.business),
    fees: record(feeTypes, (type) => cents(fee[type])),
    tierDiscountBasisPoints: record(tiers, (tier) => basisPoints(percent[tier])),
    discountCodes: root.discountCodes ? discountCodes(root.discountCodes) : {},
    postage: postage(root.postage),
  });
}

function business(place: Place): Address {
  const entries = fields(place, { required: ["name", "line1", "city", "state", "postal"], optional: ["line2"] });
  const state = text(entries.state);
  if (!isOneOfTheFiftyOrDc(state)) fail(entries.state, "must be the two-letter code of a US state or DC");
  return {
    name: text(entries.name),
    line1: text(entries.line1),
    line2: entries.line2 ? text(entries.line2) : null,
    city: text(entries.city),
    state,
    postal: matching(entries.postal, /^\d{5}(-\d{4})?$/, 'a ZIP code in quotes, such as "78701"'),
  };
}

function discountCodes(place: Place): Record<string, DiscountCode> {
  // Sorted, so that reordering the codes in the file doesn't create a new version.
  const codes = [...members(place)].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(codes.map(([code, member]) => [code, discountCode(code, member)]));
}

function discountCode(code: string, place: Place): DiscountCode {
  if (!/^[A-Z0-9]+(-[A-Z0-9]+)*$/.test(code)) fail(place, "must be named in capitals and digits with single hyphens");
  const entries = fields(place, { required: ["label"], optional: ["amountCents", "percentOfWorkflowFee"] });
  const label = text(entries.label);
  const { amountCents, percentOfWorkflowFee } = entries;
  if (amountCents && !percentOfWorkflowFee) return { label, amountCents: cents(amountCents, 1) };
  if (percentOfWorkflowFee && !amountCents) return { label, workflowFeeBasisPoints: basisPoints(percentOfWorkflowFee) };
  return fail(place, "must have either amountCents or percentOfWorkflowFee");
}

function postage(place: Place): PostageTable {
  const entries = fields(place, { required: ["carrier", "service", "sheetGrams", "envelopeGrams", "steps"] });
  const steps = list(entries.steps).map(step);
  if (steps.length === 0) fail(entries.steps, "must have at least one step");
  return {
    carrier: text(entries.carrier, 40),
    service: text(entries.service, 40),
    sheetGrams: decimal(entries.sheetGrams, 1, 100),
    envelopeGrams: decimal(entries.envelopeGrams, 0, 1000),
    steps,
  };
}

function step(place: Place, index: number, all: Place[]): PostageStep {
  const entries = fields(place, { required: ["upToGrams", "zoneCents"] });
  const upToGrams = integer(entries.upToGrams, 1, 50_000);
  const before = all[index - 1];
  if (before && upToGrams <= integer(fields(before, { required: ["upToGrams", "zoneCents"] }).upToGrams, 1, 50_000)) {
    fail(entries.upToGrams, "must be greater than in the step before");
  }
  const zones = list(entries.zoneCents);
  if (zones.length !== 8) fail(entries.zoneCents, "must be a list of 8 amounts, one for each zone");
  return { upToGrams, zoneCents: zones.map((zone) => cents(zone)) };
}

function record<K extends string>(keys: readonly K[], value: (key: K) => number): Record<K, number> {
  return Object.fromEntries(keys.map((key) => [key, value(key)])) as Record<K, number>;
}
