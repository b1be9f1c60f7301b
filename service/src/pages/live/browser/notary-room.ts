/** The script of a room where people meet by audio and video, on the notary's page and on the signers' pages. */
import { part } from "../../ui/browser/parts.ts";
import { startChat } from "./chat.ts";
import {
  type Connection,
  connect,
  ElsewhereError,
  joiner,
  post,
  type Receive,
  type RoomNotification,
} from "./connection.ts";
import { causeOf, openMedia, startDeviceCheck } from "./device-check.ts";
import { offerPages, startFollowing, startReaders } from "./follow.ts";
import { startPictures, startSeeing } from "./pictures.ts";
import { startRefreshing } from "./refresh.ts";
import { offerDocument, reportFramedDocument } from "./shown-document.ts";

const room = part("notary-room");
const statusLine = part("room-said");
const pictures = part("room-pictures");
const grid = pictures.querySelector<HTMLElement>(".live-pictures") ?? pictures;
const joinButton = part<HTMLButtonElement>("room-join");
const { base = "", self = "" } = room.dataset;
/** An observer sends no media, so this page doesn't request the camera. */
const sends = room.dataset["sends"] !== "no";
const names = JSON.parse(room.dataset["names"] ?? "{}") as Record<string, string>;
const words = JSON.parse(room.dataset["words"] ?? "{}") as Record<string, string>;

const nameOf = (person: string): string => names[person] ?? person;
const chat = startChat({ base, nameOf, unsent: words["unsent"] ?? "" });
const lead = startFollowing({ base, words });
const showReader = startReaders(nameOf);
const { showOwn, showTrack, dropOthers, clear, moves } = startPictures({
  grid,
  self,
  nameOf,
  larger: words["larger"],
  silenced() {
    joinButton.hidden = false;
  },
});
const openSeen = startSeeing(room, moves);

/** A random name that distinguishes this page from the person's other open pages. */
const page = crypto.getRandomValues(new Uint32Array(2)).join("-");
/**
 * When the person opened this page, or last requested the connection here. The page with the newest time gets the
 * connection.
 */
let actedAt = Date.now();
/** True from when another page gets the connection until the person acts here. Until then, this page requests none. */
let isQuiet = false;
/**
 * True while this page waits for the server to decide which of the person's pages gets the connection. Until then, this
 * page ignores notifications of the kind `taken`.
 */
let isAsking = false;

let own: MediaStream | null = null;
let connection: Connection | null = null;
let check: Connection | null = null;
const receivers: { media: Receive | null; check: Receive | null } = { media: null, check: null };

async function ownMedia(): Promise<MediaStream> {
  if (!own?.active) own = await openMedia();
  return own;
}

/** This device's sound and picture. Null if the browser doesn't give access to them; the page then shows the reason. */
const ownOrCause = (): Promise<MediaStream | null> =>
  ownMedia().catch((error: unknown) => {
    statusLine.textContent = causeOf(error, words);
    joinButton.hidden = false;
    pictures.hidden = false;
    return null;
  });

async function attempt(): Promise<"joined" | "failed" | "stopped"> {
  if (room.dataset["media"] !== "on" || isQuiet) return "stopped";
  joinButton.hidden = true;
  const stream = sends ? await ownOrCause() : null;
  if (sends && !stream) return "stopped";
  pictures.hidden = false;
  if (stream) showOwn(stream);
  const before = connection;
  connection = null;
  try {
    const heard = {
      ready(receive: Receive) {
        isAsking = false;
        receivers.media = receive;
        mayMissOffer ||= !wasOpen;
      },
      track: showTrack,
      gone: dropOthers,
      failed: lost,
    };
    isAsking = true;
    connection = await connect(base, "media", stream, heard, { page, actedAt, before });
  } catch (error) {
    isAsking = false;
    if (isQuiet || error instanceof ElsewhereError) return yieldToOther();
    statusLine.textContent = words["lost"] ?? "";
    joinButton.hidden = false;
    return "failed";
  }
  statusLine.textContent = "";
  if (isQuiet) return yieldToOther();
  // The session may have ended while the connection was being opened.
  if (room.dataset["media"] === "on") return "joined";
  leave();
  return "stopped";
}

const joining = joiner(attempt);

let awake: Promise<WakeLockSentinel | null> = Promise.resolve(null);

/**
 * Keeps the screen of a phone on in the waiting room and in the session. When the screen turns off, the browser
 * suspends the page, and the person counts as absent. Some browsers don't support this, or refuse it to save power.
 * Requests run one after another, so that there is never more than one lock.
 */
function keepAwake(): void {
  awake = awake.then(async (lock) => {
    if (part("room-part").dataset["awake"] !== "yes") {
      await lock?.release().catch(() => {});
      return null;
    }
    if (!("wakeLock" in navigator) || document.visibilityState !== "visible") return lock;
    return lock && !lock.released ? lock : navigator.wakeLock.request("screen").catch(() => null);
  });
}
// The browser releases the lock when the page is hidden.
document.addEventListener("visibilitychange", keepAwake);

function lost(): void {
  statusLine.textContent = words["lost"] ?? "";
  joining.again();
}

/**
 * Another page of the person has the connection. This page closes its own connection and the camera until the person
 * acts here.
 */
function yieldToOther(): "stopped" {
  isQuiet = true;
  leave();
  statusLine.textContent = words["elsewhere"] ?? "";
  joinButton.hidden = false;
  pictures.hidden = false;
  return "stopped";
}

function leave(): void {
  connection?.close();
  connection = null;
  for (const track of own?.getTracks() ?? []) track.stop();
  own = null;
  clear();
  pictures.hidden = true;
}

function apply(): void {
  const isOn = part("room-part").dataset["media"] === "on";
  const wasOn = room.dataset["media"] === "on";
  room.dataset["media"] = isOn ? "on" : "off";
  keepAwake();
  openSeen();
  if (isOn !== wasOn) chat.set(isOn);
  if (isOn && !wasOn) {
    check?.close();
    check = null;
    joining.join();
  }
  if (!isOn && wasOn) leave();
  startDeviceCheck({
    media: ownMedia,
    words,
    run: async (stream, track) => {
      check?.close();
      check = await connect(base, "check", stream, {
        ready(receive) {
          receivers.check = receive;
        },
        track: (_, come) => track(come),
        gone: () => {},
        failed: () => {},
      });
      return check;
    },
  });
}

const refresh = startRefreshing(base, apply);

/** While the session is open to the person, submitting a form must not load another page; it only updates this one. */
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || !form.closest("#room-part") || room.dataset["media"] !== "on") return;
  event.preventDefault();
  const fields: Record<string, string> = {};
  for (const [name, value] of new FormData(form, event.submitter)) if (typeof value === "string") fields[name] = value;
  const { submitter } = event;
  if (submitter instanceof HTMLButtonElement) submitter.disabled = true;
  // The cards may be reloaded before the response arrives. `data-sent` keeps the sent values from being copied into the
  // form for the next person or step.
  form.dataset["sent"] = "yes";
  post(form.action, fields)
    .then(() => {
      statusLine.textContent = "";
      form.reset();
    })
    .catch((error: Error) => {
      statusLine.textContent = `${words["failed"]}: ${error.message}`;
      statusLine.scrollIntoView({ block: "nearest" });
    })
    .then(() => {
      delete form.dataset["sent"];
      return refresh();
    })
    .finally(() => {
      // The button is enabled only after the cards are reloaded. If it were enabled earlier, it would offer the
      // finished action again.
      if (submitter instanceof HTMLButtonElement) submitter.disabled = false;
    });
});

joinButton.addEventListener("click", () => {
  for (const video of grid.querySelectorAll("video")) void video.play();
  joinButton.hidden = true;
  actedAt = Date.now();
  isQuiet = false;
  if (!connection) joining.join();
});

/** True if the event stream has been open before. */
let wasOpen = false;
/**
 * True if this page joined before its event stream was open. The server sends its offer by this stream, so the offer
 * was lost.
 */
let mayMissOffer = false;

function listen(): void {
  const events = new EventSource(`${base}/events`);
  events.onopen = () => {
    // The room's state may have changed while the event stream was down. For example, the session's node may have
    // crashed while the media server went on. So the page reconnects, if the room is still open to the person.
    if (wasOpen || mayMissOffer) {
      void refresh().then(joining.again);
      chat.set(room.dataset["media"] === "on");
    }
    wasOpen = true;
    mayMissOffer = false;
  };
  // An EventSource doesn't retry after an error response. The server sends one while another node takes over the
  // session.
  events.onerror = () => {
    if (events.readyState === EventSource.CLOSED) window.setTimeout(listen, 2_000);
  };
  events.onmessage = ({ data }) => {
    const notification = JSON.parse(data as string) as RoomNotification;
    if (notification.kind === "changed") void refresh();
    if (notification.kind === "media") joining.again();
    // While no session is live here, this page has not requested the connection. So it ignores the notification that
    // another page has it.
    if (notification.kind === "taken" && notification.page !== page && !isAsking && room.dataset["media"] === "on")
      yieldToOther();
    if (notification.kind === "free" && isQuiet) statusLine.textContent = words["free"] ?? "";
    if (notification.kind === "page") lead(notification);
    if (notification.kind === "reads") showReader(notification);
    if (notification.kind === "written") chat.show(notification.written);
    if (notification.kind === "message") receivers[notification.isCheck ? "check" : "media"]?.(notification.message);
  };
}

reportFramedDocument(base);
offerDocument(base);
offerPages(base);
listen();
apply();
addEventListener("pagehide", () => connection?.close());
// After "Back", a browser may restore this page in its last state, with a closed connection.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
