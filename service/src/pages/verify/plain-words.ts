import { plainCoverage } from "@signsealship/evidence/manifest";
import { timeText } from "../ui/format.ts";

const instant = /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;

/**
 * Rewords messages of the evidence libraries for people: with times as pages write them, and without names of JSON
 * members.
 */
export const plainWords = (text: string): string =>
  plainCoverage[text] ?? text.replace(instant, (at) => timeText(new Date(at)));
