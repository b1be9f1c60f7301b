import { plainCoverage } from "@signsealship/evidence/manifest";
import { timeText } from "../ui/format.ts";

const instant = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

/** Sentences of the evidence libraries, changed for people: times as pages write them, and no names of JSON members. */
export const plainWords = (text: string): string =>
  plainCoverage[text] ?? text.replace(instant, (at) => timeText(new Date(at)));
