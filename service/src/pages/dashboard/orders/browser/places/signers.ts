import { namedRows, rowField } from "../../new/signer-rows.ts";
import type { Field } from "./field.ts";

/** A signer for whom fields are placed. A client who signs alone is the first row. */
export type Signer = {
  readonly row: number;
  readonly name: string;
  /** The party as which the person signs, such as "Buyer"; absent while it is unknown. */
  readonly role?: string;
  /** True if the name is that of a template's role. */
  readonly isRole?: boolean;
  /** The address for the preview, as currently typed in the form; absent if the form has no field for it. */
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

/** A number that no signer of an order has, so that the service rejects a field whose row names nobody. */
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
