/**
 * The optional six-digit code of a delivery's link, which is mailed to the recipient. A person who gets only the link,
 * such as from a forwarded or scanned mail, can't open the documents.
 */
import { readAnsweringFirm } from "../../firms/members/members.ts";
import { hourMs, minuteMs } from "../../kernel/platform/clock.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName } from "../../kernel/platform/mail/plain-name.ts";
import { nameIn } from "../../kernel/platform/mail/template.ts";
import { isCodeUnder, type SecretBytes } from "../../kernel/platform/secrets.ts";
import * as codes from "./code-store.ts";
import { type DeliveryDeps, deliveryPath, type Link, linkedDelivery, macOf, sessionUnder } from "./link.ts";
import * as store from "./store.ts";

const codeMs = 10 * minuteMs;
const sessionMs = 12 * hourMs;
const maxFailures = 5;
/** Limits the codes mailed for a link, so that a stranger with the link can't flood the recipient's mailbox. */
const maxCodes = 20;

function digitsUnder(key: SecretBytes, codeId: string): string {
  const random = macOf(key, "delivery-code", codeId).readUIntBE(0, 6);
  return String(random % 1_000_000).padStart(6, "0");
}

const locked = () =>
  new ServiceError("conflict", "A wrong code was typed five times: the link is locked. Ask its sender for another.");

/**
 * Mails a new code to the recipient; the earlier code stops working.
 * @throws ServiceError `not_found` in the same cases as `linkedDelivery`. `conflict` for a link that is locked or asks
 * for no code. Also `conflict` within a minute after the last code, and for the 21st code
 */
export async function mailDeliveryCode(deps: DeliveryDeps, link: Link): Promise<void> {
  const { id } = await linkedDelivery(deps, link);
  await deps.db.transaction(async (tx) => {
    const at = deps.clock();
    const code = await codes.lockCode(tx, id);
    if (!code) throw new ServiceError("conflict", "This link asks for no code.");
    if (code.lockedAt) throw locked();
    if (code.askedAt && at.getTime() - code.askedAt.getTime() < minuteMs)
      throw new ServiceError(
        "conflict",
        "A code was mailed less than a minute ago. Look for it, also in the spam folder.",
      );
    if (code.asked >= maxCodes)
      throw new ServiceError("conflict", "Too many codes were mailed. Ask the sender for another link.");
    const codeId = newUuid();
    await codes.updateCode(tx, id, { ...code, codeId, askedAt: at, asked: code.asked + 1 });
    await deliveryCodeMail.enqueue(tx, { deliveryId: id, codeId });
  });
}

/**
 * Tries a code. A code works once, and the fifth wrong attempt in a row locks the link for good. Attempts are counted
 * only while a code is valid. Otherwise a stranger with the link could lock it before the recipient asks for a code.
 * @returns the session for the browser, and its end; `wrong` for a wrong code, `ended` while no code is valid
 * @throws ServiceError `not_found` in the same cases as `linkedDelivery`; `conflict` for a link that is locked or asks
 * for no code
 */
export async function enterDelivery(
  deps: DeliveryDeps,
  link: Link,
  { typed, network }: { typed: string; network: string | null },
): Promise<{ session: string; expiresAt: Date } | "wrong" | "ended"> {
  const { id } = await linkedDelivery(deps, link);
  const result = await deps.db.transaction(async (tx) => {
    const at = deps.clock();
    const code = await codes.lockCode(tx, id);
    if (!code || code.lockedAt) throw locked();
    const { codeId, askedAt } = code;
    if (codeId === null || askedAt === null || at.getTime() - askedAt.getTime() >= codeMs) return "ended";
    if (isCodeUnder(deps.secrets, (key) => digitsUnder(key, codeId), typed)) {
      await codes.updateCode(tx, id, { ...code, codeId: null, failures: 0 });
      await store.writeUse(tx, id, { kind: "code_entered", at, file: null, network });
      return "right";
    }
    const failures = code.failures + 1;
    const lockedAt = failures >= maxFailures ? at : null;
    await codes.updateCode(tx, id, { ...code, failures, lockedAt });
    if (lockedAt) await store.writeUse(tx, id, { kind: "locked", at, file: null, network });
    return "wrong";
  });
  if (result !== "right") return result;
  const expiresAt = new Date(deps.clock().getTime() + sessionMs);
  const end = String(expiresAt.getTime());
  return { session: `${end}.${sessionUnder(deps.secrets, id, end)}`, expiresAt };
}

/** The mail with a code. If the code was replaced or used before the mail is sent, it is not sent. */
export const deliveryCodeMail = defineMail({
  queue: "delivery-code-mail",
  async load({ deliveryId, codeId }: { deliveryId: string; codeId: string }, deps: MailDeps) {
    const { db, clock } = deps;
    const [delivery, code] = [await store.selectDelivery(db, deliveryId), await codes.selectCode(db, deliveryId)];
    if (!delivery || delivery.revokedAt !== null || delivery.expiresAt <= clock() || code?.codeId !== codeId)
      return null;
    const room = await store.roomById(db, delivery.roomId);
    return room ? { delivery, room, firm: await readAnsweringFirm(deps, room) } : null;
  },
  write({ delivery: { id, recipientName, recipientEmail }, room, firm }, { codeId }, { baseUrl, secrets }) {
    const heading = "Your code for the documents";
    return {
      id: `delivery-code:${codeId}`,
      to: recipientEmail,
      environment: room.environment,
      subject: heading,
      heading,
      greeting: isPlainName(recipientName) ? `Hello ${recipientName},` : "Hello,",
      lines: [
        `Type this code on the page of the documents from ${nameIn(firm, "the firm")}. It works for 10 minutes, once.`,
        "If you did not ask for it, somebody else has your link. Do not tell anybody the code, and tell the firm.",
      ],
      code: digitsUnder(secrets, codeId),
      link: { label: "Back to the page", url: `${baseUrl}${deliveryPath(secrets, id)}` },
      caution: "Nobody of us or of the firm will ever ask you for this code.",
      why: `You receive it because somebody with the link to your documents asked for a code.`,
      firm,
    };
  },
});
