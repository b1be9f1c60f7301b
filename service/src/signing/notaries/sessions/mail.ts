import { createHmac } from "node:crypto";
import { readAnsweringFirm } from "../../../firms/members/members.ts";
import { minuteMs } from "../../../kernel/platform/clock.ts";
import { isLanguage, type Language } from "../../../kernel/platform/languages.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName } from "../../../kernel/platform/mail/plain-name.ts";
import { derivedToken, deriveKey, type SecretBytes, tokenOfHash } from "../../../kernel/platform/secrets.ts";
import { peopleOf } from "../claims/orders.ts";
import { findNotary } from "../commissions/store.ts";
import { findLive, findPerson, type LivePerson } from "./store.ts";
import { liveMailWords } from "./words.ts";

/** Derives the token of a person's room link. */
export const roomTokenUnder = (secrets: SecretBytes, personId: string): string =>
  derivedToken(deriveKey(secrets, "live-link"), personId);

/**
 * The token of a person's room link, derived again. Tries each of the secrets until the token has the stored hash;
 * undefined if none gives it.
 */
export const roomTokenOf = (secrets: SecretBytes, { id, tokenSha256 }: LivePerson): string | undefined =>
  tokenOfHash(secrets, tokenSha256, (key) => roomTokenUnder(key, id));

/** Derives the six digits of a code from the code's id. The digits are not stored. */
export function roomCode(secrets: SecretBytes, codeId: string): string {
  const random = createHmac("sha256", deriveKey(secrets, "live-code")).update(codeId).digest().readUIntBE(0, 6);
  return String(random % 1_000_000).padStart(6, "0");
}

export const codeMs = 10 * minuteMs;

type LiveMail = {
  personId: string;
  /** The id of the code to mail; null for a mail with the link. */
  codeId: string | null;
  /**
   * The time of the mail that repeats the link after the person's email address was corrected. Absent for the first
   * mail.
   */
  at?: string;
};

/**
 * The mail with the link of a person's room, or with a code for it. A signer's mail goes to the order's current address
 * of that signer; a third person's mail goes to the address in the invitation.
 */
export const liveMail = defineMail({
  queue: "live-session-mail",
  async load({ personId, codeId }: LiveMail, deps: MailDeps) {
    const { db, rowMac, secrets, clock } = deps;
    const person = await findPerson(db, personId);
    const session = person && (await findLive(db, person.sessionId));
    if (!person || !session || session.state === "ended") return null;
    const isOld = person.codeId !== codeId || clock().getTime() - (person.codeSentAt?.getTime() ?? 0) > codeMs;
    if (codeId !== null && isOld) return null;
    const [order, notary] = await Promise.all([
      peopleOf({ db, rowMac }, session.orderId),
      findNotary(db, session.notaryId),
    ]);
    const { name, email, language: own } = person;
    const to = email === null ? order?.signers[person.n - 1] : { name, email, language: own };
    const token = roomTokenOf(secrets, person);
    if (!order || !to || !notary || token === undefined) return null;
    const wanted = to.language ?? "";
    const language: Language = isLanguage(wanted) ? wanted : "en";
    const code = codeId === null ? null : roomCode(secrets, codeId);
    const { environment } = order;
    const firm = await readAnsweringFirm(deps, order);
    return { name: to.name, to: to.email, language, notary: notary.commissionName, token, code, environment, firm };
  },
  write({ name, to, language, notary, token, code, environment, firm }, { personId, codeId, at }, { baseUrl }) {
    const words = liveMailWords[language];
    const { subject } = code === null ? words.link : words.code;
    const by = isPlainName(notary) ? notary : null;
    return {
      id: `live:${personId}:${codeId ?? "link"}${at === undefined ? "" : `:${at}`}`,
      to,
      environment,
      subject,
      language,
      firm,
      caution: words.caution,
      greeting: words.hello(isPlainName(name) ? name : null),
      lines: code === null ? [words.link.line(by), words.link.have] : [words.code.line(code), words.code.minutes],
      // The code must be entered in the browser that requested it, so the mail with a code has no link to the room.
      link: code === null ? { label: words.link.open, url: `${baseUrl}/notary-room/${token}?lang=${language}` } : null,
    };
  },
});
