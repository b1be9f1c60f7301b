/**
 * The entry of a signer or a third person into a live session: the link, a code, one browser, consent to the recording,
 * and the waiting room.
 */
import { minuteMs } from "../../../kernel/platform/clock.ts";
import type { Tx } from "../../../kernel/platform/database/database.ts";
import { type Statement, sql } from "../../../kernel/platform/database/sql.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { newSecret, newUuid } from "../../../kernel/platform/ids.ts";
import { isLanguage } from "../../../kernel/platform/languages.ts";
import { isCodeUnder, tokenSha256 } from "../../../kernel/platform/secrets.ts";
import { isCode, isPlainText, isSecret, isVisible } from "../../../kernel/platform/text.ts";
import { lockOrder } from "../../../orders/order/order.ts";
import { isAbroad, isCountry, type Place, placeText } from "../places.ts";
import { orderCodeOf } from "../sheets/store.ts";
import type { AskingPage, Connected } from "./holders.ts";
import { personName } from "./interruption.ts";
import { codeMs, liveMail, roomCode } from "./mail.ts";
import type { LiveDeps } from "./session.ts";
import {
  appendEvent,
  eventsOf,
  findLive,
  type LivePerson,
  type LiveSession,
  livePeople,
  lockLive,
  lockPerson,
  personOfToken,
  updatePerson,
} from "./store.ts";
import { observersIn } from "./third-persons.ts";
import { onlineOf } from "./watch.ts";

/**
 * The token of a room's link, and the secret of the browser. `browser` is null before the browser has entered the code.
 */
export type RoomLink = { token: string; browser: string | null };

export type Entered = {
  session: LiveSession;
  person: LivePerson;
  /** The step of the entry at which the person is. `elsewhere`: the code was entered in another browser. */
  step: "code" | "elsewhere" | "about" | "refused" | "waiting" | "room" | "ended";
};

const unknown = () => new ServiceError("not_found", "This link opens no room.");

const notOpen = () => new ServiceError("conflict", "This is not open to you now. Reload the page.");

const isBound = ({ browserSha256 }: LivePerson, { browser }: RoomLink): boolean =>
  browserSha256 !== null && browser !== null && isSecret(browser) && browserSha256.equals(tokenSha256(browser));

/**
 * The step at which the person is in this browser.
 * @throws ServiceError `not_found` for a malformed or unknown link; the message is the same for both
 */
export async function enteredBy({ sheets: { desk } }: Pick<LiveDeps, "sheets">, link: RoomLink): Promise<Entered> {
  const person = isCode(link.token) ? await personOfToken(desk.db, link.token) : undefined;
  const session = person && (await findLive(desk.db, person.sessionId));
  if (!person || !session) throw unknown();
  return { session, person, step: stepOf(session, person, link) };
}

function stepOf({ state }: LiveSession, person: LivePerson, link: RoomLink): Entered["step"] {
  if (!isBound(person, link)) return state === "ended" ? "ended" : person.browserSha256 === null ? "code" : "elsewhere";
  if (state === "ended") return "ended";
  if (person.consent === null) return "about";
  if (!person.consent.agreed) return "refused";
  return person.admittedAt === null || state === "open" ? "waiting" : "room";
}

/**
 * Finds the person of a room's link, who must be at one of these steps.
 * @throws ServiceError `conflict` when the person is not at this step in this browser
 */
export async function requireStep(
  deps: Pick<LiveDeps, "sheets">,
  link: RoomLink,
  ...steps: readonly Entered["step"][]
): Promise<Entered> {
  const entered = await enteredBy(deps, link);
  if (!steps.includes(entered.step)) throw notOpen();
  return entered;
}

/**
 * Connects a person to the room, and then checks that the person may still be there.
 * @throws ServiceError `conflict` when the notary has since excused the person, or released the person from this
 * browser
 */
export async function connectPerson(
  deps: Pick<LiveDeps, "sheets" | "rooms">,
  link: RoomLink,
  {
    session,
    person,
    asking,
    isObserver = false,
  }: { session: string; person: string; asking: AskingPage | null; isObserver?: boolean },
): Promise<Connected> {
  const connected = await deps.rooms.connect(session, person, asking, isObserver);
  try {
    await requireStep(deps, link, "room");
  } catch (error) {
    // The notary's request could not close this connection, because the connection did not exist yet. So it is closed
    // here. The person's new browser may have connected meanwhile, and stays connected.
    await deps.rooms.revoke(session, person, connected);
    throw error;
  }
  return connected;
}

type Locked = { tx: Tx; session: LiveSession; person: LivePerson; at: Date };

/**
 * Runs work on the session of a link, if the person is at one of these steps. Locks the order, the session and the
 * person.
 * @throws ServiceError `not_found` for an invalid link, `conflict` when the person is at another step or the session
 * has ended
 */
export async function atLink<T>(
  deps: Pick<LiveDeps, "sheets">,
  link: RoomLink,
  steps: readonly Entered["step"][],
  work: (locked: Locked) => Promise<T>,
): Promise<T> {
  const { desk } = deps.sheets;
  const {
    session: seen,
    person: { id },
  } = await requireStep(deps, link, ...steps);
  return desk.db.transaction(async (tx) => {
    await lockOrder(tx, await orderCodeOf(tx, seen));
    const session = await lockLive(tx, seen.id);
    const person = await lockPerson(tx, id);
    if (!session || !person || session.state === "ended") throw new ServiceError("conflict", "This session has ended.");
    // Checks the step again under the lock: since the first check, the notary may have released the person from this
    // browser. The person must then enter again.
    if (!steps.includes(stepOf(session, person, link))) throw notOpen();
    return work({ tx, session, person, at: desk.clock() });
  });
}

async function write(
  { sheets: { desk } }: Pick<LiveDeps, "sheets">,
  { tx, session, person, at }: Locked,
  set: Statement,
  name: string,
  detail: unknown = null,
): Promise<void> {
  await updatePerson(tx, person.id, set);
  const who = personName(person.n);
  await appendEvent(tx, desk.rowMac, session, { at, name, by: who, person: who, detail });
}

const maxCodes = 12;
const maxFailures = 5;

/** True if all codes are used up, possibly by a stranger with the link. The notary can then allow more codes. */
export const hasNoCodesLeft = ({ codesSent }: Pick<LivePerson, "codesSent">): boolean => codesSent >= maxCodes;

/**
 * Mails a code: at most one every 30 seconds, and at most twelve until the person is released from the browser
 * (`releaseBrowser`) or the email address is corrected.
 * @throws ServiceError `rate_limited` for more codes; otherwise as `atLink`
 */
export async function sendRoomCode(deps: LiveDeps, link: RoomLink): Promise<void> {
  await atLink(deps, link, ["code"], async (locked) => {
    const { tx, person, at } = locked;
    const tooOften = new ServiceError("rate_limited", "A code was sent already. Look at your mail, or try again soon.");
    if (hasNoCodesLeft(person)) throw tooOften;
    if (person.codeSentAt !== null && at.getTime() - person.codeSentAt.getTime() < minuteMs / 2) throw tooOften;
    const codeId = newUuid();
    const set = sql`code_id = ${codeId}, code_sent_at = ${at}, codes_sent = codes_sent + 1, failures = 0`;
    await write(deps, locked, set, "code_sent");
    await liveMail.enqueue(tx, { personId: person.id, codeId });
  });
}

/**
 * Binds the room to this browser if the mailed code is right. The fifth wrong attempt invalidates the code.
 * @returns the browser's secret; null for a wrong code
 */
export async function enterRoom(deps: LiveDeps, link: RoomLink, typed: string): Promise<string | null> {
  const { clock } = deps.sheets.desk;
  const entered = await atLink(deps, link, ["code"], async (locked) => {
    const { person, session } = locked;
    const isOpen = person.codeId !== null && clock().getTime() - (person.codeSentAt?.getTime() ?? 0) <= codeMs;
    if (!isOpen) throw new ServiceError("conflict", "The code is too old. Ask for another one.");
    if (!isCodeUnder(deps.identity.secrets, (key) => roomCode(key, person.codeId ?? ""), typed)) {
      const failures = person.failures + 1;
      const ends = failures >= maxFailures;
      await write(deps, locked, sql`failures = ${failures}, code_id = ${ends ? null : person.codeId}`, "code_wrong");
      return null;
    }
    const browser = newSecret();
    await write(deps, locked, sql`browser_sha256 = ${tokenSha256(browser)}, code_id = NULL`, "entered");
    return { session: session.id, browser };
  });
  if (entered === null) return null;
  deps.rooms.tell(entered.session, { kind: "changed" });
  return entered.browser;
}

/**
 * Records whether the person agrees to be recorded, and where the person is. A person who refuses can't be admitted,
 * but may agree later. A session can't begin before everybody agrees.
 * @returns `abroad` for a signer outside the United States, if the rules of the notary's state don't permit that. Then
 * only the place is recorded, which the notary sees. `changed` if the consent text or, for an agreement, the observers
 * have changed since the page was loaded. Then nothing is recorded. Otherwise null
 * @throws ServiceError `validation` naming the first wrong field
 */
export async function answerConsent(
  deps: LiveDeps,
  link: RoomLink,
  typed: Record<string, string>,
): Promise<"abroad" | "changed" | null> {
  const { answer, version = "", language = "" } = typed;
  if (answer !== "agree" && answer !== "refuse") throw invalid("answer must be agree or refuse.");
  const where = answer === "agree" ? readPlace(typed) : null;
  if (where && typed["own"] !== "on") throw invalid("own must be on: the person agrees of their own will.");
  if (!isLanguage(language)) throw invalid("language must be one of the page's languages.");
  const text = deps.consentTexts.current(language);
  const agreed = where !== null;
  const place = where && placeText(where);
  const outcome = await atLink(deps, link, ["about", ...(agreed ? (["refused"] as const) : [])], async (locked) => {
    const { at, tx, session: open, person } = locked;
    const observers = observersIn(await livePeople(tx, open.id)).map(({ n }) => n);
    const hasAllNames = (typed["observers"] ?? "") === observers.join(",");
    if (text.version !== version || (agreed && !hasAllNames)) return "changed";
    if (where && person.role === "signer" && isAbroad(where.country)) {
      const { signerAbroad } = await onlineOf(deps, open);
      if (!signerAbroad?.value) {
        await write(deps, locked, sql`place = ${place}`, "abroad", { where });
        return "abroad";
      }
    }
    const consent = {
      agreed,
      version,
      language,
      textSha256: text.sha256,
      at: at.toISOString(),
      ...(observers.length > 0 && { observers }),
      ...(where && { own: true, where }),
    };
    const set = sql`consent = ${JSON.stringify(consent)}::jsonb, place = ${place}, waiting_at = ${agreed ? at : null}`;
    await write(deps, locked, set, agreed ? "consented" : "consent_refused", { consent, place });
    return null;
  });
  const { session } = await enteredBy(deps, link);
  deps.rooms.tell(session.id, { kind: "changed" });
  return outcome;
}

/**
 * The events after which an earlier `abroad` event of the person no longer counts: the person has answered, or may
 * answer again.
 */
const answeredAgain: readonly string[] = ["consented", "consent_refused", "released"];

/**
 * The signers who said that they are abroad, although the rules of the notary's state don't permit that. The keys are
 * their names in the session, such as `signer-1`. The values are the places that they stated.
 */
export async function excludedAbroad(
  { sheets: { desk } }: Pick<LiveDeps, "sheets">,
  session: LiveSession,
): Promise<ReadonlyMap<string, Place>> {
  const found = new Map<string, Place>();
  for (const { name, person, detail } of await eventsOf(desk.db, desk.rowMac, session)) {
    if (person === null) continue;
    if (name === "abroad") found.set(person, (detail as { where: Place }).where);
    if (answeredAgain.includes(name)) found.delete(person);
  }
  return found;
}

/**
 * Reads the place where the person says they are.
 * @throws ServiceError `validation` naming the first wrong field
 */
function readPlace(typed: Record<string, string>): Place {
  const part = (name: "city" | "region"): string => {
    const text = (typed[name] ?? "").trim();
    if (isVisible(text) && isPlainText(text) && text.length <= 80) return text;
    throw invalid(`${name} is required: at most 80 characters.`);
  };
  const where = { city: part("city"), region: part("region"), country: typed["country"] ?? "" };
  if (!isCountry(where.country)) throw invalid("country is required: two letters, as in ISO 3166-1.");
  return where;
}
