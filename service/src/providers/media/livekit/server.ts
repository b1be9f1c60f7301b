/** The API of a LiveKit server: ends rooms, and tells whether the server takes our key. */
import { setTimeout as sleep } from "node:timers/promises";
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

/** Ends everybody's connections to a room, if it exists. A server that can't be reached forwards nothing, either. */
export async function endRoom(livekit: LivekitKey, room: string, at: number): Promise<void> {
  await call(livekit, "DeleteRoom", { room }, at)
    .then((answer) => answer.body?.cancel())
    .catch(() => {});
}

const mostTries = 15;
const tryAgainMs = 2_000;

/**
 * Ends a participant's media whose signalling was cut off: LiveKit would go on forwarding them. Tries again until the
 * server answers, because the line that was cut leads there.
 */
export async function endParticipant(
  livekit: LivekitKey,
  participant: Required<Asked>,
  now: () => number,
): Promise<void> {
  for (let tried = 0; tried < mostTries; tried++) {
    const answer = await call(livekit, "RemoveParticipant", participant, now()).catch(() => null);
    await answer?.body?.cancel();
    if (answer) return;
    await sleep(tryAgainMs, undefined, { ref: false });
  }
}

export const roomOf = (session: string, opening: string): string => `${session}.${opening}`;

/**
 * Ends the rooms of a session that another node, or this one before its restart, opened. LiveKit goes on forwarding
 * between browsers when their node has died, and nobody records that.
 */
export async function endEarlierRooms(livekit: LivekitKey, session: string, at: number): Promise<void> {
  const answer = await call(livekit, "ListRooms", { room: "" }, at).catch(() => null);
  if (!answer?.ok) return;
  const { rooms = [] } = (await answer.json()) as { rooms?: { name?: string }[] };
  const earlier = rooms.flatMap(({ name = "" }) => (name.startsWith(roomOf(session, "")) ? [name] : []));
  await Promise.all(earlier.map((room) => endRoom(livekit, room, at)));
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
