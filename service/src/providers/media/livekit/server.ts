/** The API of a LiveKit server: rooms, participants, and a check of the key. */
import { BusyError } from "../../../kernel/platform/errors.ts";
import { accessToken, type LivekitKey } from "./token.ts";

const answerMs = 5_000;

/** The room that a request is about, and the participant. */
export type Asked = { readonly room: string; readonly identity?: string };

/** Sends a request. @throws Error without an answer */
export async function call(
  livekit: LivekitKey,
  method: "DeleteRoom" | "ListRooms" | "RemoveParticipant",
  asked: Asked,
  at: number,
): Promise<Response> {
  const token = accessToken(livekit, { room: asked.room, identity: "service", role: "admin", at });
  return fetch(`${livekit.url}/twirp/livekit.RoomService/${method}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", Authorization: `Bearer ${token}` },
    body: JSON.stringify(method === "ListRooms" ? {} : asked),
    signal: AbortSignal.timeout(answerMs),
  });
}

/**
 * Lists the rooms of a server.
 * @returns the names of the rooms
 * @throws BusyError when the server doesn't list its rooms
 */
export async function listRooms(livekit: LivekitKey, at: number): Promise<string[]> {
  const answer = await call(livekit, "ListRooms", { room: "" }, at).catch(() => null);
  if (!answer?.ok) throw new BusyError("The media server does not answer. Try again in a few seconds.");
  const { rooms = [] } = (await answer.json()) as { rooms?: { name?: string }[] };
  return rooms.map(({ name = "" }) => name);
}

/**
 * Tests a server and its key by listing the server's rooms.
 * @throws Error when the server can't be reached, or refuses the key
 */
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
