import { journalNotice, refusalReasons } from "../../../notaries/notaries.ts";
import { card, emptyState, notice, pageHead } from "../../ui/components.ts";
import { shortCode } from "../../ui/format.ts";
import { errorSummary, field, textArea } from "../../ui/forms/fields.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

type Row = { position: number; record: string; sha256: string };

type Shown = {
  at: string;
  kind: "act" | "refusal" | "correction";
  orderCode: string;
  environment: string;
  act?: { act: string; mode: string; principals: { name: string }[] } | null;
  reason?: keyof typeof refusalReasons;
  corrects?: number;
  words?: string;
};

const what = ({ kind, act, reason, corrects, words }: Shown): string => {
  if (kind === "correction") return `Corrects entry ${corrects}: ${words}`;
  const people = act ? act.principals.map(({ name }) => name).join(", ") : "";
  if (kind === "refusal") return `Refused: ${reason ? refusalReasons[reason] : ""}${people && ` (${people})`}`;
  return `${act?.act}, ${act?.mode}: ${people}`;
};

/** A notary's journal. */
export function journalBody(rows: readonly Row[], typed: FormValues = {}, problem?: string): Html {
  return html`${pageHead("Journal", journalNotice)}
${errorSummary(problem)}
<div class="form-actions"><a class="button quiet-button" href="/operator/notary/journal.json" download>Copy as JSON</a><a class="button quiet-button" href="/operator/notary/journal.pdf" download>Copy as a sealed PDF</a></div>
<div class="panels">
${card("entries", "Entries", rows.length === 0 ? emptyState("No entries", "Each act and each refusal becomes one.") : entryTable(rows))}
${rows.length > 0 && card("correct", "Correct an entry", correction(typed))}
</div>`;
}

const entryTable = (rows: readonly Row[]): Html =>
  records(
    "Entries of the journal",
    ["Entry", "When (UTC)", "Order", "What", "SHA-256"].map((label) => ({ label })),
    rows.map(({ position, record, sha256 }) => {
      const entry = JSON.parse(record) as Shown;
      return [
        String(position),
        entry.at.slice(0, 16).replace("T", " "),
        `${shortCode(entry.orderCode)}${entry.environment === "test" ? " (test)" : ""}`,
        html`<span class="breakable">${what(entry)}</span>`,
        html`<code>${sha256.slice(0, 12)}…</code>`,
      ];
    }),
  );

const correction = (typed: FormValues): Html =>
  html`${notice("info", "What was written stays", "A correction is a new entry that names the old one.")}
<form class="form" method="post" action="/operator/notary/journal/correct">
${field({ name: "entry", label: "Entry", required: true, maxLength: 9, value: typed["entry"] ?? "" })}
${textArea({ name: "words", label: "What is right", required: true, rows: 3, maxLength: 2000, value: typed["words"] ?? "" })}
<div class="form-actions"><button type="submit" class="secondary">Enter the correction</button></div></form>`;
