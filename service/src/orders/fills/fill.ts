import { auditLine } from "../../kernel/audit/audit.ts";
import { actorOf, type Principal } from "../../kernel/identity/identity.ts";
import { orDiscard } from "../../kernel/platform/blobs/blobs.ts";
import { dayMs } from "../../kernel/platform/clock.ts";
import type { Tx } from "../../kernel/platform/database/database.ts";
import { cursorOf, foreignCursor, limitOf, type PageQuery, pageOf } from "../../kernel/platform/database/page.ts";
import { invalid, ServiceError } from "../../kernel/platform/errors.ts";
import type { RecordResult } from "../../kernel/platform/idempotency.ts";
import { newUuid } from "../../kernel/platform/ids.ts";
import type { Log } from "../../kernel/platform/logs.ts";
import type { SecretBytes } from "../../kernel/platform/secrets.ts";
import { isUuid } from "../../kernel/platform/text.ts";
import { fillStates } from "../order/order.ts";
import type { TemplateDeps } from "../templates/templates.ts";
import { complete } from "./complete.ts";
import { formFor, withLabels } from "./find-form.ts";
import { fillMail } from "./mail.ts";
import type { NewFillFields } from "./new-fill.ts";
import { answersOf, missingIn, readValues, UnshownAnswers } from "./questions.ts";
import {
  countMail,
  countOpen,
  endFill,
  type Fill,
  type FillCiphers,
  findFill,
  insertFill,
  isOwnFill,
  listFills,
} from "./store.ts";
import { fillTokensOf, linkToken } from "./tokens.ts";

export type FillDeps = {
  templates: TemplateDeps;
  log: Log;
  secrets: SecretBytes;
  ciphers: FillCiphers;
  baseUrl: string;
};

export const readingOf = ({ templates: { db }, ciphers }: FillDeps) => ({ db, ciphers });

const maxOpen = 1000;
const maxMails = 5;

export const noSuchFill = () => new ServiceError("not_found", "Fill not found.");

/** A fill as its firm sees it. The answers belong to the client, so they are left out. */
export type FillView = Omit<Fill, "answers" | "owner" | "state" | "mails" | "revision"> & {
  /**
   * `expired`: the client did not finish the fill before it expired. `used`: an order used the document. `gone`: the
   * document expired before an order used it.
   */
  state: "open" | "completed" | "used" | "gone" | "canceled" | "expired";
  /** The link to the form. Null for a key with only read access, because the link grants the right to write answers. */
  url: string | null;
  /**
   * The token with which an order can use the finished document. Null while no order can use it, and for a key that may
   * only read.
   */
  fillToken: string | null;
  usableUntil: Date | null;
  /** The code of the order that used the document; null while no order has used it. */
  orderCode: string | null;
  /** The number of pages of the finished document; null while no order can use it. */
  pages: number | null;
};

/**
 * Creates a fill, with which a person fills in the form of a template or a catalog document online.
 * @throws ServiceError naming the field and the rule; nothing was written then
 */
export async function createFill(
  deps: FillDeps,
  principal: Principal,
  fields: NewFillFields,
  record: (tx: Parameters<RecordResult>[0], created: { fillId: string }) => Promise<void>,
): Promise<FillView> {
  const { form: template, isCatalogForm, questions: asked } = await formFor(deps, principal, fields);
  const questions = withLabels(asked, fields.labels);
  const answers = new Map([...answersOf(questions), ...readValues(questions, fields.values)]);
  await deps.templates.requireStorage(principal, template.bytes);
  const { partnerId, environment } = principal;
  const at = deps.templates.clock();
  const { name, email, language, returnUrl } = fields;
  const fill = {
    id: newUuid(),
    owner: { partnerId, environment },
    use: { templateId: template.templateId, version: template.version },
    ...(isCatalogForm && { isCatalogForm }),
    title: template.name,
    slug: template.content.services.doc_slug ?? null,
    questions,
    person: { name, email, language },
    returnUrl,
    answers,
    createdBy: actorOf(principal),
    createdAt: at,
    expiresAt: new Date(at.getTime() + fields.days * dayMs),
  };
  if (fields.complete) {
    const [missing] = missingIn(questions, answers);
    if (missing) throw invalid(`values.${missing.name} is required.`);
  }
  const finish = fields.complete
    ? await complete(deps, { ...fill, revision: 0 }, answers, fill.createdBy).catch(inOurWords)
    : null;
  await orDiscard(deps.templates.blobs, finish?.blobKey ?? null, () =>
    deps.templates.db.transaction(async (tx) => {
      if ((await countOpen(tx, principal, at)) >= maxOpen)
        throw invalid(`A firm has at most ${maxOpen} open forms: cancel one first.`);
      await insertFill(tx, deps.ciphers, fill);
      const detail = { fillId: fill.id, ...fill.use };
      await tx.query(auditLine({ at, action: "fill.created", actor: fill.createdBy, partnerId, detail }));
      if (fields.send) await mailIn(tx, deps, fill.id);
      await finish?.write(tx);
      await record(tx, { fillId: fill.id });
    }),
  );
  return ownFill(deps, principal, fill.id);
}

const inOurWords = (error: unknown): never => {
  if (!(error instanceof UnshownAnswers)) throw error;
  const [{ name, why } = { name: "", why: "long" }] = error.answers;
  throw invalid(
    why === "long"
      ? `values.${name} does not fit into its field.`
      : `values.${name} has characters that can't be printed.`,
  );
};

/**
 * A fill of the caller's firm, as the API shows it.
 * @throws ServiceError `not_found` for a fill of another firm
 */
export async function ownFill(deps: FillDeps, owner: Principal, id: string): Promise<FillView> {
  const fill = isUuid(id) ? await findFill(readingOf(deps), id, owner) : undefined;
  if (!fill) throw noSuchFill();
  const [view] = await viewsOf(deps, owner, [fill]);
  if (!view) throw noSuchFill();
  return view;
}

/** A completed fill whose document an order can use. @throws ServiceError with the reason if no order can use it */
export async function usableFill(
  deps: FillDeps,
  owner: Principal,
  id: string,
): Promise<FillView & { fillToken: string }> {
  const { fillToken, ...view } = await ownFill(deps, owner, id);
  if (fillToken !== null) return { ...view, fillToken };
  const why = view.state === "used" ? "An order has this document already." : "This form is not filled in.";
  throw new ServiceError("conflict", why);
}

async function viewsOf(deps: FillDeps, reader: Principal, fills: readonly Fill[]): Promise<FillView[]> {
  const { secrets, baseUrl } = deps;
  const states = await fillStates(
    deps.templates.db,
    fills.flatMap(({ id, state }) => (state === "completed" ? fillTokensOf(secrets, id) : [])),
  );
  const now = deps.templates.clock();
  const mayWrite = !reader.key?.scopes || reader.key.scopes.includes("orders");
  return fills.map(({ answers: _answers, owner: _owner, mails: _mails, revision: _revision, ...fill }) => {
    const token = fillTokensOf(secrets, fill.id).find((each) => states.has(each));
    const document = token === undefined ? undefined : states.get(token);
    const isUsable = document !== undefined && document.usedAt === null && document.expiresAt > now;
    return {
      ...fill,
      state: stateOf(fill, document, now),
      url: mayWrite ? `${baseUrl}/fill/${fill.id}/${linkToken(secrets, fill.id)}` : null,
      fillToken: isUsable && mayWrite ? (token ?? null) : null,
      usableUntil: isUsable ? document.expiresAt : null,
      orderCode: document?.usedAt ? document.orderCode : null,
      pages: isUsable ? document.pages : null,
    };
  });
}

function stateOf(
  fill: Pick<Fill, "state" | "expiresAt" | "endedAt">,
  document: { usedAt: Date | null; expiresAt: Date } | undefined,
  now: Date,
): FillView["state"] {
  if (fill.state === "open") return fill.expiresAt > now ? "open" : "expired";
  if (fill.state === "canceled") return fill.endedAt && fill.endedAt >= fill.expiresAt ? "expired" : "canceled";
  if (document?.usedAt) return "used";
  return document && document.expiresAt > now ? "completed" : "gone";
}

const pageSize = { usual: 50, max: 100 };

/** A page of the firm's fills, newest first. @throws ServiceError naming the parameter and its rule */
export async function fillPage(deps: FillDeps, owner: Principal, query: PageQuery) {
  const limit = limitOf(query.limit, pageSize);
  const after = cursorOf(query.cursor);
  if (after !== null && !(isUuid(after) && (await isOwnFill(deps.templates.db, after, owner)))) throw foreignCursor();
  const found = await listFills(readingOf(deps), owner, { after, limit: limit + 1 });
  const { items, nextCursor } = pageOf(found, limit, ({ id }) => id);
  return { items: await viewsOf(deps, owner, items), nextCursor };
}

/**
 * Cancels an open fill. Its link stops working, and its answers are deleted. A fill that has already ended does not
 * change. @throws ServiceError
 */
export async function cancelFill(deps: FillDeps, principal: Principal, id: string): Promise<FillView> {
  const before = await ownFill(deps, principal, id);
  await deps.templates.db.transaction(async (tx) => {
    const at = deps.templates.clock();
    if (!(await endFill(tx, id, { state: "canceled", at }))) {
      if (before.state === "open") throw new ServiceError("conflict", "This form was completed at the same time.");
      return;
    }
    const { partnerId } = principal;
    await tx.query(
      auditLine({ at, action: "fill.canceled", actor: actorOf(principal), partnerId, detail: { fillId: id } }),
    );
  });
  return ownFill(deps, principal, id);
}

/** Mails the link to the person who fills in the form. @throws ServiceError */
export async function sendFill(deps: FillDeps, principal: Principal, id: string): Promise<FillView> {
  const view = await ownFill(deps, principal, id);
  if (view.person.email === null) throw invalid("email is required: this form was made without one.");
  await deps.templates.db.transaction(async (tx) => mailIn(tx, deps, id));
  return view;
}

async function mailIn(tx: Tx, { templates: { clock } }: FillDeps, id: string): Promise<void> {
  if (!(await countMail(tx, id, maxMails, clock())))
    throw new ServiceError("conflict", `This form is no longer open, or its link was mailed ${maxMails} times.`);
  await fillMail.enqueue(tx, { fillId: id, at: clock().getTime() });
}
