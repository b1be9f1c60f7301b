/** The words of the mail about orders that need a person or have ended. */
import { isPlainTitle } from "../../kernel/platform/mail/plain-name.ts";
import type { Fact } from "../../kernel/platform/mail/template.ts";
import { type MailedStatus, statusLabel } from "../order/order.ts";

/** A status, or `paper`: the signing was declined by a signer who wants to sign on paper. */
export type Kind = MailedStatus | "paper";

/** For each kind: the sentence for a mail about one order. */
const sentences: Readonly<Record<Kind, string>> = {
  PaymentFailed: "The payment did not go through. It can be tried again from the order’s page.",
  EsignDeclined:
    "A signer declined to sign, or the link reached the wrong person. An operator of this service has a task to help.",
  paper:
    "A signer wants to sign on paper, and was told that your firm arranges it. The order’s page says what you can do.",
  EsignExpired: "Not everybody signed in time. An operator of this service has a task to help.",
  NotarizationFailed: "The document could not be notarized. An operator of this service has a task to help.",
  IdentityLocked:
    "A signer’s identity could not be confirmed for the notary. An operator of this service has a task to help.",
  ShippingFailed: "The document could not be shipped. An operator of this service has a task to help.",
  FaxFailed: "The fax did not go through. Please check its number. An operator of this service has a task to help.",
  OnHold: "Work on the order is paused while a question about it is answered.",
  Refunded: "The order is closed, and its payment was refunded.",
  Completed: "Everything that was ordered is done. The documents are on the order’s page.",
};

/**
 * `version` is null while the certificate is not sealed. `stuck`: the number of orders that a person must correct
 * before the sealing.
 */
export type Certificate = { roomCode: string; roomName: string; version: number | null; stuck: number };

/** An order that the mail lists. */
export type Item = { code: string; status: MailedStatus; name: string; reason: string | null; wantsPaper: boolean };

/** The orders that the mail lists, and the number of orders of each kind. */
export type Summary = { items: Item[]; counts: ReadonlyMap<Kind, number> };

/** The subject and text of the mail. Each of several kinds has a line with its count, even if no order is listed. */
export function wordsOf(
  { items, counts, certificates = [] }: Summary & { certificates?: readonly Certificate[] },
  baseUrl: string,
) {
  const ofClosings = certificates.flatMap((each) => certificateFact(each, baseUrl));
  const [first] = items;
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (first && total === 1) {
    const { code, name, reason } = first;
    const kind = kindOf(first);
    return {
      subject: `${labelOf(kind)}: ${name}`,
      heading: labelOf(kind),
      lines: [sentences[kind]],
      facts: [["Order", name], ...(reason === null ? [] : [["Reason", reason] as Fact]), ...ofClosings] as Fact[],
      link: { label: "Open the order", url: `${baseUrl}/dashboard/orders/${code}` },
    };
  }
  const counted = [...counts].map(([kind, count]) => ({
    kind,
    label: counts.size === 1 ? labelOf(kind) : `${labelOf(kind)} (${count})`,
  }));
  return {
    subject: `${total} of your orders: ${counted.map(({ label }) => label).join(", ")}`,
    heading: `News of ${total} of your orders`,
    lines: [
      ...counted.map(({ kind, label }) => `${label}: ${sentences[kind]}`),
      ...(total > items.length ? [`${items.length} of them are listed here. The list of orders has all.`] : []),
    ],
    facts: [
      ...items.map(
        (item): Fact => [
          item.name,
          item.reason === null ? labelOf(kindOf(item)) : `${labelOf(kindOf(item))}: ${item.reason}`,
          `${baseUrl}/dashboard/orders/${item.code}`,
        ],
      ),
      ...ofClosings,
    ],
    link: { label: "Open your orders", url: `${baseUrl}/dashboard/orders` },
  };
}

/** The kind of an order in the mail. */
export const kindOf = ({ status, wantsPaper }: Pick<Item, "status" | "wantsPaper">): Kind =>
  status === "EsignDeclined" && wantsPaper ? "paper" : status;

const labelOf = (kind: Kind): string => (kind === "paper" ? "A signer wants paper" : statusLabel(kind));

/** States that the certificate of a closing is sealed, or that a stuck order prevents the seal. */
function certificateFact({ roomCode, roomName, version, stuck }: Certificate, baseUrl: string): Fact[] {
  const name = isPlainTitle(roomName) ? roomName : "Closing";
  const link = `${baseUrl}/dashboard/rooms/${roomCode}#passport`;
  if (version !== null) return [[name, `The closing certificate is sealed (version ${version})`, link]];
  const waiting = stuck === 1 ? "1 document is stuck" : `${stuck} documents are stuck`;
  return stuck > 0 ? [[name, `The closing certificate is not sealed: ${waiting}`, link]] : [];
}
