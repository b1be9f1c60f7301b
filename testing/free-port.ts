import { once } from "node:events";
import { createServer, type Server } from "node:net";

// The ports are 10,000 to 31,999. The ephemeral ports of Linux begin at 32,768 and those of macOS at 49,152, so no
// outgoing connection uses one of ours.
const first = 10_000;
const pairs = 11_000;

async function listen(port: number): Promise<Server | undefined> {
  const server = createServer();
  server.listen(port, "127.0.0.1");
  return once(server, "listening").then(
    () => server,
    () => undefined,
  );
}

/**
 * Reserves a TCP port of 127.0.0.1 until this process ends. Binds the even port below it as a lock, which the kernel
 * releases when the process ends.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const even = first + 2 * Math.floor(Math.random() * pairs);
    const lock = await listen(even);
    if (!lock) continue;
    lock.unref();
    const probe = await listen(even + 1);
    if (!probe) {
      lock.close();
      continue;
    }
    probe.close();
    await once(probe, "close");
    return even + 1;
  }
}
