import { readAnsweringFirm } from "../../../firms/members/members.ts";
import type { Operator } from "../../../firms/operators/operators.ts";
import { auditLine, countLines } from "../../../kernel/audit/audit.ts";
import type { Environment } from "../../../kernel/identity/identity.ts";
import { dayMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { ServiceError } from "../../../kernel/platform/errors.ts";
import { defineMail, type MailDeps } from "../../../kernel/platform/mail/mail-jobs.ts";
import { isPlainName } from "../../../kernel/platform/mail/plain-name.ts";
import type { Members } from "../../../kernel/platform/row-mac.ts";
import { claimedOrder, type DeskDeps, lockClaimed } from "../claims/claims.ts";
import { lockDraft, saveAppointment, withCurrentEmails } from "../claims/orders.ts";
import { accepted, formReader, type Typed } from "../form-reader.ts";

type AppointmentMail = {
  to: string;
  name: string;
  url: string;
  when: string | null;
  notary: string;
  partnerId: string;
  environment: Environment;
  id: string;
};

/**
 * A job's payload is stored in the database, so it needs a MAC. Otherwise an attacker with database access could have a
 * false link to the meeting mailed to clients.
 */
type VouchedMail = AppointmentMail & { mac: string };

const mailMembers = ({ to, name, url, when, notary, partnerId, environment, id }: AppointmentMail): Members => ({
  id,
  to,
  name,
  url,
  when,
  notary,
  partnerId,
  environment,
});

/**
 * Queues mails to everybody who is to appear, with the web address of the notary's own tool.
 * @throws ServiceError naming every wrong field; `conflict` as `requireNewAppointment`
 */
export async function mailAppointment(deps: DeskDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const read = formReader(typed);
  const url = read.required("url", { max: 1000 });
  const when = read.instant("when");
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed?.protocol !== "https:" || parsed.username !== "" || parsed.password !== "")
    read.fault("url", "must be an https address without a name or password in it");
  accepted(read.done(null));
  const claimed = await claimedOrder(deps, operator, code);
  await deps.db.transaction(async (tx) => {
    const { notary, order, at } = await lockClaimed(tx, deps, operator, claimed);
    const { orderId, partnerId, environment } = order;
    await requireNewAppointment(tx, { taskId: order.taskId, notaryId: notary.id, orderId, url, when, at });
    await saveAppointment(tx, order.taskId, notary.id, url, when, at);
    const people = await withCurrentEmails(tx, orderId, order.signers);
    for (const [index, { name, email: to }] of people.entries()) {
      const id = `notary-appointment:${order.taskId}:${at.toISOString()}:${index}`;
      const about = { to, name, url, when, notary: notary.commissionName, partnerId, environment, id };
      const mac = deps.rowMac.of(appointmentQueue, mailMembers(about)).toString("hex");
      await appointmentMail.enqueue(tx, { ...about, mac });
    }
    const detail = { url, when, people: people.length };
    await tx.query(auditLine({ at, action: "notary.appointment", actor: operator.actor, partnerId, orderId, detail }));
  });
}

/**
 * How many times in 24 hours an order's people may be mailed an appointment in the notary's own tool. The mails go to
 * clients, and a form can be resubmitted any number of times. Mails about booked appointments are not counted.
 */
const maxADay = 5;

type MailedAppointment = {
  taskId: number;
  notaryId: string;
  orderId: number;
  url: string;
  when: string | null;
  at: Date;
};

/**
 * Rejects an appointment that is already mailed or exceeds the limit of mails. The transaction must have locked the
 * order.
 * @throws ServiceError `conflict` if the last mailed appointment is the same, or the order's daily limit is reached
 */
async function requireNewAppointment(
  tx: Tx,
  { taskId, notaryId, orderId, url, when, at }: MailedAppointment,
): Promise<void> {
  const last = await lockDraft(tx, taskId, notaryId);
  const lastAt = last?.appointmentAt?.getTime() ?? null;
  if (last?.appointmentUrl === url && lastAt === (when === null ? null : Date.parse(when)))
    throw new ServiceError("conflict", "This appointment was mailed already.");
  if ((await countLines(tx, orderId, "notary.appointment", new Date(at.getTime() - dayMs))) >= maxADay)
    throw new ServiceError("conflict", `Appointments of an order are mailed at most ${maxADay} times a day.`);
}

const appointmentQueue = "notary-appointment-mail";

export const appointmentMail = defineMail({
  queue: appointmentQueue,
  load({ mac, ...about }: VouchedMail, deps: MailDeps) {
    if (!deps.rowMac.holds(appointmentQueue, mailMembers(about), Buffer.from(mac ?? "", "hex")))
      throw new Error("the mail of an appointment is not what the service queued");
    return readAnsweringFirm(deps, about);
  },
  write(firm, { to, name, url, when, notary, environment, id }) {
    const by = isPlainName(notary) ? `the notary ${notary}` : "a notary";
    return {
      id,
      to,
      environment,
      subject: "Your appointment with the notary",
      greeting: isPlainName(name) ? `Hello ${name},` : "Hello,",
      lines: [
        `Your document is to be notarized. You meet ${by} by the link below${when === null ? "" : ` on ${when.slice(0, 10)} at ${when.slice(11, 16)} UTC`}.`,
        "Have the credential at hand that you identify yourself with.",
      ],
      link: { label: "Meet the notary", url },
      caution: "The link is the notary’s own. If you expect no notarization, do not open it.",
      firm,
    };
  },
});
