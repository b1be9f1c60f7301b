import type { Planned } from "./memory-ceremony.ts";

const common = { signer: 1, page: 0 } as const;
const line = (y: number) => ({ x: 72, y, width: 160, height: 20 });
const box = (x: number) => ({ x, y: 400, width: 16, height: 16 });

/**
 * A checkbox, a radio, a dropdown, a number and a text with a format, on the first page. `first` fields precede them in
 * the document.
 */
export const fieldsOfNewTypes = (first = 5): Planned[] => [
  { ...common, kind: "checkbox", place: box(72), label: "I was told of lead paint", required: true },
  { ...common, kind: "radio", place: box(120), label: "Title", option: "Sole", radio: first + 1, required: true },
  { ...common, kind: "radio", place: box(160), label: "Title", option: "Joint", radio: first + 1, required: true },
  { ...common, kind: "dropdown", place: line(450), label: "Color", options: ["Red", "Blue"], required: true },
  {
    ...common,
    kind: "number",
    place: line(480),
    label: "Price",
    help: "Without fees.",
    format: { min: "1", currency: "USD" },
    required: true,
  },
  { ...common, kind: "text", place: line(510), label: "ZIP", format: "zip_us", value: "97201", required: true },
];

/**
 * A checkbox, a fee that is shown while the checkbox is checked, a multiple choice and a total, on the first page.
 * `first` fields precede them in the document.
 */
export const fieldsWithRules = (first = 5): Planned[] => [
  { ...common, kind: "checkbox", place: box(72), label: "Pets", id: "pets", required: false },
  {
    ...common,
    kind: "number",
    place: line(450),
    label: "Fee",
    id: "fee",
    format: { currency: "USD" },
    showWhen: { field: "pets", operator: "checked" },
    required: true,
  },
  ...["Attic", "Yard"].map(
    (option, n): Planned => ({
      ...common,
      kind: "checkbox",
      place: box(120 + n * 40),
      label: "Rooms",
      option,
      radio: first + 2,
      choices: { least: 1, most: 1 },
      required: true,
    }),
  ),
  {
    ...common,
    kind: "number",
    place: line(480),
    label: "Total",
    formula: "1000 + fee",
    format: { currency: "USD" },
    required: true,
  },
];
