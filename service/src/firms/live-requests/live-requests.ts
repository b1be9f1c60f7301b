/** Live access for a firm: an owner requests it and an operator decides. No key is issued. */
import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, mayUseLive, type Principal } from "../../kernel/identity/identity.ts";
import { type Clock, dayMs } from "../../kernel/platform/clock.ts";
import type { Database, Sql, Tx } from "../../kernel/platform/database/database.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import { defineMail, type MailDeps } from "../../kernel/platform/mail/mail-jobs.ts";
import { plainTitle } from "../../kernel/platform/mail/plain-name.ts";
import { requireProof } from "../../kernel/platform/recent-proof.ts";
import type { RowMac } from "../../kernel/platform/row-mac.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { closeTasks, openTask } from "../../kernel/tasks/tasks.ts";
import { giveOwnersLive, listMembers, lockMembers, ownerAddress, requireOwnerNow } from "../members/members.ts";
import { mailAdmins, type Operator, requirePasskeyOf, requirePermission, requireText } from "../operators/operators.ts";
import { enableLive, readBranding } from "../partners/partners.ts";
import * as store from "./store.ts";

export { type DecidedLiveRequest, type LiveRequest, protectedTables } from "./store.ts";

export type LiveDeps = { db: Database; clock: Clock; rowMac: RowMac };

const kind = "live_access";

/**
 * Requests live access for the caller's firm. Mails all owners and the firm's contact address, so that they notice a
 * request that none of them made.
 * @throws ServiceError for a caller who is not an owner, has no recent proof or has live access already. Also for a
 * firm without a contact address or with an open request, and within a day after a refusal
 */
export async function askForLive(deps: LiveDeps, principal: Principal): Promise<void> {
  const { db, clock } = deps;
  const { partnerId, member } = principal;
  if (!member) throw new ServiceError("owner_required", "Only an owner of the firm may do this.");
  if (mayUseLive(principal)) throw new ServiceError("conflict", "You have live already.");
  await db.transaction(async (tx) => {
    await requireOwnerNow(tx, deps, principal);
    const at = clock();
    requireProof(principal, at, "test");
    if ((await readBranding({ db: tx }, principal)).contactEmail === null)
      throw new ServiceError(
        "conflict",
        "Set your firm’s contact email first: answers of clients and signers go there.",
      );
    const latest = await store.selectLatest(tx, partnerId);
    if (latest?.state === "refused" && latest.decidedAt !== null && at.getTime() - latest.decidedAt.getTime() < dayMs)
      throw new ServiceError("conflict", "Live was refused less than 24 hours ago. Ask again a day after the refusal.");
    const id = newUuid();
    if (!(await store.insertRequest(tx, { id, partnerId, askedBy: member.userId, at })))
      throw new ServiceError("conflict", "Live was asked for already. The operator of this service decides on it.");
    await openTask(tx, { kind, at, environment: "live", subject: id, reason: `${principal.firmName} asks for live` });
    const detail = { requestId: id };
    await tx.query(auditLine({ at, action: "live.asked", actor: actorOf(principal), partnerId, detail }));
    await mailFirm(tx, partnerId, { requestId: id, moment: "asked" });
  });
}

/** The latest request of the caller's firm; null without one. */
export const liveRequestOf = async ({ db }: { db: Sql }, { partnerId }: Principal): Promise<store.LiveRequest | null> =>
  (await store.selectLatest(db, partnerId)) ?? null;

/**
 * An open request with the facts that an operator needs for the decision. A request that was altered can't be decided.
 */
export type OpenLiveRequest = store.LiveRequest & {
  /** True if the request or its firm was altered in the database. */
  isAltered: boolean;
  owners: { email: string; linkedAt: Date }[];
  testOrders: { completed: number; all: number };
};

export async function openLiveRequests({ db }: { db: Sql }): Promise<OpenLiveRequest[]> {
  const open = await store.selectOpen(db);
  return Promise.all(
    open.map(async ({ isAuthentic, isFirmAuthentic, ...request }) => {
      const members = await listMembers({ db }, request.partnerId);
      const owners = members.filter(({ role }) => role === "owner");
      const testOrders = await store.selectTestOrders(db, request.partnerId);
      return { ...request, isAltered: !isAuthentic || !isFirmAuthentic, owners, testOrders };
    }),
  );
}

export const decidedLiveRequests = ({ db }: { db: Sql }, limit: number): Promise<store.DecidedLiveRequest[]> =>
  store.selectDecided(db, limit);

/**
 * Grants live access to the firm, and to everybody who is an owner at that moment.
 * @throws ServiceError without the permission or a recent passkey, for an operator who belongs to the firm, for a firm
 * without an owner, and for a request that was already decided or has ended
 */
export const grantLive = (deps: LiveDeps, operator: Operator, id: string): Promise<void> =>
  decide(deps, operator, id, async (tx, { partnerId, firmName }, at) => {
    const { actor } = operator;
    await enableLive(tx, partnerId, { at, actor });
    if ((await giveOwnersLive(tx, deps.rowMac, partnerId, { at, actor })) === 0)
      throw new ServiceError("conflict", "The firm has no owner now. Refuse the request.");
    await mailAdmins(tx, {
      at,
      text: `${operator.name} gave live to the firm ${firmName}.`,
      subject: "A firm has changed",
    });
    return { state: "granted", note: null };
  });

/**
 * Refuses the request with a reason, which is mailed.
 * @throws ServiceError without a reason, and in the cases of `grantLive`. But the request of a firm without an owner
 * can be refused
 */
export const refuseLive = (deps: LiveDeps, operator: Operator, id: string, typed: string): Promise<void> => {
  const note = requireText("note", typed);
  return decide(deps, operator, id, async () => ({ state: "refused", note }));
};

type Outcome = { state: "granted" | "refused"; note: string | null };

async function decide(
  { db, clock }: LiveDeps,
  operator: Operator,
  id: string,
  judge: (tx: Tx, request: store.LiveRequest, at: Date) => Promise<Outcome>,
): Promise<void> {
  requirePermission(operator, ["partners.manage"]);
  requirePasskeyOf(operator, clock());
  const unknown = () => new ServiceError("not_found", "No such request.");
  await db.transaction(async (tx) => {
    const found = isUuid(id) ? await store.selectRequest(tx, id) : undefined;
    if (!found) throw unknown();
    await lockMembers(tx, found.partnerId);
    const request = await store.selectRequest(tx, id);
    if (request?.state !== "asked") throw new ServiceError("conflict", `The request was ${request?.state} before.`);
    const members = await listMembers({ db: tx }, request.partnerId);
    if (operator.id !== null && members.some(({ userId }) => userId === operator.id))
      throw new ServiceError("conflict", "You belong to this firm. Another operator decides.");
    const at = clock();
    const { partnerId } = request;
    const { state, note } = await judge(tx, request, at);
    const { actor: by } = operator;
    await store.decideRequest(tx, id, { state, by, at, note });
    await closeTasks(tx, { kinds: [kind], subject: id }, { state: "done", at, by, outcome: state });
    const detail = { requestId: id, ...(note !== null && { note }) };
    await tx.query(auditLine({ at, action: `live.${state}`, actor: by, partnerId, detail }));
    await mailFirm(tx, partnerId, { requestId: id, moment: state });
  });
}

/** Mails all owners, and the firm's contact address. */
async function mailFirm(
  tx: Tx,
  partnerId: string,
  event: { requestId: string; moment: "asked" | "granted" | "refused" },
): Promise<void> {
  const members = await listMembers({ db: tx }, partnerId);
  for (const { role, userId } of members)
    if (role === "owner") await liveAccessMail.enqueue(tx, { ...event, ownerId: userId });
  await liveAccessMail.enqueue(tx, { ...event, ownerId: null });
}

type Moment = "asked" | "granted" | "refused";

/**
 * The mail to one owner about a request for live access. `ownerId` is null for the mail to the firm's contact address.
 */
type MomentMail = { requestId: string; moment: Moment; ownerId: string | null };

const subjects: Readonly<Record<Moment, string>> = {
  asked: "Somebody asked for live",
  granted: "Your firm has live now",
  refused: "Live was not given",
};

/**
 * Mails about requests for live access. Not sent to a former owner, to a firm without a contact address, or when the
 * request's state has changed.
 */
export const liveAccessMail = defineMail({
  queue: "live-mail",
  async load({ requestId, moment, ownerId }: MomentMail, { db }: MailDeps) {
    const request = await store.selectRequest(db, requestId);
    if (request?.state !== moment) return null;
    const { partnerId } = request;
    const owner = ownerId === null ? undefined : await ownerAddress(db, { partnerId, environment: "test" }, ownerId);
    const to = ownerId === null ? request.contactEmail : owner?.email;
    return to ? { ...request, to } : null;
  },
  write: ({ to, firmName, askedBy, note }, { requestId, moment, ownerId }, { baseUrl }) => ({
    id: `live:${requestId}:${moment}:${ownerId ?? "contact"}`,
    to,
    subject: subjects[moment],
    greeting: "Hello,",
    lines: linesOf(moment, { firm: plainTitle(firmName, "your firm"), askedBy: askedBy ?? "An owner", note }),
    link: { label: "Open the settings", url: `${baseUrl}/dashboard/settings` },
    caution: "You receive this email because you are an owner of the firm, or its contact address.",
  }),
});

type MailFacts = { firm: string; askedBy: string; note: string | null };

const linesOf = (moment: Moment, { firm, askedBy, note }: MailFacts): string[] =>
  ({
    asked: [
      `${askedBy} asked for live access for ${firm}. The operator of this service decides on it.`,
      "If none of you did this, remove that person on the team’s page, and tell the operator by answering this email.",
    ],
    granted: [
      `${firm} has live now, and all of its owners have live access. Live orders cost money and are carried out.`,
      "Owners give live access to other members on the team’s page. A live key is for your own systems: nobody needs one to work in the dashboard.",
    ],
    refused: [`Live access for ${firm} was not given. The reason: ${note ?? "none was given"}`],
  })[moment];
