import { memoryHolder } from "../../../kernel/platform/bounds/memory-budget.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { isEmail } from "../../../kernel/platform/mail/email.ts";
import type { SecretBytes } from "../../../kernel/platform/secrets.ts";
import { isPlainLines, isPlainText, isVisible } from "../../../kernel/platform/text.ts";
import { lockOrder, setEnvelopeStatus } from "../../../orders/order/order.ts";
import { type Ending, endUnsigned } from "../lifecycle/end.ts";
import { readPictureIn } from "../pictures/pictures.ts";
import { type DocumentText, readTextIn } from "../reading/read-text.ts";
import type { EnvelopeDeps } from "../records/deps.ts";
import { updateSigner } from "../records/envelope.ts";
import { findRevisions, openDocument } from "../records/revisions.ts";
import { updatePerson } from "../records/sessions.ts";
import { appendToTrail, requireTrailRoom } from "../records/trail.ts";
import type { Acts } from "./act.ts";
import type { Ceremony, Link } from "./ceremony.ts";
import { clientDetail } from "./client-detail.ts";
import { openCopy } from "./copies.ts";
import { frameOfSession, frameOfTicket, redeemTicket } from "./embedded.ts";
import { enter as enterByMail, identify, sendCode } from "./identify.ts";
import { channelOf, follow, followLocked, type Linked, refuseInRoom, requireState, stateOf } from "./links.ts";
import { readView, type ViewDeps } from "./read-view.ts";
import { type Entering, endAll, enterDocument, giveConsent, nextOf } from "./session.ts";
import { completeAct, prepareAct, sign } from "./sign.ts";
import { beginTurn, endTurnOfDevice, nextTurn, viewSitting } from "./sitting.ts";
import type { Client, DeclineKind, SigningState } from "./view.ts";

/** The dependencies that the ceremony needs in addition to those of envelopes. */
export type CeremonyDeps = ViewDeps & { secrets: SecretBytes; acts: Acts };

const maxReasonLength = 1_000;

export function openCeremony(envelopes: EnvelopeDeps, ceremony: CeremonyDeps): Ceremony {
  const { db, clock, log, blobs, rowMac, seal, reach } = envelopes;
  const { secrets, consentTexts, acts, wasSignedAgain } = ceremony;
  const signing = { db, clock, log, blobs, rowMac, seal, reach, acts };
  const entering = { rowMac, consentTexts };
  const identifying = { db, clock, log, rowMac, secrets, reach };
  /**
   * Records in the trail the session through which the signer came to the document, and the consent given in that
   * session. Called before the signature, because a page without scripts does not report that it was opened.
   */
  const enter = async (link: Link, client: Client) => {
    const { place } = await follow(db, link, clock);
    if (place)
      await db.transaction(async (tx) => enterDocument(tx, entering, await followLocked(tx, link, clock), client));
  };

  const readable = async (link: Link) => {
    const linked = await follow(db, link, clock);
    requireState(linked, "ready", "waiting", "signed");
    return linked.envelope;
  };

  return {
    view: async (link) => {
      const view = await readView(envelopes, ceremony, await follow(db, link, clock));
      return link.language ? { ...view, signer: { ...view.signer, language: link.language } } : view;
    },
    next: (link) => nextOf(db, link, clock),
    document: async (link) => openDocument(envelopes, await readable(link)),
    text: async (link) => textOf(envelopes, acts, await readable(link)),
    copy: async (link, kind) => openCopy({ ...envelopes, wasSignedAgain }, await follow(db, link, clock), kind),
    opened: (link, client) => writeOpened({ ...envelopes, consentTexts }, link, client),
    frameOfTicket: (ticket) => frameOfTicket(envelopes, ticket),
    frameOfSession: (session) => frameOfSession(envelopes, session),
    redeem: (ticket, client) => redeemTicket(envelopes, ticket, client),
    sitting: (token) => viewSitting(envelopes, token),
    beginTurn: (token, n, client, sittingId) => beginTurn(envelopes, token, n, client, sittingId),
    nextTurn: (token, after, client) => nextTurn(envelopes, token, after, client),
    endTurn: (token) => endTurnOfDevice(envelopes, token),
    sendCode: (link, client) => sendCode(identifying, link, client),
    identify: (link, code, client) => identify(identifying, link, code, client),
    enter: (link, entry, client, accessCode) => enterByMail(identifying, link, entry, client, accessCode),
    consent: (link, input, client) =>
      change(envelopes, link, ["ready"], (tx, linked) => giveConsent(tx, entering, linked, input, client)),
    picture: (link, bytes) => readPicture(envelopes, link, bytes),
    sign: async (link, request, client) => {
      await enter(link, client);
      return sign(signing, link, request, client);
    },
    prepare: async (link, { publicKey, ...request }, client) => {
      await enter(link, client);
      return prepareAct(signing, link, request, publicKey, client);
    },
    complete: (link, signature) => completeAct(signing, link, signature),
    decline: (link, input, client) => declineAct(envelopes, link, input, client),
    propose: (link, person, client) => proposeSigner(envelopes, link, person, client),
    setLanguage: (link, language) =>
      db.transaction(async (tx) => {
        const linked = await followLocked(tx, link, clock);
        // A stranger may have the mailed link, so its browser must have passed the access step. Pages in a frame, on a
        // device or in a notary's presence need no such check, because strangers don't know their URLs.
        if (linked.embed || linked.sitting || linked.room || (linked.identified && isUnderWay(linked)))
          await updatePerson(tx, linked.signer.id, sql`language = ${language}`);
      }),
  };
}

/** Runs the work in a transaction with the envelope locked. Rejects a link whose state is not in the given list. */
const change = <Result>(
  { db, clock }: Pick<EnvelopeDeps, "db" | "clock">,
  link: Link,
  states: readonly SigningState[],
  work: (tx: Tx, linked: Linked) => Promise<Result>,
): Promise<Result> =>
  db.transaction(async (tx) => {
    const linked = await followLocked(tx, link, clock);
    requireState(linked, ...states);
    return work(tx, linked);
  });

async function proposeSigner(
  deps: EnvelopeDeps,
  link: Link,
  { name, email }: { name: string; email: string },
  client: Client,
): Promise<void> {
  if (!isVisible(name) || !isPlainText(name) || name.length > 200) throw invalid("name must be the name of a person.");
  if (!isEmail(email)) throw invalid("email must be an email address.");
  await change(deps, link, ["ready", "waiting"], async (tx, { envelope, signer, room, at }) => {
    refuseInRoom({ room });
    await requireTrailRoom(tx, envelope.id, signer.n);
    const proposal = { name: name.trim(), email, at: at.toISOString() };
    await updateSigner(tx, signer.id, sql`proposal = ${JSON.stringify(proposal)}::jsonb`);
    const detail = { proposal, signer: signer.n, client: clientDetail(client) };
    await appendToTrail(tx, deps.rowMac, envelope, "proposed", at, detail);
  });
}

async function declineAct(
  deps: EnvelopeDeps,
  link: Link,
  { kind, reason, all = false }: { kind: DeclineKind; reason: string; all?: boolean },
  client: Client,
): Promise<void> {
  if (reason.length > maxReasonLength) throw invalid(`A reason must have at most ${maxReasonLength} characters.`);
  if (!isPlainLines(reason)) throw invalid("A reason must be text without control characters.");
  const linked = await follow(deps.db, link, deps.clock);
  requireState(linked, "ready", "waiting");
  refuseInRoom(linked);
  const endingOf = (n: number): Ending => ({
    outcome: "Declined",
    reason: `signer ${n}: ${declineWords[kind]}${reason.trim() === "" ? "" : `: ${reason.trim()}`}`,
    detail: { kind, reason: reason.trim(), signer: n, client: clientDetail(client) },
    channel: channelOf(linked),
    actor: "signer",
  });
  // A person may withdraw the consent that the session's documents share, or may not be the intended person. Then none
  // of these documents can be signed, so all of them end.
  const isForAll = all || kind === "withdrawn" || kind === "not_me";
  if (linked.bySession && isForAll) return endAll(deps, link, endingOf);
  const { envelope, signer } = linked;
  const ended = await endUnsigned(deps, envelope, endingOf(signer.n), async (tx) =>
    requireState(await follow(tx, link, deps.clock), "ready", "waiting"),
  );
  if (!ended) throw new ServiceError("conflict", "This document is not to be signed any more.");
}

async function textOf(deps: EnvelopeDeps, acts: Acts, envelope: Linked["envelope"]): Promise<DocumentText> {
  const holder = envelope.partnerId;
  const head = (await findRevisions(deps.db, envelope.id)).at(-1);
  return deps.blobs.memory.within(memoryHolder(envelope), head?.bytes ?? 0, async () => {
    const { bytes } = await acts.document(envelope);
    return readTextIn(deps.workers, { holder, bytes });
  });
}

async function writeOpened(deps: EnvelopeDeps & Entering, link: Link, client: Client): Promise<void> {
  const { db, clock, rowMac } = deps;
  const { orderCode } = (await follow(db, link, clock)).envelope;
  await db.transaction(async (tx) => {
    // Orders are always locked before their envelopes.
    const order = await lockOrder(tx, orderCode);
    const linked = await followLocked(tx, link, clock);
    const { envelope, signer, at } = linked;
    // A stranger may have the link, so the page is recorded as opened only after the signer's access step.
    if (!order || !linked.identified || !isUnderWay(linked)) return;
    await enterDocument(tx, deps, linked, client);
    if (signer.openedAt !== null) return;
    await updateSigner(tx, signer.id, sql`opened_at = ${at}`);
    const detail = { signer: signer.n, client: clientDetail(client) };
    await appendToTrail(tx, rowMac, envelope, "opened", at, detail, channelOf(linked));
    await setEnvelopeStatus(tx, order, "Viewed", at);
  });
}

/** True while the link's signing continues and its browser has passed the access step. */
const isUnderWay = (linked: Linked): boolean => ["ready", "waiting", "signed"].includes(stateOf(linked));

/**
 * Reads the picture of a signature, for a signer who can sign now.
 * @throws ServiceError when it is not the signer's turn, or the signer can't sign now for another reason
 */
async function readPicture({ db, clock, workers }: EnvelopeDeps, link: Link, bytes: Buffer) {
  const linked = await follow(db, link, clock);
  requireState(linked, "ready");
  return readPictureIn(workers, { holder: linked.envelope.partnerId, bytes });
}

const declineWords: Readonly<Record<DeclineKind, string>> = {
  declined: "declined to sign",
  paper: "wants to sign on paper",
  withdrawn: "withdrew consent to sign electronically",
  not_me: "nobody declined, the link reached somebody who is not the person who should sign",
};
