import { domainToASCII, domainToUnicode } from "node:url";
import type { ScreeningRules } from "./rules-file.ts";

/** The reason why a person must review a request; only the operator sees it. */
export type Reason =
  | "free_mail"
  | "disposable_mail"
  | "listed_mail"
  | "odd_domain"
  | "no_use_case"
  | "short"
  | "unreadable"
  | "keywords"
  | "fillers"
  | "repetition"
  | "links"
  | "off_topic"
  | "unwelcome"
  | "bot_score"
  | "domain_has_trial";

/**
 * The reasons against issuing a key at once (contract, Endpoints, Screening); an empty list means none. Depends only on
 * the request, so that a response doesn't reveal which firms the service knows.
 * @param listed domains of free and disposable mailboxes, in addition to those in the rules
 */
export const screen = (
  rules: ScreeningRules,
  listed: ReadonlySet<string>,
  request: { workEmail: string; useCase: string | null },
): Reason[] => [...screenDomain(rules, listed, request.workEmail), ...screenUseCase(rules, request.useCase ?? "")];

/** A host name and every domain above it with at least two labels: `a.b.co.uk`, `b.co.uk`, `co.uk`. */
const upwards = (labels: readonly string[]): string[] => labels.slice(1).map((_, from) => labels.slice(from).join("."));

// The endings under which many firms register their domains, such as `com.ar`, `org.ua` or `web.id`.
const endingOfMany = /^[a-z]{2,3}\.[a-z]{2}$/;

function screenDomain(rules: ScreeningRules, listed: ReadonlySet<string>, email: string): Reason[] {
  const domain = domainToASCII(email.slice(email.lastIndexOf("@") + 1));
  const labels = domain.split(".");
  if (domain.length > 253 || !/^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+([a-z]{2,}|xn--[a-z0-9-]+)$/.test(domain))
    return ["odd_domain"];
  const names = upwards(labels);
  if (names.some((name) => rules.disposableDomains.has(name))) return ["disposable_mail"];
  if (names.some((name) => rules.freeDomains.has(name)) || isProvider(rules, labels)) return ["free_mail"];
  if (names.some((name) => rules.exemptDomains.has(name))) return [];
  // The list of mailbox domains may contain the ASCII or the Unicode form of a name, so both are looked up.
  const isListed = (name: string) => listed.has(name) || listed.has(domainToUnicode(name));
  return names.some((name) => isListed(name) && (name === domain || !endingOfMany.test(name))) ? ["listed_mail"] : [];
}

/**
 * True if a domain belongs to a mailbox provider in any country: `yahoo.fr`, `yahoo.co.uk` and `mail.yahoo.com.br`, but
 * not `yahoo.acme-title.com`.
 */
function isProvider({ providerNames }: ScreeningRules, labels: readonly string[]): boolean {
  const second = labels.at(-2) ?? "";
  const byCountry = labels.length > 2 && /^(com|co|net|org)$/.test(second) && labels.at(-1)?.length === 2;
  return providerNames.has(byCountry ? (labels.at(-3) ?? "") : second);
}

const linkShape = /https?:|www\./g;
const maxWordLength = 24;

/**
 * True for a word that people don't write. It is too long, repeats a letter three times in a row, or has six consonants
 * in a row. Or it has five or more letters and no vowel.
 */
const isUnreadable = (word: string): boolean =>
  word.length > maxWordLength ||
  /(\p{L})\1\1/u.test(word) ||
  /[bcdfghjklmnpqrstvwxz]{6}/.test(word) ||
  (word.length > 4 && !/[aeiouy]/.test(word.normalize("NFD")));

const percentOf = (part: number, whole: number): number => (100 * part) / whole;

function screenUseCase(rules: ScreeningRules, useCase: string): Reason[] {
  const text = useCase.normalize("NFKC").toLowerCase();
  if (text.trim() === "") return ["no_use_case"];
  const words = text.match(/\p{L}+/gu) ?? [];
  const distinct = new Set(words);
  if (words.length < rules.minWords || distinct.size < rules.minDistinctWords) return ["short"];
  const reasons: Reason[] = [];
  const share = (test: (word: string) => boolean) => percentOf(words.filter(test).length, words.length);
  if (share(isUnreadable) > rules.maxUnreadablePercent) reasons.push("unreadable");
  const common = share((word) => rules.commonWords.has(word));
  if (common < rules.minCommonPercent) reasons.push("keywords");
  if (common > rules.maxCommonPercent) reasons.push("fillers");
  if (isRepetitive(rules, words)) reasons.push("repetition");
  if ((text.match(linkShape)?.length ?? 0) > rules.maxLinks) reasons.push("links");
  const topics = rules.topics.filter((topic) => topic.test(text)).length;
  if (topics < rules.minTopics || !rules.coreTopics.some((topic) => topic.test(text))) reasons.push("off_topic");
  if (rules.unwelcome.some((word) => word.test(text))) reasons.push("unwelcome");
  return reasons;
}

/** True if the text repeats one word too often, or fewer than a third of its first 60 words are different. */
function isRepetitive(rules: ScreeningRules, words: readonly string[]): boolean {
  const counts = new Map<string, number>();
  for (const word of words) if (!rules.commonWords.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  const most = Math.max(0, ...counts.values());
  if (most > 2 && percentOf(most, words.length) > rules.maxSameWordPercent) return true;
  const beginning = words.slice(0, 60);
  return new Set(beginning).size * 3 < beginning.length;
}

/**
 * Domains of free and disposable mailboxes, from the package `free-email-domains-list`. It is 2 MB of script, so it is
 * loaded when the first request is screened.
 */
export async function listedDomains(): Promise<ReadonlySet<string>> {
  const { DOMAINS } = await import("free-email-domains-list/build/src/constants.js");
  return DOMAINS;
}
