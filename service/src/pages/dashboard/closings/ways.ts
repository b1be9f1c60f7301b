import { isLanguage } from "../../../kernel/platform/languages.ts";
import type { TemplateContent } from "../../../orders/templates/templates.ts";
import { personNumber } from "./person-label.ts";

type Role = TemplateContent["roles"][number];

/** The turn of a person, how the person is identified, and in which language. `person` is a person's number. */
type SignerWay = { person: number; routing: number; auth: string; language: string };

/** A way as the form sends it: it may lack anything but the person. */
type SentWay = Pick<SignerWay, "person"> & Partial<SignerWay>;

/** The members of a way that its words depend on. */
type Way = Partial<Pick<SignerWay, "routing" | "auth" | "language">>;

/** @returns null for a text that is not a list of objects; the rules of orders refuse such a text of placed fields */
export function listIn(written: string): { signer?: unknown }[] | null {
  try {
    const list: unknown = JSON.parse(written);
    const isList = Array.isArray(list) && list.every((each) => typeof each === "object" && each !== null);
    return isList ? list : null;
  } catch {
    return null;
  }
}

/** The ways of the people who sign a document. A text that is not such a list counts as none. */
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
 * The signers for whom a template's ways say nothing, because they were ticked after it was used. They would sign at
 * once, by a link, although the template asks for a turn or a code.
 */
export function withoutWay<Signer extends { row: string }>(written: string, signers: readonly Signer[]): Signer[] {
  const ways = waysIn(written);
  return ways.length === 0 ? [] : signers.filter(({ row }) => !ways.some(({ person }) => person === personNumber(row)));
}

const haveTurns = (ways: readonly Way[]): boolean => ways.some(({ routing }) => routing !== ways[0]?.routing);

/** Empty when everybody signs at once, by a link, in English. */
export function waysText(roles: readonly Role[], numbers: readonly number[]): string {
  const isPlain = ({ auth, language }: Role) => auth === "link" && language === "en";
  if (roles.every(isPlain) && !haveTurns(roles)) return "";
  const ways = roles.map(
    ({ routing, auth, language }, index): SignerWay => ({
      ...{ person: numbers[index] ?? 0, routing, auth, language },
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
