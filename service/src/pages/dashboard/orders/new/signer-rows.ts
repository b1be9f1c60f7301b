import { wholeNumberIn } from "../../../../kernel/platform/text.ts";
import type { FormValues } from "../../../ui/forms/form-body.ts";

/** The fields of a signer in a row of the order form. The inputs are named `signer2_email` and so on. */
export const rowMembers = ["name", "email", "routing", "language", "auth", "phone", "access_code"] as const;
export type RowMember = (typeof rowMembers)[number];
export type RowField = `signer${number}_${RowMember}`;

export const maxRows = 10;
const minRows = 2;

export const rowField = (row: number, member: RowMember): RowField => `signer${row}_${member}`;

/** The number of rows of the form, from 2 to 10. */
export function rowCount(values: FormValues): number {
  const asked = Number(values["signer_rows"]);
  return Number.isInteger(asked) ? Math.min(Math.max(asked, minRows), maxRows) : minRows;
}

const typed = (values: FormValues, row: number, member: RowMember): string => values[rowField(row, member)] ?? "";

/** The numbers of the rows with a name, email, phone number or access code, counted from 1. */
export const namedRows = (values: FormValues): number[] =>
  Array.from({ length: maxRows }, (_, index) => index + 1).filter((row) =>
    (["name", "email", "phone", "access_code"] as const).some((member) => typed(values, row, member).trim() !== ""),
  );

/** The form in the API's format: `signers` instead of the rows. All other fields stay unchanged. */
export function withSigners(fields: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const values: FormValues = Object.fromEntries(fields);
  const rows = namedRows(values);
  const rest = [...fields].filter(([name]) => !/^signer(?:\d+_|_rows$)/.test(name));
  if (rows.length === 0) return new Map(rest);
  return new Map([...rest, ["signers", JSON.stringify(rows.map((row) => signerIn(values, row)))]]);
}

/**
 * The signer of a row, without empty fields. A turn (`routing`) that is not a number stays text, and the rules of
 * `signers` then reject it.
 */
const signerIn = (values: FormValues, row: number) =>
  Object.fromEntries(
    rowMembers.flatMap((member) => {
      const text = typed(values, row, member);
      if (text === "") return [];
      return [[member, (member === "routing" ? wholeNumberIn(text, 0, 99) : undefined) ?? text]];
    }),
  );
