import { fail, fields, type Place, text } from "../../../orders/pricing/pricing.ts";
import type { ActKind, Principal } from "../acts/act.ts";
import type { ActMode } from "../commissions/expiry.ts";
import { placeText } from "../places.ts";

/**
 * The modes in which the service draws a notary's certificate (the statement about the act). For acts on paper the
 * notary writes it by hand.
 */
export const certificateModes = ["ron", "ipen"] as const satisfies readonly ActMode[];
type CertificateMode = (typeof certificateModes)[number];

/**
 * The wording that a U.S. state prescribes for a notary's certificate of one kind of act, by mode. In a mode without a
 * wording, the certificate shows only the facts.
 */
export type Wording = { readonly [M in CertificateMode]?: string };

const slots = ["date", "names", "identification", "places", "knowledge"] as const;
type Slot = (typeof slots)[number];
const required: readonly Slot[] = ["date", "names"];
/** Facts that are known only for acts by audio and video. */
const remoteOnly: readonly Slot[] = ["places", "knowledge"];
const maxCharacters = 600;

/** The reason why a text can't be a certificate's wording in this mode; null when it can. */
export function wordingFault(words: string, mode: CertificateMode): string | null {
  if (words.length > maxCharacters) return `must have at most ${maxCharacters} characters`;
  const named = [...words.matchAll(/\{([^}]*)\}?/g)].map(([, slot = ""]) => slot);
  const unknown = named.find((slot) => !slots.some((each) => each === slot));
  if (unknown !== undefined) return `names {${unknown}}, which is not one of the slots (${slots.join(", ")})`;
  const remote = remoteOnly.find((slot) => mode !== "ron" && named.includes(slot));
  if (remote) return `must not have {${remote}}, which is for acts by audio and video`;
  const missing = required.find((slot) => !named.includes(slot));
  return missing ? `must have {${missing}}` : null;
}

/**
 * Reads the wording that a U.S. state prescribes for notaries' certificates, at most one text for each mode.
 * @throws DataFileError naming the line, the field and the rule
 */
export function readWording(place: Place): Wording {
  const entries = fields(place, { required: [], optional: certificateModes });
  const read = certificateModes.flatMap((mode) => {
    const each = entries[mode];
    if (!each) return [];
    const words = text(each, maxCharacters);
    const fault = wordingFault(words, mode);
    if (fault) fail(each, fault);
    return [[mode, words] as const];
  });
  if (read.length === 0) fail(place, `must have words for one of ${certificateModes.join(", ")}`);
  return Object.fromEntries(read);
}

/**
 * The facts about a principal that a certificate states. Before the act, it is not known how the principal will be
 * identified.
 */
export type Named = Pick<Principal, "name"> & Partial<Pick<Principal, "basis" | "credential" | "place" | "knows">>;

type About = { startedAt: string; principals: readonly Named[]; zone: string | null };

/** The text of an act's certificate: the state's wording with the facts filled in. */
export const certificateOf = (words: string, { startedAt, principals, zone }: About): string =>
  words
    .replaceAll("{date}", dateIn(zone, new Date(startedAt)))
    .replaceAll("{names}", listed(principals.map(({ name }) => name)))
    .replaceAll("{identification}", ofEach(principals, howIdentified))
    .replaceAll(
      "{places}",
      ofEach(principals, ({ place }) => (place ? placeText(place) : "where the signer states to be")),
    )
    .replaceAll(
      "{knowledge}",
      ofEach(principals, (each) => each.knows ?? howIdentified(each)),
    );

/** The day of the act in the notary's time zone. If that zone is unknown, the text gives the day in UTC and says so. */
export function dateIn(zone: string | null, at: Date, language = "en-US"): string {
  const day = new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: zone ?? "UTC" }).format(at);
  return zone === null ? `${day} (UTC)` : day;
}

export const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** Words that state a fact for the principals: once if the fact is the same for all, otherwise once for each name. */
function ofEach(principals: readonly Named[], factOf: (principal: Named) => string): string {
  const facts = principals.map((each) => ({ name: each.name, fact: factOf(each) }));
  const [first] = facts;
  if (first && facts.every(({ fact }) => fact === first.fact)) return first.fact;
  return facts.map(({ name, fact }) => `${name}: ${fact}`).join("; ");
}

function howIdentified({ basis, credential }: Named): string {
  if (basis === "personal_knowledge") return "personally known";
  if (basis === "credible_witness") return "identified by the oath of a credible witness";
  return `produced identification: ${credential?.type ?? "a credential of the kind that the signer shows"}`;
}

/**
 * The wording that a U.S. state prescribes for the certificate of this kind of act in this mode. Null when it is
 * unknown, and for acts on paper.
 */
export const wordsFor = (
  certificates: { readonly [A in ActKind]?: { value: Wording } },
  act: ActKind,
  mode: ActMode,
): string | null => {
  const drawn = certificateModes.find((each) => each === mode);
  return (drawn && certificates[act]?.value[drawn]) ?? null;
};
