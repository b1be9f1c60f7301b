import { ownerAddress } from "../../../firms/members/members.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { plainTitle } from "../../../kernel/platform/mail/plain-name.ts";

type InPersonMail = { id: string; orderCode: string; partnerId: string; environment: Environment; ownerId: string };

/**
 * The mail that asks an owner of the firm to agree to an act on paper. It does not contain the notary's reason, which
 * only the order's page shows. Former owners get no mail.
 */
export const inPersonMail = defineMail({
  queue: "in-person-mail",
  load: ({ ownerId, ...owner }: InPersonMail, { db }: MailDeps) => ownerAddress(db, owner, ownerId),
  write({ email, firmName }, { id, orderCode, environment, ownerId }, { baseUrl }) {
    return {
      id: `in-person:${id}:${ownerId}`,
      to: email,
      environment,
      subject: "A notary asks to act in person, in ink",
      greeting: "Hello,",
      lines: [
        `${plainTitle(firmName, "Your firm")} bought online notarization for an order. The notary asks whether the act may be done in person, in ink.`,
        "Without your agreement it is not recorded so. If you agree, a refund of the technology fee is asked for, and the order goes on.",
      ],
      link: { label: "Answer the notary", url: `${baseUrl}/dashboard/orders/${orderCode}#in-person` },
      caution: "You receive this email because you are an owner of the firm.",
    };
  },
});
