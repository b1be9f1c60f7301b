import { codeText, statusBadge, type Tone } from "../../ui/components.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

type Check<Name extends string> = { name: Name; state: "holds" | "warns" | "fails"; why: string };

const tones: Readonly<Record<Check<string>["state"], readonly [Tone, string]>> = {
  holds: ["done", "Holds"],
  warns: ["attention", "Look\u00a0at\u00a0it"],
  fails: ["stopped", "Fails"],
};

/** The verifier's report on an upload, check by check. */
export const checksTable = <Name extends string>(
  titles: Readonly<Record<Name, string>>,
  { checks, sha256 }: { checks: readonly Check<Name>[]; sha256: string },
): Html =>
  html`${records(
    "Checks of the upload",
    ["Check", "Outcome", "Why"].map((label) => ({ label })),
    checks.map(({ name, state, why }) => [titles[name], statusBadge(...tones[state]), why]),
  )}
<p>SHA-256 ${codeText(sha256, "the hash")}</p>`;

/** The names of the checks that ended with a warning. */
export const warnedOf = <Name extends string>(checks: readonly Check<Name>[]): Name[] =>
  checks.filter(({ state }) => state === "warns").map(({ name }) => name);

/**
 * Reads from a form the report that the operator confirms: the file's hash, and the names of the checks with a warning.
 */
export const confirmedIn = (fields: ReadonlyMap<string, string>) => ({
  sha256: fields.get("sha256") ?? "",
  warnings: (fields.get("warnings") ?? "").split(",").filter(Boolean),
});

/** The field that uploads a PDF. */
export const fileField = (id: string, label: string, hint: string): Html =>
  html`<div class="form-field"><label for="${id}-document">${label}</label>
<p class="hint" id="${id}-hint">${hint}</p>
<input type="file" id="${id}-document" name="document" accept="application/pdf,.pdf" required aria-describedby="${id}-hint"></div>`;
