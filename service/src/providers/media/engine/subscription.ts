/** The connection that sends all other participants' media to one participant. The engine makes the offer. */
import type { RTCPeerConnection, RTCRtpTransceiver, RtpPacket } from "werift";
import { invalid } from "../../../kernel/platform/errors.ts";
import type { SentTrack } from "../media.ts";
import type { Media } from "../webm/webm.ts";
import { describedLine, type Line, type LineSettings } from "./connections.ts";
import { ownSdp, readSdp } from "./sdp.ts";
import type { ReceiveInput, Receiving } from "./transport.ts";

/**
 * The transceivers that send one participant's media to the receiver. `isNew` is set when the participant, or the
 * participant's connection, has changed. The next packet of that kind clears it.
 */
type Sent = { person: string; senders: Readonly<Record<Media, RTCRtpTransceiver>>; isNew: Record<Media, boolean> };

type SubscriptionInput = Omit<ReceiveInput, "session" | "person"> & { readonly settings: LineSettings };

/** The most packets that are queued for a slow receiver. Further packets are dropped, to save memory. */
const maxUnsent = 300;
const settleMs = 5_000;
/** A connection that is not established this long after the browser's answer counts as failed. */
const connectMs = 15_000;

/** Sends the tracks of the participants whom `show` names to one participant. */
export class Subscription implements Receiving {
  readonly #input: SubscriptionInput;
  readonly #sent: Sent[] = [];
  #line: Line | null = null;
  #wanted: readonly string[] = [];
  #state: "idle" | "offering" | "waiting" | "settling" | "closed" = "idle";
  #isStale = false;
  #unsent = 0;

  constructor(input: SubscriptionInput) {
    this.#input = input;
  }

  /** Sets the participants whose tracks this connection sends, and makes an offer. */
  show(people: readonly string[]): void {
    if (people.join() === this.#wanted.join()) return;
    this.#wanted = people;
    this.#isStale = true;
    if (this.#state === "idle") this.#offerSoon();
  }

  async answered(answer: unknown): Promise<void> {
    const sdp = readSdp(answer);
    const line = this.#line;
    if (this.#state !== "waiting" || !line) throw invalid("subscribe must answer an offer that waits for its answer");
    this.#state = "settling";
    try {
      await line.pc.setRemoteDescription({ type: "answer", sdp });
    } catch (error) {
      this.#enter("waiting");
      throw invalid(`sdp must answer the offer: ${error instanceof Error ? error.message : "unknown"}`);
    }
    // Before the end of the key agreement, a key frame would not reach the receiver. So it is requested now only if the
    // connection is established; otherwise `#watch` requests it later.
    if (line.pc.connectionState === "connected") for (const person of this.#wanted) this.#input.onPictureLost(person);
    // A new offer during the key agreement would abort it.
    void connected(line.pc, settleMs).then(() => {
      this.#enter("idle");
      if (this.#isStale && this.#state === "idle") this.#offerSoon();
    });
    void connected(line.pc, connectMs).then(() => {
      if (isPending(line.pc)) this.#input.onEnd();
    });
  }

  send(from: string, media: Media, packet: RtpPacket): void {
    const to = this.#sent.find(({ person }) => person === from);
    if (!to || this.#unsent >= maxUnsent) return;
    const { sender } = to.senders[media];
    if (to.isNew[media]) {
      to.isNew[media] = false;
      const { sequenceNumber, timestamp } = packet.header;
      sender.replaceRTP({ sequenceNumber, timestamp });
    }
    this.#unsent++;
    void sender
      .sendRtp(packet)
      .catch(() => {})
      .finally(() => this.#unsent--);
  }

  /** Does nothing here, because the caller itself drops packets that must not be forwarded. */
  pause(): void {}

  /**
   * Must be called when the sender has a new connection. Without it, the sequence numbers and times that the receiver
   * gets would jump.
   */
  continued(from: string): void {
    for (const each of this.#sent) if (each.person === from) each.isNew = { audio: true, video: true };
  }

  async close(): Promise<void> {
    this.#state = "closed";
    await this.#line?.close();
  }

  #enter(state: "idle" | "waiting"): void {
    if (this.#state !== "closed") this.#state = state;
  }

  #offerSoon(): void {
    void this.#offer().catch(() => {
      if (this.#state !== "closed") this.#input.onEnd();
    });
  }

  async #offer(): Promise<void> {
    const { settings, onOffer } = this.#input;
    this.#state = "offering";
    this.#isStale = false;
    const describe = async (pc: RTCPeerConnection) => {
      // A new connection to the receiver has no tracks, so the tracks of the old one are discarded.
      if (!this.#line) this.#sent.length = 0;
      this.#assign(pc);
      await pc.setLocalDescription(await pc.createOffer());
    };
    const line = this.#line;
    let sdp: string;
    if (line) {
      await describe(line.pc);
      sdp = ownSdp(line.pc.localDescription?.sdp ?? "", settings.announce);
    } else {
      const described = await describedLine(settings, describe);
      sdp = described.sdp;
      if (this.#isClosed()) return described.line.close();
      this.#line = described.line;
      this.#watch(described.line.pc);
    }
    if (this.#isClosed()) return;
    this.#state = "waiting";
    onOffer({ kind: "subscribe", sdp, tracks: this.#tracks() });
  }

  #isClosed(): boolean {
    return this.#state === "closed";
  }

  #watch({ connectionStateChange }: RTCPeerConnection): void {
    const { onEnd, onPictureLost } = this.#input;
    connectionStateChange.subscribe((now) => {
      if (now === "failed" || now === "closed") onEnd();
      if (now === "connected") for (const { person } of this.#sent) onPictureLost(person);
    });
  }

  /**
   * Participants who have joined get the tracks of participants who have left, because the sections of a session
   * description are never removed. Adds tracks when none are free.
   */
  #assign(pc: RTCPeerConnection): void {
    const free = this.#sent.filter(({ person }) => !this.#wanted.includes(person));
    for (const person of this.#wanted) {
      if (this.#sent.some((each) => each.person === person)) continue;
      const reused = free.shift();
      if (reused) {
        reused.person = person;
        reused.isNew = { audio: true, video: true };
        continue;
      }
      const senders = {
        audio: pc.addTransceiver("audio", { direction: "sendonly" }),
        video: pc.addTransceiver("video", { direction: "sendonly" }),
      };
      const added: Sent = { person, senders, isNew: { audio: false, video: false } };
      senders.video.sender.onPictureLossIndication.subscribe(() => this.#input.onPictureLost(added.person));
      this.#sent.push(added);
    }
  }

  #tracks(): SentTrack[] {
    return this.#sent
      .filter(({ person }) => this.#wanted.includes(person))
      .flatMap(({ person, senders }) =>
        (["audio", "video"] as const).map((media) => ({ mid: senders[media].mid ?? "", person, media })),
      );
  }
}

const isPending = ({ connectionState }: RTCPeerConnection): boolean =>
  connectionState === "new" || connectionState === "connecting";

/** Resolves once the connection is established or has failed, at the latest after this time. */
function connected(pc: RTCPeerConnection, maxMs: number): Promise<void> {
  if (!isPending(pc)) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, maxMs);
    pc.connectionStateChange.subscribe((state) => {
      if (state === "connecting") return;
      clearTimeout(timer);
      resolve();
    });
  });
}
