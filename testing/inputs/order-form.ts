import { readFileSync } from "node:fs";

export const examplePdf: Buffer = readFileSync(new URL("../../examples/lien-release.pdf", import.meta.url));

/** The fields of a small valid order. */
export const minimal = { email: "signer@example.com", byod_confirmed: "true" } as const;

export const shipping = {
  svc_ship: "true",
  ship_name: "Jane Roe",
  ship_line1: "350 Fifth Avenue",
  ship_city: "New York",
  ship_state: "NY",
  ship_postal: "10118",
} as const;

export const sender = {
  from_name: "Acme Title",
  from_line1: "1 Main Street",
  from_city: "Denver",
  from_state: "CO",
  from_postal: "80202",
} as const;

/** A multipart body. Fields set to undefined are omitted; `document: null` sends no document. */
export function orderForm(
  fields: Record<string, string | undefined>,
  document: Uint8Array | null = examplePdf,
  fileName = "document.pdf",
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) form.append(name, value);
  if (document) form.append("document", new Blob([new Uint8Array(document)], { type: "application/pdf" }), fileName);
  return form;
}
