import { facts } from "../ui/components.ts";
import { time } from "../ui/format.ts";
import { type IconName, icon } from "../ui/icons.ts";
import { type Html, html } from "../ui/render.ts";
import { plainWords } from "./plain-words.ts";

type Words = Html | string;

/**
 * `yes` if a document is the same as when it was sealed, `no` if it has changed, `failed` if its verification failed,
 * `unchecked` if nothing was compared.
 */
type Unchanged = "yes" | "no" | "failed" | "unchecked";

/** The most important facts for a reader, in a few lines. */
export type Summary = {
  document: Words;
  firm: string | null;
  /** The signatures from before the seal. Absent or null if there are none, and if the file failed verification. */
  signatures?: Words | null;
  sealed: Words;
  sealedBy: Words;
  unchanged: { answer: Unchanged; why: Words };
  download: Words;
};

const answers: Readonly<Record<Unchanged, { shape: IconName; words: string; look: string }>> = {
  yes: { shape: "done", words: "Yes", look: "holds" },
  no: { shape: "failed", words: "No", look: "fails" },
  failed: { shape: "failed", words: "Failed", look: "fails" },
  unchecked: { shape: "unchecked", words: "Not checked", look: "unchecked" },
};

/**
 * The summary: the document, the firm, the signers, whether the document changed, the time and the author of its seal,
 * and the download link.
 */
export function summaryView({
  document,
  firm,
  signatures = null,
  sealed,
  sealedBy,
  unchanged,
  download,
}: Summary): Html {
  const { shape, words, look } = answers[unchanged.answer];
  return html`<div class="summary">${facts([
    ["Document", document],
    ["Firm", firm ?? html`<span class="quiet-text">Not named. Ask the person who gave you the document.</span>`],
    ["Signatures", signatures],
    ["Sealed", sealed],
    ["Sealed by", sealedBy],
    [
      "Unchanged since",
      html`<span class="answer ${look}">${icon(shape)}<strong>${words}</strong></span> <span class="answer-why">${typeof unchanged.why === "string" ? plainWords(unchanged.why) : unchanged.why}</span>`,
    ],
    ["Download", download],
  ])}</div>`;
}

/** Shows a time with a short note of its source in small print. */
export const sealedAt = (at: Date, word: Words): Html => html`${time(at)} <span class="quiet-text">${word}</span>`;

/** Printing needs JavaScript, so the button is hidden without it. */
export const printButton = html`<button type="button" class="print-button secondary outline with-script" data-print>Print this result</button>`;
