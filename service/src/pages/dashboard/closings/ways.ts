import { isLanguage } from "../../../kernel/platform/languages.ts";
import type { TemplateContent } from "../../../orders/templates/templates.ts";
import { personNumber } from "./person-label.ts";

type Role = TemplateContent["roles"][number];

/**
 * How a person signs: the turn (`routing`), the proof of identity (`auth`), and the language. `person` is the person's
 * number in the form.
 */
type SignerWay = { person: number; routing: number; auth: string; language: string };

/** A `SignerWay` as the form sends it. Every member except `person` may be missing. */
type SentWay = Pick<SignerWay, "person"> & Partial<SignerWay>;

/** The members of a `SignerWay` that `wayWords` describes. */
type Way = Partial<Pick<SignerWay, "routing" | "auth" | "language">>;

/**
 * Parses a JSON list of objects.
 * @returns null for any other text. If the text of the placed fields is malformed, the API gets it unchanged and
 * rejects it
 */
export function listIn(written: string): { signer?: unknown }[] | null {
  try {
    const list: unknown = JSON.parse(written);
    const isList = Array.isArray(list) && list.every((each) => typeof each === "object" && each !== null);
    return isList ? list : null;
  } catch {
    return null;
  }
}

/** The ways (turn, code and language) of the people who sign a document. Empty for a malformed text. */
export function waysIn(written: string): SentWay[] {
  return (listIn(written) ?? []).map((each) => {
    const { person, routing, auth, language } = each as Partial<SignerWay>;
    return {
      person: Number(person),
      ...(routing && { routing }),
      ...(auth && { auth }),
      ...(language && { language }),
    };
  });
}

/**
 * The signers for whom the template's ways (turn, code and language) say nothing, because they were ticked later. They
 * would sign at once, by a link, although the template requires a turn or a code.
 */
export function withoutWay<Signer extends { row: string }>(written: string, signers: readonly Signer[]): Signer[] {
  const ways = waysIn(written);
  return ways.length === 0 ? [] : signers.filter(({ row }) => !ways.some(({ person }) => person === personNumber(row)));
}

const haveTurns = (ways: readonly Way[]): boolean => ways.some(({ routing }) => routing !== ways[0]?.routing);

/**
 * The template's ways (turn, code and language) as JSON. `numbers` has the number of the person who got each role.
 * Empty when everybody signs at once, by a link, in English.
 */
export function waysText(roles: readonly Role[], numbers: readonly number[]): string {
  const isPlain = ({ auth, language }: Role) => auth === "link" && language === "en";
  if (roles.every(isPlain) && !haveTurns(roles)) return "";
  const ways = roles.map(
    ({ routing, auth, language }, index): SignerWay => ({
      person: numbers[index] ?? 0,
      routing,
      auth,
      language,
    }),
  );
  return JSON.stringify(ways);
}

const languageNames = new Intl.DisplayNames("en", { type: "language" });

/** How a person signs, in words. Empty for the default: at once, by a link, in English. */
export function wayWords({ routing, auth, language }: Way, all: readonly Way[]): string {
  const words = [
    ...(haveTurns(all) && routing ? [`turn ${routing}`] : []),
    ...(auth === "mail_code" ? ["with a mailed code"] : []),
    ...(isLanguage(language) && language !== "en" ? [`in ${languageNames.of(language)}`] : []),
  ];
  return words.join(", ");
}
