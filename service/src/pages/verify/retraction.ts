import { retractionMeanings } from "@signsealship/evidence/log";
import type { Retraction } from "../../evidence/transparency-log/transparency-log.ts";
import { time } from "../ui/format.ts";
import { type Html, html } from "../ui/render.ts";
import { verdictBanner } from "./verdict.ts";

/** The banner above the verification of a document whose seal the operator retracted. */
export const retractionBanner = ({ reason, retractedAt }: Retraction): Html =>
  verdictBanner(
    "refuted",
    "This seal was retracted",
    html`On ${time(retractedAt)}, because ${retractionMeanings[reason]}. The retraction is a line of the public transparency log. Do not rely on the document; ask the firm that sent it.`,
  );
