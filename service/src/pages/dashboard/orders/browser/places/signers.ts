import { namedRows, rowField } from "../../new/signer-rows.ts";
import type { Field } from "./field.ts";

/** A signer for whom fields are placed. A client who signs alone is the first row. */
export type Signer = {
  readonly row: number;
  readonly name: string;
  /** The role of the signer, such as "Buyer"; absent while it is unknown. */
  readonly role?: string;
  /** True if the row stands for a role of a template and not for a person. `name` is then the role's name. */
  readonly isRole?: boolean;
  /** The signer's email address as typed in the form, for the preview. Absent if the form has no field for it. */
  readonly email?: string;
  readonly language?: string;
  readonly routing?: number;
};

/** The signers whom the form currently names, in the order of their numbers. */
export function signersIn(form: HTMLFormElement): Signer[] {
  const values: Record<string, string> = {};
  for (const [name, value] of new FormData(form)) if (typeof value === "string") values[name] = value.trim();
  const rows = namedRows(values);
  if (rows.length === 0)
    return [{ row: 1, name: values["name"] || values["email"] || "The client", email: values["email"] ?? "" }];
  return rows.map((row) => ({
    row,
    name: values[rowField(row, "name")] || values[rowField(row, "email")] || `Signer ${row}`,
    email: values[rowField(row, "email")] ?? "",
    language: values[rowField(row, "language")] || "en",
    routing: Number(values[rowField(row, "routing")]) || 1,
  }));
}

/**
 * No signer of an order has this number. Fields for a row without a name get this number, so that the service rejects
 * them.
 */
const nobody = 99;

export const signerOf =
  (signers: readonly Signer[]) =>
  (row: number): number => {
    const index = signers.findIndex((signer) => signer.row === row);
    return index === -1 ? nobody : index + 1;
  };

export const rowOf =
  (signers: readonly Signer[]) =>
  (signer: number): number =>
    signers[signer - 1]?.row ?? signer;

/** The signers without a signature field. The service accepts fields only if every signer has a signature. */
export const unsigned = (signers: readonly Signer[], fields: readonly Field[]): Signer[] =>
  signers.filter(({ row }) => !fields.some((field) => field.kind === "signature" && field.row === row));

export const nameOf = (signers: readonly Signer[], row: number): string =>
  signers.find((signer) => signer.row === row)?.name ?? `Signer ${row} (no longer named)`;
