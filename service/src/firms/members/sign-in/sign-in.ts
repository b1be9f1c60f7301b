import { auditLine } from "../../../kernel/audit/audit.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../../kernel/platform/database/database.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newUuid } from "../../../kernel/platform/ids.ts";
import { enqueue } from "../../../kernel/platform/jobs/jobs.ts";
import { isEmail } from "../../../kernel/platform/mail/email.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { clientNetwork } from "../../../kernel/platform/network.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import { type SecretBytes, tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { isCode } from "../../../kernel/platform/text.ts";
import { withPasskey, withRecoveryCode } from "../passkeys/authentication.ts";
import type { PasskeyDeps } from "../passkeys/ceremony.ts";
import { cookieNames, cookieOf } from "../sessions/cookies.ts";
import { beginSession, completeSession } from "../sessions/sessions.ts";
import { findDueSession } from "../sessions/store.ts";
import { isRememberedBrowser, linkToken, linkTokenOf, rememberedBrowserToken } from "../sessions/tokens.ts";
import { findMembership } from "../store.ts";
import * as store from "./store.ts";
import { selectLinkToMail } from "./store.ts";

export type SignInDeps = { db: Database; clock: Clock; secrets: SecretBytes; rowMac: RowMac };

/** The queue of mails with a link; payload `{linkId}`. */
const signInMailQueue = "sign-in-mail";

export const linkSeconds = 10 * 60;
/** A browser is remembered for this long after a sign-in. */
export const rememberedSeconds = 365 * 24 * 3600;
// The most usable mailed links for one email address, so that nobody can flood the mailbox of its owner. `ofKnown`: for
// browsers that have signed in with the address. `ofStrangers`: for all other browsers. `ofNetwork`: for other browsers
// in one network.
const maxMails = { ofNetwork: 5, ofStrangers: 20, ofKnown: 5 };

/** The path of a sign-in link's page. The token in it is a credential. */
const linkPath = (token: string): string => `/sign-in/${token}`;

/**
 * Normalizes a person's email address.
 * @throws ServiceError for an invalid address
 */
export function requireAddress(text: string): string {
  const typed = text.trim();
  const email = typed.toLowerCase();
  // The address is checked before it is lowercased, because lowercasing turns the Kelvin sign into a k.
  if (!isEmail(email) || /[^\x20-\x7e]/.test(typed)) throw invalid("email must be an email address.");
  return email;
}

const start = "/dashboard";

/**
 * A path of the dashboard or the console. Any other text is replaced by the dashboard's start page, so that a sign-in
 * never leads to another site.
 */
export function returnPath(text: string | undefined): string {
  const base = "http://ours.invalid";
  const url = text?.startsWith("/") && text.length <= 500 ? URL.parse(text, base) : null;
  const within = url?.origin === base && /^\/(?:dashboard|operator)(?:\/|$)/.test(url.pathname);
  return within ? url.pathname + url.search : start;
}

/**
 * Mails a sign-in link. Mails no link if the email address already has the maximum number of usable mailed links. Then
 * the links that `shareLinks` selects also work in this browser, so that other people's requests never lock a person
 * out. Known and unknown addresses get the same response and the same work.
 * @param asked.browser the secret in the browser's cookie, to which the link is bound
 * @param asked.proof the token of a browser that has signed in before
 * @throws ServiceError for an invalid address
 */
export async function askForLink(
  { db, clock, secrets, rowMac }: SignInDeps,
  asked: { email: string; browser: string; proof?: string | undefined; ip: string; returnTo: string | undefined },
): Promise<void> {
  const email = requireAddress(asked.email);
  const at = clock();
  const id = newUuid();
  const networkSha256 = tokenSha256(clientNetwork(asked.ip));
  const proven = asked.proof !== undefined && isRememberedBrowser(secrets, email, asked.proof);
  const link = {
    id,
    tokenSha256: tokenSha256(linkToken(secrets, id)),
    browserSha256: tokenSha256(asked.browser),
    email,
    networkSha256,
    returnTo: returnPath(asked.returnTo),
    at,
    expiresAt: new Date(at.getTime() + linkSeconds * 1000),
    proven,
  };
  await db.transaction(async (tx) => {
    await store.lockEmail(tx, email);
    const open = await store.countMailed(tx, email, networkSha256, at);
    const isEnough = proven
      ? open.proven >= maxMails.ofKnown
      : open.network >= maxMails.ofNetwork || open.strangers >= maxMails.ofStrangers;
    if (isEnough) return void (await store.shareLinks(tx, rowMac, link));
    await store.insertLink(tx, rowMac, link);
    await enqueue(tx, signInMailQueue, { linkId: id });
  });
}

/**
 * Creates a link for the operator at the command line. It is not mailed and not bound to a browser.
 * @returns its path
 */
export async function makeOperatorLink({
  db,
  clock,
  secrets,
  rowMac,
}: SignInDeps): Promise<{ path: string; expiresAt: Date }> {
  const [at, id] = [clock(), newUuid()];
  const token = linkToken(secrets, id);
  const expiresAt = new Date(at.getTime() + linkSeconds * 1000);
  const link = { id, tokenSha256: tokenSha256(token), browserSha256: null, email: null, networkSha256: null };
  await store.insertLink(db, rowMac, { ...link, proven: false, returnTo: "/operator", at, expiresAt });
  return { path: `/operator/sign-in/${token}`, expiresAt };
}

const unusable = (): ServiceError => new ServiceError("not_found", "This link cannot be used.");

function secretsOf(token: string, browser: string | null): store.LinkSecrets {
  if (!isCode(token)) throw unusable();
  return { tokenSha256: tokenSha256(token), browserSha256: browser === null ? null : tokenSha256(browser) };
}

/**
 * Returns the facts about a usable link, for the page that asks for confirmation.
 * @param browser the secret in the browser's cookie; null for an operator's link
 * @throws ServiceError for a link that can't be used
 */
export async function lookAtLink({ db, clock, rowMac }: SignInDeps, token: string, browser: string | null) {
  const link = await store.findLink(db, rowMac, secretsOf(token, browser), clock());
  if (!link) throw unusable();
  return link;
}

/**
 * Consumes a link and begins a session.
 * @param browser null for an operator's link
 * @returns the session's token, whether its second factor is due, the path to open next, and the known-browser token
 * (null for an operator's link)
 * @throws ServiceError, with one message, when the link was used, has expired or belongs to another browser
 */
export async function useLink(
  { db, clock, secrets, rowMac }: SignInDeps,
  token: string,
  browser: string | null,
  userAgent: string | undefined,
): Promise<{ sessionToken: string; factorDue: boolean; returnTo: string; browserToken: string | null }> {
  const linkSecrets = secretsOf(token, browser);
  return db.transaction(async (tx) => {
    const at = clock();
    const link = await store.consumeLink(tx, rowMac, linkSecrets, at);
    if (!link) throw unusable();
    const userId = link.email === null ? null : await store.upsertUser(tx, link.email, at);
    const user = userId === null ? null : await store.selectAccess(tx, rowMac, userId, at);
    const environment = user?.live ? "live" : "test";
    const factorDue = user?.hasPasskey ?? false;
    const sessionToken = await beginSession(tx, rowMac, {
      userId,
      environment,
      userAgent,
      at,
      factorDue,
    });
    const actor = user ? `member:${user.userId}` : "operator";
    if (!factorDue)
      await tx.query(auditLine({ at, action: "session.begun", actor, partnerId: user?.partnerId, detail: {} }));
    const browserToken = link.email === null ? null : rememberedBrowserToken(secrets, link.email);
    // An operator without a firm is sent to the console, because the dashboard has nothing for a person without a firm.
    const isLost = link.returnTo === start && user?.isOperator && user.partnerId === null;
    return { sessionToken, factorDue, returnTo: isLost ? "/operator" : returnPath(link.returnTo), browserToken };
  });
}

/** Mails sign-in links. Skips expired and used ones. */
export const signInMail = defineMail({
  queue: signInMailQueue,
  // A link expires after 10 minutes, so later attempts are pointless.
  maxAttempts: 10,
  load: ({ linkId }: { linkId: string }, { db, rowMac, clock }: MailDeps) =>
    selectLinkToMail(db, rowMac, linkId, clock()),
  write({ email, tokenSha256 }, { linkId }, { secrets, baseUrl }) {
    // Tries all configured secret keys, because another node may have made the link with another key than this node's
    // current one.
    const token = linkTokenOf(secrets, linkId, tokenSha256);
    if (token === null) throw new Error("the link was made with a key that is not in SECRETS_KEY or SECRETS_KEYS_OLD");
    return {
      id: `sign-in:${linkId}`,
      to: email,
      subject: "Your sign-in link",
      greeting: "Hello,",
      lines: [
        "We received a request to sign in to SignSealShip with this email address. The link works once, within 10 minutes, and only in the browser that requested it.",
      ],
      link: { label: "Sign in", url: baseUrl + linkPath(token) },
      caution:
        "If you did not request it, you can ignore this email: the link does not work in a browser that did not request one.",
    };
  },
});

/** A session that began with a mailed link. It grants no access before its second factor. */
type DueSession = { id: string; userId: string; email: string };

/**
 * Finds the session of a `Cookie` header, if its second factor is due. Returns null without such a session, or when it
 * has expired.
 */
export async function dueSessionOf(
  { db, clock, rowMac }: { db: Sql; clock: Clock; rowMac: RowMac },
  cookie: string | undefined,
): Promise<DueSession | null> {
  const token = cookieOf(cookie, cookieNames.session);
  return token === undefined ? null : findDueSession(db, rowMac, tokenSha256(token), clock());
}

/**
 * Signs in with a passkey.
 * @param text the browser's response
 * @returns the session's new token
 * @throws ServiceError
 */
export const signInByPasskey = (deps: PasskeyDeps, due: DueSession, text: string): Promise<string> =>
  withPasskey(deps, due, text, (tx, at) => finish(tx, deps, due, { at, by: "passkey" }));

/**
 * Signs in with a recovery code, for a person who has lost the passkey.
 * @returns the session's new token
 * @throws ServiceError
 */
export const signInByRecoveryCode = (deps: PasskeyDeps, due: DueSession, typed: string): Promise<string> =>
  withRecoveryCode(deps, due, typed, (tx, at) => finish(tx, deps, due, { at, by: "recovery code" }));

async function finish(
  tx: Tx,
  { rowMac }: PasskeyDeps,
  { id: sessionId, userId }: DueSession,
  { at, by }: { at: Date; by: "passkey" | "recovery code" },
): Promise<string> {
  const token = await completeSession(tx, rowMac, { sessionId, at, passkeyAt: by === "passkey" ? at : null });
  const partnerId = (await findMembership(tx, rowMac, userId, at))?.partnerId;
  await tx.query(auditLine({ at, action: "session.begun", actor: `member:${userId}`, partnerId, detail: { by } }));
  return token;
}
