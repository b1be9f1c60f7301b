import pg from "pg";
import { endsWithin } from "../work/ends-within.ts";

type Send = (channel: string, payload: string) => Promise<unknown>;

/** A connection that receives notifications. */
export type Listener = {
  /**
   * Checks that notifications arrive.
   * @param send sends a notification to the channel of these checks
   * @returns true if the notification arrives in time
   */
  hears: (send: Send) => Promise<boolean>;
  end: () => Promise<void>;
};

const checksChannel = "signsealship_checks";
const hearMs = 1_500;
const reconnectMs = 1_000;

/**
 * Listens on a separate connection. After a reconnect, calls `onNotify` with an empty payload, because notifications
 * may have been missed.
 */
export async function openListener(
  settings: pg.ClientConfig,
  channel: string,
  onNotify: (payload: string) => void,
  onBroken: (error: Error) => void,
): Promise<Listener> {
  const awaited = new Map<string, () => void>();
  let client: (pg.Client & { processID?: number | null }) | undefined;
  let retry: NodeJS.Timeout | undefined;
  let ended = false;
  let checks = 0;

  async function connect(): Promise<void> {
    const next = new pg.Client(settings);
    next.on("notification", (heard) => {
      if (heard.channel === checksChannel) awaited.get(heard.payload ?? "")?.();
      else onNotify(heard.payload ?? "");
    });
    next.on("error", onBroken);
    next.on("end", reconnect);
    client = next;
    await next.connect();
    for (const each of [channel, checksChannel]) await next.query(`LISTEN ${pg.escapeIdentifier(each)}`);
  }

  function reconnect(): void {
    if (ended) return;
    clearTimeout(retry);
    retry = setTimeout(() => {
      connect().then(() => onNotify(""), onRefused);
    }, reconnectMs);
  }

  function onRefused(error: Error): void {
    onBroken(error);
    reconnect();
  }

  await connect().catch(onRefused);
  return {
    async hears(send) {
      // Contains this connection's process id, which distinguishes the checks of this node from those of other nodes.
      const payload = `${client?.processID}-${++checks}`;
      const heard = new Promise<void>((resolve) => awaited.set(payload, resolve));
      try {
        await send(checksChannel, payload);
        return await endsWithin(heard, hearMs);
      } finally {
        awaited.delete(payload);
      }
    },
    async end() {
      ended = true;
      clearTimeout(retry);
      await client?.end();
    },
  };
}

/**
 * Sends a notification through the pool and waits for it.
 * @param listener the listener in use; null to open one for this check
 * @throws Error when the notification does not arrive
 */
export async function checkNotifications(
  send: Send,
  listener: Listener | null,
  settings: pg.ClientConfig,
): Promise<void> {
  const silent = () => {};
  const used = listener ?? (await openListener(settings, checksChannel, silent, silent));
  try {
    if (!(await used.hears(send)))
      throw new Error(
        `a notification did not arrive within ${hearMs} ms: behind a pooler DATABASE_LISTEN_URL must lead to the server itself`,
      );
  } finally {
    if (listener === null) await used.end();
  }
}
