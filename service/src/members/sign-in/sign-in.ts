import { auditLine } from "../../audit/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/database/database.ts";
import { invalid, ServiceError } from "../../platform/errors.ts";
import { newUuid } from "../../platform/ids.ts";
import { enqueue } from "../../platform/jobs/jobs.ts";
import { isEmail } from "../../platform/mail/email.ts";
import { clientNetwork } from "../../platform/network.ts";
import type { RowMac } from "../../platform/row-mac.ts";
import type { SecretBytes } from "../../platform/secrets.ts";
import { isCode } from "../../platform/text.ts";
import { beginSession } from "../sessions/sessions.ts";
import { isKnownBrowser, knownBrowserToken, linkToken, tokenSha256 } from "../sessions/tokens.ts";
import * as store from "./store.ts";

export type SignInDeps = { db: Database; clock: Clock; secrets: SecretBytes; rowMac: RowMac };

/** The queue of mails that carry a link; the payload is `{linkId}`. */
export const signInMailQueue = "sign-in-mail";

export const linkSeconds = 10 * 60;
/** For so long a browser is remembered that has signed in. */
export const knownSeconds = 365 * 24 * 3600;
// Mails of an address whose links are open; more would only annoy its owner. Browsers that have signed in with it have a share that
// nobody else can use up.
const maxMails = { ofNetwork: 5, ofStrangers: 20, ofKnown: 5 };

/** The page of a link; its token is a credential. */
export const linkPath = (token: string): string => `/sign-in/${token}`;

/** The address that a person is known by. @throws ServiceError when it is none that we mail to */
export function requireAddress(text: string): string {
  const typed = text.trim();
  const email = typed.toLowerCase();
  // Before it is lowercase: a Kelvin sign would become a k.
  if (!isEmail(email) || /[^\x20-\x7e]/.test(typed)) throw invalid("email must be a mail address.");
  return email;
}

const start = "/dashboard";

/** A path of the dashboard or the console, or the dashboard's start for anything else: nobody is led to another site. */
export function returnPath(text: string | undefined): string {
  const base = "http://ours.invalid";
  const url = text?.startsWith("/") && text.length <= 500 ? URL.parse(text, base) : null;
  const within = url?.origin === base && /^\/(?:dashboard|operator)(?:\/|$)/.test(url.pathname);
  return within ? url.pathname + url.search : start;
}

/**
 * Has a link mailed to the address; when enough were mailed, those that are open work in this browser, too. So nobody is kept out by
 * what others asked for. The answer and the work are the same for known and unknown addresses.
 * @param asked.browser the secret in the cookie of the browser that asks: no other can use the link
 * @param asked.known what the browser kept from signing in before
 * @throws ServiceError when it is no mail address.
 */
export async function askForLink(
  { db, clock, secrets, rowMac }: SignInDeps,
  asked: { email: string; browser: string; known?: string | undefined; ip: string; returnTo: string | undefined },
): Promise<void> {
  const email = requireAddress(asked.email);
  const at = clock();
  const id = newUuid();
  const networkSha256 = tokenSha256(clientNetwork(asked.ip));
  const proven = asked.known !== undefined && isKnownBrowser(secrets, email, asked.known);
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
      ? open.known >= maxMails.ofKnown
      : open.network >= maxMails.ofNetwork || open.strangers >= maxMails.ofStrangers;
    if (isEnough) return void (await store.shareLinks(tx, rowMac, link));
    await store.insertLink(tx, rowMac, link);
    await enqueue(tx, signInMailQueue, { linkId: id });
  });
}

/** A link for the operator at the command line: it needs no mail and is bound to no browser. @returns its path. */
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

/** What a link would do, for the page that asks before it does it. @param browser null for the operator's. @throws ServiceError */
export async function lookAtLink({ db, clock, rowMac }: SignInDeps, token: string, browser: string | null) {
  const link = await store.findLink(db, rowMac, secretsOf(token, browser), clock());
  if (!link) throw unusable();
  return link;
}

/**
 * Uses a link up and begins a session.
 * @param browser null for the operator's.
 * @returns the session's token, whether its second factor is due, where to go, and what the browser keeps to be known again; null for the operator's.
 * @throws ServiceError when it was used, has expired or belongs to another browser, all alike.
 */
export async function useLink(
  { db, clock, secrets, rowMac }: SignInDeps,
  token: string,
  browser: string | null,
  userAgent: string | undefined,
): Promise<{ sessionToken: string; factorDue: boolean; returnTo: string; known: string | null }> {
  const linkSecrets = secretsOf(token, browser);
  return db.transaction(async (tx) => {
    const at = clock();
    const link = await store.takeLink(tx, rowMac, linkSecrets, at);
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
    const known = link.email === null ? null : knownBrowserToken(secrets, link.email);
    // Who runs the service and belongs to no firm has nothing to do in the dashboard.
    const isLost = link.returnTo === start && user?.isOperator && user.partnerId === null;
    return { sessionToken, factorDue, returnTo: isLost ? "/operator" : link.returnTo, known };
  });
}
