import { connect } from "node:net";

export type Target = { port: number; request: (n: number) => Buffer };

const headEnd = Buffer.from("\r\n\r\n");

/**
 * Loads a server over keep-alive connections. Each connection sends its next request when the previous one is answered.
 * @returns answers per second
 */
export async function load(
  target: Target,
  options: { connections: number; ms: number; expect: number },
): Promise<number> {
  const started = performance.now();
  const deadline = started + options.ms;
  let answered = 0;
  let sent = 0;
  const lane = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ port: target.port, host: "127.0.0.1", noDelay: true });
      let pending: Buffer = Buffer.alloc(0);
      const send = () => socket.write(target.request(sent++));
      socket.on("connect", send);
      socket.on("error", reject);
      socket.on("close", () => resolve());
      socket.on("data", (chunk) => {
        pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
        const end = pending.indexOf(headEnd);
        if (end < 0) return;
        const head = pending.toString("latin1", 0, end);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
        if (pending.length < end + 4 + length) return;
        const status = Number(head.slice(9, 12));
        if (status !== options.expect) {
          socket.destroy();
          return reject(new Error(`answered ${status}: ${pending.toString("utf8", end + 4, end + 304)}`));
        }
        pending = Buffer.alloc(0);
        answered++;
        if (performance.now() < deadline) send();
        else socket.destroy();
      });
    });
  await Promise.all(Array.from({ length: options.connections }, lane));
  return answered / ((performance.now() - started) / 1000);
}

// Rounds before the measurement. Our code takes longer to compile than the rival's, but both are compiled within a few
// seconds.
const warmUp = 5;

/**
 * Loads our server and the other one alternately, so that a change of the machine's speed affects both. Both are warmed
 * up first.
 */
export async function interleave(
  ours: Target,
  other: Target,
  options: { rounds: number; connections: number; ms: number; expect: number },
) {
  const rates = { ours: [] as number[], other: [] as number[] };
  for (const target of [ours, other]) await load(target, { ...options, ms: warmUp * options.ms });
  for (let round = 0; round < options.rounds; round++) {
    rates.ours.push(await load(ours, options));
    rates.other.push(await load(other, options));
  }
  return rates;
}

export function get(path: string, headers: Record<string, string> = {}): Buffer {
  const lines = Object.entries({ Host: "localhost", ...headers }).map(([name, value]) => `${name}: ${value}`);
  return Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
}
