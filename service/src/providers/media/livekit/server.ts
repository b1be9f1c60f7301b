/** The API of a LiveKit server: ends rooms, and tells whether the server takes our key. */
import { BusyError } from "../../../kernel/platform/errors.ts";
import { accessToken, type LivekitKey } from "./token.ts";

const answerMs = 5_000;

type Asked = { readonly room: string; readonly identity?: string };

async function call(
  livekit: LivekitKey,
  method: "DeleteRoom" | "ListRooms" | "RemoveParticipant",
  asked: Asked,
  at: number,
) {
  const token = accessToken(livekit, { room: asked.room, identity: "service", role: "admin", at });
  return fetch(`${livekit.url}/twirp/livekit.RoomService/${method}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify(method === "ListRooms" ? {} : asked),
    signal: AbortSignal.timeout(answerMs),
  });
}

const mostTries = 15;
const firstWaitMs = 250;
const longestWaitMs = 4_000;

/**
 * Sends a request once, and goes on in the background until the server has done it or has nothing to end: until then,
 * the server may forward media that nobody records.
 */
async function end(
  livekit: LivekitKey,
  method: "DeleteRoom" | "RemoveParticipant",
  asked: Asked,
  now: () => number,
  tried = 0,
): Promise<void> {
  const answer = await call(livekit, method, asked, now()).catch(() => null);
  await answer?.body?.cancel().catch(() => {});
  if (answer?.status === 200 || answer?.status === 404 || tried + 1 >= mostTries) return;
  const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** tried);
  setTimeout(() => void end(livekit, method, asked, now, tried + 1), waitMs).unref();
}

/** Ends everybody's connections to a room, if it exists. */
export const endRoom = (livekit: LivekitKey, room: string, now: () => number): Promise<void> =>
  end(livekit, "DeleteRoom", { room }, now);

/** Ends a participant's media: LiveKit may forward them for a while after the end of the participant's signalling. */
export const endParticipant = (livekit: LivekitKey, participant: Required<Asked>, now: () => number): Promise<void> =>
  end(livekit, "RemoveParticipant", participant, now);

export const roomOf = (session: string, opening: string): string => `${session}.${opening}`;

/**
 * Ends the rooms of a session that another node, or this one before its restart, opened. LiveKit goes on forwarding
 * between browsers when their node has died, and nobody records that.
 * @throws BusyError when the server doesn't tell its rooms
 */
export async function endEarlierRooms(livekit: LivekitKey, session: string, now: () => number): Promise<void> {
  const answer = await call(livekit, "ListRooms", { room: "" }, now()).catch(() => null);
  if (!answer?.ok) throw new BusyError("The media server does not answer. Try again in a few seconds.");
  const { rooms = [] } = (await answer.json()) as { rooms?: { name?: string }[] };
  const earlier = rooms.flatMap(({ name = "" }) => (name.startsWith(roomOf(session, "")) ? [name] : []));
  await Promise.all(earlier.map((room) => endRoom(livekit, room, now)));
}

/** Asks for the server's rooms. @throws Error when the server can't be reached, or refuses the key */
export async function probeLivekit(livekit: LivekitKey, at: number): Promise<void> {
  const answer = await call(livekit, "ListRooms", { room: "" }, at).catch((error: Error) => {
    throw new Error(`LIVEKIT_URL can't be reached: ${(error.cause as Error | undefined)?.message ?? error.message}`);
  });
  await answer.body?.cancel();
  if (answer.status === 401 || answer.status === 403)
    throw new Error("the server of LIVEKIT_URL refuses LIVEKIT_API_KEY with LIVEKIT_API_SECRET");
  if (answer.status !== 200)
    throw new Error(`LIVEKIT_URL answered with status ${answer.status}: is it a LiveKit server?`);
}
