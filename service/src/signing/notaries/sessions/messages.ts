/** Written messages in a live session, for people who can't hear or speak, and for spelling names. */
import type { Operator } from "../../../firms/operators/operators.ts";
import { invalid, ServiceError } from "../../../kernel/platform/errors.ts";
import { isPlainText, isVisible } from "../../../kernel/platform/text.ts";
import { claimedOrder } from "../claims/claims.ts";
import type { Typed } from "../form-reader.ts";
import type { Message } from "../recordings/messages.ts";
import { outcomeOf } from "../sheets/store.ts";
import { atLink, type RoomLink, requireStep } from "./entry.ts";
import { requireRecorded } from "./holding.ts";
import { notaryName, personName } from "./interruption.ts";
import { atLive, type LiveDeps, type LockedLive, liveOf, note } from "./session.ts";
import type { LiveSession } from "./store.ts";

const maxLength = 500;

/**
 * Reads the text of a message from the form.
 * @throws ServiceError `validation` for a text that is missing, too long or not plain
 */
function textOf(typed: Typed): string {
  const text = (typed["text"] ?? "").trim();
  if (!isVisible(text)) throw invalid("text is required.");
  if (!isPlainText(text)) throw invalid("text must be one line of plain text.");
  if ([...text].length > maxLength) throw invalid(`text must have at most ${maxLength} characters.`);
  return text;
}

type Writing = Pick<LockedLive, "tx" | "session" | "at">;

/**
 * Writes a message and its event in one transaction.
 * @throws ServiceError `conflict` before the session begins and after its act has ended, `unavailable` as
 * `requireRecorded`; otherwise as `insertMessage`
 */
async function write(deps: LiveDeps, live: Writing, person: string, text: string): Promise<Message> {
  const { tx, session, at } = live;
  const isOn = session.state === "live" || session.state === "held";
  // The act may have ended. Then the message is rejected, because the manifest is already being written without it.
  if (!isOn || (await outcomeOf(tx, session.sheetId)) !== null)
    throw new ServiceError("conflict", "Nothing is recorded now, so no message is passed on.");
  await requireRecorded(deps, session.id, tx);
  const { n, sha256 } = await deps.recordings.writeMessage(tx, session.id, { at, person, text });
  await note(deps, live, person, { name: "message", person, detail: { n, sha256 } });
  return { n, at: at.toISOString(), person, text };
}

/**
 * Sends the message of a signer or third person to everybody in the room.
 * @throws ServiceError `validation` for an unfit text, `role_required` for an observer, `conflict` when the person is
 * not in the room; otherwise as `write`
 */
export async function writeMessage(deps: LiveDeps, link: RoomLink, typed: Typed): Promise<void> {
  const text = textOf(typed);
  const written = await atLink(deps, link, ["room"], async (entered) => {
    const { session, person } = entered;
    if (person.role === "observer") throw new ServiceError("role_required", "An observer can’t write messages.");
    return { session: session.id, message: await write(deps, entered, personName(person.n), text) };
  });
  deps.rooms.pass(written.session, written.message);
}

/**
 * Sends the notary's message to everybody in the room.
 * @throws ServiceError `validation` for an unfit text, `conflict` when no session is open; otherwise as `write`
 */
export async function writeAsNotary(deps: LiveDeps, operator: Operator, code: string, typed: Typed): Promise<void> {
  const text = textOf(typed);
  const claimed = await claimedOrder(deps.sheets.desk, operator, code);
  const written = await atLive(deps, operator, claimed, async (live) => ({
    session: live.session.id,
    message: await write(deps, live, notaryName, text),
  }));
  deps.rooms.pass(written.session, written.message);
}

/**
 * The messages since the admission of the link's person. Earlier messages are not shown, because that person was not in
 * the room.
 */
export async function readMessages(deps: LiveDeps, link: RoomLink): Promise<Message[]> {
  const { session, person } = await requireStep(deps, link, "room");
  const since = person.admittedAt?.toISOString() ?? "";
  return (await messagesIn(deps, session)).filter(({ at }) => at >= since);
}

/**
 * All messages of the session, until it ends.
 * @throws ServiceError `not_found` without such a session
 */
export async function readAsNotary(deps: LiveDeps, operator: Operator, code: string): Promise<Message[]> {
  const found = await liveOf(deps, await claimedOrder(deps.sheets.desk, operator, code));
  if (!found) throw new ServiceError("not_found", "No session is open for this order.");
  return messagesIn(deps, found.session);
}

const messagesIn = async ({ recordings }: LiveDeps, { id }: LiveSession): Promise<Message[]> =>
  (await recordings.messages(id)).map(({ n, at, person, text }) => ({ n, at, person, text }));
