/** The words that the notary speaks at the steps of a sheet, with the facts of the act. */
import { type ActKind, actWords } from "../acts/act.ts";
import type { Claimed } from "../desk/desk.ts";
import { dateIn } from "../eligibility/certificates.ts";
import { filled } from "./scripts.ts";
import { nameOf, type Turn } from "./steps.ts";
import type { Sheet } from "./store.ts";

/** `spanish` is null unless the signer of the step, or one of all signers for a step of the whole act, speaks Spanish. */
export type Spoken = { words: string; spanish: string | null };

const spanishActs: Readonly<Record<ActKind, string>> = {
  acknowledgment: "reconocimiento de firma",
  jurat: "declaración jurada",
  witnessing: "firma en presencia del notario",
  oath: "juramento o afirmación",
  copy: "copia certificada",
};

/** @param zone the time zone of the notary's hours; null when unknown */
export function spokenAt(
  { notary, order }: Pick<Claimed, "notary" | "order">,
  sheet: Sheet,
  { zone, now }: { zone: string | null; now: Date },
): (turn: Turn) => Spoken {
  const place = { notary: notary.commissionName, county: notary.county, state: notary.state };
  const { act } = sheet.script;
  const document = order.reference ?? order.docSlug;
  return ({ step, signer }) => {
    const about = { ...place, signer: nameOf(sheet, signer) };
    const hearers = order.signers.filter((_, index) => signer === null || signer === index + 1);
    const english = { act: actWords[act], document: document ?? "the document", date: dateIn(zone, now) };
    const spanish = { act: spanishActs[act], document: document ?? "el documento", date: dateIn(zone, now, "es-US") };
    return {
      words: filled(step.words.en, { ...about, ...english }),
      spanish: hearers.some(({ language }) => language === "es")
        ? filled(step.words.es, { ...about, ...spanish })
        : null,
    };
  };
}
