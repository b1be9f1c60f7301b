/** The words that the notary speaks at the steps of a run sheet, with the facts of the act. */
import { hash } from "node:crypto";
import { type ActKind, actWords } from "../acts/act.ts";
import type { Claimed } from "../claims/claims.ts";
import { dateIn } from "../eligibility/certificates.ts";
import { filled, type Words } from "../sheets/scripts.ts";
import { nameOf, type Turn } from "../sheets/steps.ts";
import type { Sheet } from "../sheets/store.ts";

/**
 * The notary's words at a step, in English and, if needed, in Spanish. `spanish` is null if the step's signer doesn't
 * speak Spanish. At a step of the whole act, `spanish` is null if no signer speaks Spanish.
 */
export type Spoken = { words: string; spanish: string | null };

const spanishActs: Readonly<Record<ActKind, string>> = {
  acknowledgment: "reconocimiento de firma",
  jurat: "declaración jurada",
  witnessing: "firma en presencia del notario",
  oath: "juramento o afirmación",
  copy: "copia certificada",
};

/**
 * Returns a function that gives the notary's words at a step.
 * @param zone the time zone for the date of the act; null when the notary has set no appointment hours
 */
export function spokenAt(
  { notary, order, title }: Pick<Claimed, "notary" | "order" | "title">,
  sheet: Sheet,
  { zone, now }: { zone: string | null; now: Date },
): (turn: Turn) => Spoken {
  const place = { notary: notary.commissionName, county: notary.county, state: notary.state };
  const { act } = sheet.script;
  const document = title ?? order.reference;
  return ({ step, signer }) => {
    const about = { ...place, signer: nameOf(sheet, signer) };
    const hearers = order.signers.filter((_, index) => signer === null || signer === index + 1);
    const english = { act: actWords[act], document: document ?? "the document", date: dateIn(zone, now) };
    const request = requestOf(sheet, signer);
    const spanish = { act: spanishActs[act], document: document ?? "el documento", date: dateIn(zone, now, "es-US") };
    return {
      words: filled(step.words.en, { ...about, ...english, request: request?.en ?? "" }),
      spanish: hearers.some(({ language }) => language === "es")
        ? filled(step.words.es, { ...about, ...spanish, request: request?.es ?? "" })
        : null,
    };
  };
}

/**
 * The movement that the notary asks a signer to make. A film or a generated picture seldom follows such a request. The
 * sheet's random id decides which movement it is. So signers can't predict it, and a reload doesn't change it.
 */
function requestOf({ id, run, script: { requests = [] } }: Sheet, signer: number | null): Words | undefined {
  const digest = hash("sha256", `${id} ${run} ${signer}`, "buffer");
  return requests[digest.readUInt32BE() % Math.max(1, requests.length)];
}
