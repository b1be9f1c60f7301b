import type { Retraction } from "../../evidence/transparency-log/transparency-log.ts";
import { time } from "../ui/format.ts";
import { type Html, html } from "../ui/render.ts";
import { verdictBanner } from "./verdict.ts";

/** Each reason completes the sentence "On (date), because ...". */
const reasons: Readonly<Record<Retraction["reason"], string>> = {
  superseded: "another document replaces it",
  "wrong-document": "the wrong document was sealed",
  "key-compromise": "others may have had the seal key",
  "court-order": "a court ordered it",
  withdrawn: "it was withdrawn",
};

/** The banner above the verification of a document whose seal the operator retracted. */
export const retractionBanner = ({ reason, retractedAt }: Retraction): Html =>
  verdictBanner(
    "refuted",
    "This seal was retracted",
    html`On ${time(retractedAt)}, because ${reasons[reason]}. The retraction is a line of the public transparency log. Do not rely on the document; ask the firm that sent it.`,
  );
