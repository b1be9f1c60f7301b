/**
 * Guards for the DTLS server of werift 0.25.2, which handles each handshake message as often as it arrives. Chromium
 * sends its messages again after 50 ms, so on a busy machine they arrive twice. A second ClientKeyExchange then derives
 * other keys, because the hash of the handshake contains later messages by that time (RFC 7627 section 4), and the
 * connection is never established. A late ClientHello even makes the server forget its keys.
 */
import { DtlsServer, DtlsSocket } from "werift";

type Handshake = { readonly msg_type: number; readonly fragment: Buffer };
type Server = { readonly connected: boolean; readonly dtls: { readonly flight: number } };
type Socket = { handleFragmentHandshake: (messages: readonly Handshake[]) => Handshake[] };

/** RFC 5246 section 7.4. */
const clientHello = 1;
/**
 * Certificate, CertificateVerify and ClientKeyExchange. A repeated Finished is answered again, so it is not dropped.
 */
const handledOnce: ReadonlySet<number> = new Set([11, 15, 16]);
/** The numbers of the server's flights after which it has sent its hello, and its Finished (RFC 6347 section 4.2.4). */
const [helloFlight, finishedFlight] = [4, 6];

const handled = new WeakMap<object, Set<number>>();
let guarded = false;

/** Installs the guards. Must be called once in the process, before the first connection. */
export function guardDtls(): void {
  if (guarded) return;
  guarded = true;
  const sockets = DtlsSocket.prototype as unknown as Socket;
  const assemble = sockets.handleFragmentHandshake;
  sockets.handleFragmentHandshake = function (this: Socket, messages) {
    const assembled = assemble.call(this, messages);
    if (!(this instanceof DtlsServer)) return assembled;
    const server = this as unknown as Server;
    // werift collects the fragments of a message and returns them at once, so the first one decides for all.
    const dropped = new Set<number>();
    for (const [index, message] of assembled.entries())
      if (assembled.findIndex(({ msg_type: type }) => type === message.msg_type) === index && !isNew(server, message))
        dropped.add(message.msg_type);
    return assembled.filter(({ msg_type: type }) => !dropped.has(type));
  };
}

/**
 * Whether the server may handle a message. A ClientHello is dropped once the handshake has passed it, because WebRTC
 * never renegotiates a connection. A repeat of a message in `handledOnce` is dropped too.
 */
function isNew(server: Server, { msg_type: type, fragment }: Handshake): boolean {
  const { flight } = server.dtls;
  if (type === clientHello)
    return !server.connected && flight < finishedFlight && (flight < helloFlight || hasCookie(fragment));
  if (!handledOnce.has(type)) return true;
  const before = handled.get(server) ?? new Set();
  handled.set(server, before);
  const isFirst = !before.has(type);
  before.add(type);
  return isFirst;
}

/**
 * A ClientHello begins with 2 bytes of version, 32 of random, a session id with its length, then the cookie's length.
 */
function hasCookie(fragment: Buffer): boolean {
  const sessionIdAt = 34;
  return (fragment[sessionIdAt + 1 + (fragment[sessionIdAt] ?? 0)] ?? 0) > 0;
}
