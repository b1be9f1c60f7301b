/**
 * LiveKit's access tokens: JSON Web Tokens that name one participant of one room, and the participant's permissions
 * there.
 */
import { createHmac } from "node:crypto";

export type LivekitKey = { readonly url: string; readonly key: string; readonly secret: string };

/**
 * A `publisher` only sends. A `listener` only receives, is hidden from everybody else, and gets only the tracks to
 * which it subscribes. An `admin` has no connection; it lists and ends rooms, and removes participants.
 */
export type Role = "publisher" | "listener" | "admin";

/** The validity of a token. It is used immediately, and the connection may last longer than the token. */
const lifeSeconds = 60;
/** The clocks of this machine and of the server may differ by this much. */
const skewSeconds = 30;

const grants = (role: Role, room: string) =>
  role === "admin"
    ? { room, roomAdmin: true, roomCreate: true, roomList: true }
    : {
        room,
        roomJoin: true,
        canPublish: role === "publisher",
        canSubscribe: role === "listener",
        canPublishData: false,
        hidden: role === "listener",
      };

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/**
 * Creates the access token for one participant of a room.
 * @param at milliseconds since 1970
 */
export function accessToken(
  { key, secret }: Pick<LivekitKey, "key" | "secret">,
  { room, identity, role, at }: { room: string; identity: string; role: Role; at: number },
): string {
  const seconds = Math.floor(at / 1_000);
  const claims = {
    iss: key,
    sub: identity,
    nbf: seconds - skewSeconds,
    exp: seconds + lifeSeconds,
    video: grants(role, room),
  };
  const signed = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
