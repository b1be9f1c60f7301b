/**
 * Connects a page to the media server by two connections. One sends this device's sound and picture; the other receives
 * those of all other people. For the second connection, the server makes the offer.
 */

export type ServerMessage =
  | { kind: "publish"; sdp: string }
  | { kind: "subscribe"; sdp: string; tracks: { mid: string; person: string; media: "audio" | "video" }[] };

/** A message that somebody wrote in the room. */
export type Written = { n: number; at: string; person: string; text: string };
/** The page that the notary shows, in the document with this hash. */
export type Led = { page: number; sha256: string };
/** The page of the document that a person is reading. */
export type Reads = { person: string; page: number; pages: number; isFollowing: boolean };

/** A message of the page's event stream. */
export type RoomNotification =
  | { kind: "changed" }
  | { kind: "media" }
  | { kind: "taken"; page: string }
  | { kind: "free" }
  | { kind: "message"; isCheck: boolean; message: ServerMessage }
  | { kind: "written"; written: Written }
  | ({ kind: "page" } & Led)
  | ({ kind: "reads" } & Reads);

/**
 * The ticket for a connection. `at` is the query string of all further requests. The device check needs it, because its
 * requests must all reach the same node of the service.
 */
type Ticket = { ticket: string; iceServers: RTCIceServer[]; at?: string };

/** The server refused to connect this page, because the person's last action was on another page. */
export class ElsewhereError extends Error {}

/** Handles a message that the server pushed. */
export type Receive = (message: ServerMessage) => void;

export type Connection = {
  stats: () => Promise<{ rttMs: number | null; lost: number; received: number }>;
  /** Ignores failures of this connection from now on. */
  retire: () => void;
  close: () => void;
};

/**
 * Sends a form to one of the room's URLs, and returns the parsed response.
 * @throws Error with the server's message
 */
export async function post(address: string, fields: Record<string, string> = {}): Promise<Record<string, unknown>> {
  const answer = await fetch(address, {
    method: "POST",
    headers: { Accept: "application/json" },
    body: new URLSearchParams(fields),
  });
  const isJson = answer.headers.get("content-type")?.includes("json") ?? false;
  const parsed = isJson ? ((await answer.json()) as Record<string, unknown>) : {};
  if (!answer.ok) throw new Error(String(parsed["message"] ?? parsed["detail"] ?? parsed["error"] ?? answer.status));
  return parsed;
}

const caps = { maxBitrate: 600_000, maxFramerate: 20 };

type Heard = {
  /**
   * Called after the ticket arrived and before this page asks to join. The server's first offer may arrive before the
   * response to that request.
   */
  ready: (receive: Receive, at: string) => void | Promise<void>;
  /** Called for each track of each person, and again after every change of the people in the room. */
  track: (person: string, track: MediaStreamTrack) => void;
  /** Called after `track`, with the people who are still in the room. */
  gone: (people: Set<string>) => void;
  /** Called at most once, when the connection has failed for good; never after `retire` or `close`. */
  failed: () => void;
};

/**
 * Connects with a new ticket.
 * @param kind `media` for a session; `check` for a device check, which receives this device's own sound and picture
 * @param own the media to send; null to send nothing
 * @param page distinguishes this page from others of the same person
 * @param actedAt the time of the person's last action on this page
 * @param before the connection to replace. It is closed only after the request for the new ticket, even if that request
 * fails. If it were closed earlier, the server would see a failure, and ask this page to join again
 */
export async function connect(
  base: string,
  kind: "media" | "check",
  own: MediaStream | null,
  { ready, track, gone, failed }: Heard,
  { page = "", actedAt = 0, before = null }: { page?: string; actedAt?: number; before?: Connection | null } = {},
): Promise<Connection> {
  before?.retire();
  const ago = String(Math.max(0, Date.now() - actedAt));
  const posted = await post(`${base}/${kind}`, { page, ago }).finally(before?.close);
  if (posted["isElsewhere"]) throw new ElsewhereError();
  const { ticket, iceServers, at = "" } = posted as unknown as Ticket;
  const received = new RTCPeerConnection({ iceServers });
  const sent = new RTCPeerConnection({ iceServers });
  let queue: Promise<unknown> = Promise.resolve();
  let isOver = false;
  const retire = () => {
    isOver = true;
  };
  const end = () => {
    retire();
    sent.close();
    received.close();
  };
  const fail = () => {
    if (isOver) return;
    end();
    failed();
  };
  const ask = async (message: { kind: string; sdp?: string | undefined }) => {
    const { sdp } = message;
    const signaled = await post(`${base}/signal${at}`, {
      ticket,
      kind: message.kind,
      ...(sdp !== undefined && { sdp }),
    });
    return signaled["messages"] as ServerMessage[];
  };
  const receive = (message: ServerMessage) => {
    if (message.kind !== "subscribe") return;
    // Handles messages one after the other, because an answer refers to the preceding offer.
    queue = queue
      .then(async () => {
        if (isOver) return;
        await received.setRemoteDescription({ type: "offer", sdp: message.sdp });
        await received.setLocalDescription(await received.createAnswer());
        // When a person leaves, the server gives their tracks to the next person. A browser reports each track only
        // once, so the tracks are looked up for every offer.
        for (const { mid, person } of message.tracks) {
          const used = received.getTransceivers().find((each) => each.mid === mid);
          if (used) track(person, used.receiver.track);
        }
        gone(new Set(message.tracks.map(({ person }) => person)));
        await ask({ kind: "subscribe", sdp: received.localDescription?.sdp });
      })
      .catch(fail);
  };
  for (const pc of [sent, received])
    pc.onconnectionstatechange = () => {
      if (pc.connectionState === "failed") fail();
    };
  try {
    await ready(receive, at);
    for (const each of await ask({ kind: "join" })) receive(each);
    if (own) {
      await offer(sent, own);
      for (const answer of await ask({ kind: "publish", sdp: sent.localDescription?.sdp }))
        if (answer.kind === "publish") await sent.setRemoteDescription({ type: "answer", sdp: answer.sdp });
        else receive(answer);
    }
  } catch (error) {
    // Closes the connections of this failed attempt. Otherwise, their later failure would replace the connection of the
    // next attempt.
    end();
    throw error;
  }
  if (isOver) throw new Error("the connection failed while it was made");
  return { retire, close: end, stats: () => statsOf(sent, received) };
}

/**
 * The result of an attempt to join. After `stopped`, a retry is useless until the person acts here, or the session
 * continues.
 */
type Attempt = "joined" | "failed" | "stopped";

const firstRetryMs = 1_000;
const maxRetryMs = 3_000;
/** If a connection that lasted at least this long is lost, the next attempt starts at once. */
const stableMs = 10_000;

/**
 * Joins, and joins again after each failure. Only one attempt runs at a time. A call during an attempt starts another
 * attempt afterwards, because the running one may use an expired ticket. After an attempt that ends with `stopped`, no
 * other attempt follows.
 */
export function joiner(attempt: () => Promise<Attempt>, now: () => number = () => performance.now()) {
  let isRunning = false;
  let isWanted = false;
  let timer: ReturnType<typeof setTimeout> | null = null;
  let beganAt = Number.NEGATIVE_INFINITY;
  let retryMs = firstRetryMs;

  async function run(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    isWanted = isRunning;
    if (isRunning) return;
    isRunning = true;
    beganAt = now();
    const result = await attempt().catch((): Attempt => "failed");
    isRunning = false;
    if (result === "failed" || (isWanted && result === "joined")) again();
  }

  function again(): void {
    if (isRunning) isWanted = true;
    if (isRunning || timer !== null) return;
    const isStable = now() - beganAt > stableMs;
    if (isStable) retryMs = firstRetryMs;
    timer = setTimeout(() => void run(), isStable ? 0 : retryMs);
    if (!isStable) retryMs = Math.min(retryMs * 2, maxRetryMs);
  }

  return {
    /** Joins at once, without the pause of `again`. */
    join: () => void run(),
    /** Joins again: at once after a stable connection, otherwise after a pause. */
    again,
  };
}

async function offer(sent: RTCPeerConnection, own: MediaStream): Promise<void> {
  for (const each of own.getTracks())
    sent.addTransceiver(each, { direction: "sendonly", sendEncodings: [each.kind === "video" ? caps : {}] });
  await sent.setLocalDescription(await sent.createOffer());
}

async function statsOf(sent: RTCPeerConnection, received: RTCPeerConnection) {
  let rttMs: number | null = null;
  let [lost, packets] = [0, 0];
  for (const each of (await sent.getStats()).values())
    if (each.type === "candidate-pair" && each.currentRoundTripTime !== undefined)
      rttMs = each.currentRoundTripTime * 1000;
  for (const each of (await received.getStats()).values())
    if (each.type === "inbound-rtp") {
      lost += each.packetsLost ?? 0;
      packets += each.packetsReceived ?? 0;
    }
  return { rttMs, lost, received: packets };
}
