import { linkSeriesOf, mailDelayMs, recipientFor, unsubscribeUrl } from "../../firms/members/members.ts";
import { readOrigins } from "../../kernel/audit/audit.ts";
import { enqueueAfter } from "../../kernel/platform/jobs/jobs.ts";
import { zonedText } from "../../kernel/platform/languages.ts";
import { defineMail } from "../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName, isPlainTitle } from "../../kernel/platform/mail/plain-name.ts";
import { zoneOrDefault } from "../../orders/payments/payments.ts";
import type { DeliveryDeps } from "./link.ts";
import * as store from "./store.ts";

const queue = "delivery-download-mail";

/**
 * Records that a download of the delivery began. For the first one, queues a mail to each person who placed one of the
 * delivered orders or sent the delivery.
 */
export async function noteDownload(
  deps: DeliveryDeps,
  { delivery, room }: { delivery: store.Delivery; room: store.DeliveryRoom },
  download: Pick<store.DeliveryUse, "file" | "network">,
): Promise<void> {
  const at = deps.clock();
  await deps.db.transaction(async (tx) => {
    if (!(await store.insertDownload(tx, delivery.id, { at, ...download }))) return;
    const { rowMac, clock } = deps;
    const reader = { db: tx, rowMac, clock };
    const origins = await readOrigins(tx, rowMac, [...new Set(delivery.files.map(({ orderId }) => orderId))]);
    const actors = new Set([delivery.sentBy, ...[...origins.values()].flatMap(({ placedBy }) => placedBy ?? [])]);
    const people = new Set<string>();
    for (const actor of actors) {
      const person = await recipientFor(reader, room, { actor, kind: "downloads" });
      if (person) people.add(person.userId);
    }
    for (const userId of people) {
      // Mails of test orders are not delivered, so they need not wait until the recipient's morning.
      const waitMs = room.environment === "live" ? await mailDelayMs(tx, userId, at) : 0;
      await enqueueAfter(tx, queue, { deliveryId: delivery.id, userId }, waitMs);
    }
  });
}

/**
 * Notifies a person of the firm that documents were downloaded for the first time. The mail can't state who read them.
 */
export const downloadMail = defineMail({
  queue,
  async load({ deliveryId, userId }: { deliveryId: string; userId: string }, deps) {
    const delivery = await store.selectDelivery(deps.db, deliveryId);
    const room = delivery && (await store.roomById(deps.db, delivery.roomId));
    const first = delivery && (await store.firstDownload(deps.db, deliveryId));
    if (!room || !first) return null;
    const person = await recipientFor(deps, room, { actor: `member:${userId}`, kind: "downloads" });
    if (person?.userId !== userId) return null;
    const zone = await zoneOrDefault(deps.db, room.partnerId);
    return { delivery, room, first, zone, to: person.email, series: await linkSeriesOf(deps.db, userId, "downloads") };
  },
  write: ({ delivery, room, first, zone, to, series }, { userId }, { baseUrl, secrets }) => {
    const { id, recipientName, recipientEmail } = delivery;
    const { environment, reference, name, code } = room;
    const who = isPlainName(recipientName) ? recipientName : recipientEmail;
    const about = [reference, name].find((each) => each !== null && isPlainTitle(each));
    const heading = `Documents sent to ${who} were downloaded`;
    return {
      id: `delivery-download:${id}:${userId}`,
      to,
      environment,
      unsubscribeUrl: unsubscribeUrl({ baseUrl, secrets }, { userId, kind: "downloads", environment, series }),
      subject: about === undefined ? heading : `${heading}: ${about}`,
      heading,
      greeting: "Hello,",
      lines: [
        "This was the first download. The closing’s page lists each one. The service can’t tell who used the link.",
      ],
      facts: [
        ...(isPlainTitle(name) ? [["Closing", name] as const] : []),
        ["Sent to", recipientEmail] as const,
        ["Downloaded", zonedText(first, zone)] as const,
      ],
      link: { label: "Open the closing", url: `${baseUrl}/dashboard/rooms/${code}` },
      caution:
        "You receive this email because you, or a colleague in your firm, placed or sent these documents. Switch it off under Sign-in and security.",
    };
  },
});
