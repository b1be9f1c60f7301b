/**
 * Guards for the DTLS server of werift 0.25.2, which handles a handshake message each time that it arrives. Chromium
 * repeats its messages after 50 ms, so on a busy machine they arrive twice. By then, the hash of the handshake includes
 * later messages (RFC 7627 section 4). So a second ClientKeyExchange derives other keys, and the connection fails. A
 * late ClientHello even makes the server discard its keys.
 */
import { DtlsServer, DtlsSocket } from "werift";

type Handshake = { readonly msg_type: number; readonly fragment: Buffer };
type Server = { readonly connected: boolean; readonly dtls: { readonly flight: number } };
type Socket = { handleFragmentHandshake: (messages: readonly Handshake[]) => Handshake[] };

/** The number of the handshake message ClientHello (RFC 5246 section 7.4). */
const clientHello = 1;
/**
 * The numbers of Certificate, CertificateVerify and ClientKeyExchange. Finished is not listed, because the server must
 * answer a repeated Finished again.
 */
const handledOnce: ReadonlySet<number> = new Set([11, 15, 16]);
/** The server sends its ServerHello in flight 4, and its Finished in flight 6 (RFC 6347 section 4.2.4). */
const [helloFlight, finishedFlight] = [4, 6];

const handled = new WeakMap<object, Set<number>>();
let guarded = false;

/** Installs the guards. Call this once per process, before the first connection. */
export function guardDtls(): void {
  if (guarded) return;
  guarded = true;
  const sockets = DtlsSocket.prototype as unknown as Socket;
  const assemble = sockets.handleFragmentHandshake;
  sockets.handleFragmentHandshake = function (this: Socket, messages) {
    const assembled = assemble.call(this, messages);
    if (!(this instanceof DtlsServer)) return assembled;
    const server = this as unknown as Server;
    // werift collects the fragments of a message and returns them together, so the decision about the first fragment
    // applies to all.
    const dropped = new Set<number>();
    for (const [index, message] of assembled.entries())
      if (assembled.findIndex(({ msg_type: type }) => type === message.msg_type) === index && !isNew(server, message))
        dropped.add(message.msg_type);
    return assembled.filter(({ msg_type: type }) => !dropped.has(type));
  };
}

/**
 * True if the server may handle a message. After the server's hello, a ClientHello without a cookie is dropped. After
 * the server's Finished, each ClientHello is dropped, because WebRTC never renegotiates a connection. A repeated
 * message listed in `handledOnce` is dropped as well.
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
 * True if a ClientHello has a cookie. The message begins with 2 bytes of version and 32 random bytes. A session id and
 * a cookie follow, each after a byte with its length.
 */
function hasCookie(fragment: Buffer): boolean {
  const sessionIdAt = 34;
  return (fragment[sessionIdAt + 1 + (fragment[sessionIdAt] ?? 0)] ?? 0) > 0;
}
