import { invalid } from "../../../kernel/platform/errors.ts";
import { card } from "../components.ts";
import { field } from "../forms/fields.ts";
import type { FormValues } from "../forms/form-body.ts";
import { type Html, html } from "../render.ts";
import type { LiveWords } from "./words/en.ts";

type RoomShell = {
  /** The URL below which the script requests the parts of the page. */
  base: string;
  /** The names to show under people's videos, keyed by the id of the person in the media server. */
  names: Readonly<Record<string, string>>;
  /** The person for whom the page is shown. */
  self: string;
  /** True if the person sends nothing: no video, no sound and no written messages. */
  isObserver?: boolean;
  /**
   * True if a click can enlarge one video at a time. Signers' pages don't allow that, because they need the space for
   * the document.
   */
  enlarges?: boolean;
  words: LiveWords;
  /** The part of the page that the script reloads after each change. */
  part: Html;
};

/** A live room: the videos of its people, which the script adds, and a part that is reloaded when something changes. */
export function roomShell({ base, names, self, isObserver = false, enlarges = false, words, part }: RoomShell): Html {
  const { device, room, failed, chat } = words;
  const texts = {
    ...device,
    lost: room.lost,
    elsewhere: room.elsewhere,
    free: room.free,
    failed,
    unsent: chat.unsent,
    leads: room.leads,
    left: room.left,
    other: room.other,
    ...(enlarges && { larger: room.document.larger }),
  };
  return html`<div id="notary-room" class="stack" data-base="${base}" data-self="${self}" data-sends="${isObserver ? "no" : "yes"}" data-names="${JSON.stringify(names)}" data-words="${JSON.stringify(texts)}">
<p id="room-said" role="status"></p>
<section id="room-pictures" class="card" aria-label="${room.pictures}" hidden><div class="live-pictures"></div>
<p class="form-actions"><button type="button" id="room-join" hidden>${room.join}</button></p></section>
${part}
${chatPart(words, isObserver)}
</div>
<noscript><p>${words.needsScript}</p></noscript>`;
}

/**
 * Written messages. The section is outside the reloaded part, so that typed text is not lost, and screen readers
 * announce each new message once.
 */
const chatPart = ({ chat }: LiveWords, isObserver: boolean): Html =>
  html`<section id="room-chat" class="card" aria-labelledby="room-chat-title" hidden><h2 id="room-chat-title">${chat.title}</h2>
<p class="hint">${chat.lead}</p>
<div class="live-chat" role="log" aria-live="polite" aria-labelledby="room-chat-title" tabindex="0"><ol id="room-chat-log"></ol></div>
<form id="room-chat-form" class="form"${isObserver && html` hidden`}>${field({ form: "chat", name: "text", label: chat.label, required: true, maxLength: 500, autocomplete: "off" })}
<p id="room-chat-said" role="status"></p>
<div class="form-actions"><button type="submit" class="secondary">${chat.send}</button></div></form></section>`;

/**
 * The part of a room's page that the script reloads. `on` is true while the script must connect the person's media.
 * `waiting` is true if the person waits for the session, and should notice its beginning.
 */
export const roomPart = ({ on, waiting = false }: { on: boolean; waiting?: boolean }, parts: Html): Html =>
  html`<div id="room-part" class="panels" data-media="${on ? "on" : "off"}" data-awake="${on || waiting ? "yes" : "no"}">${parts}</div>`;

/** The card with the device check. The script runs the check, and nothing is sent to other people. */
export const deviceCard = ({ device }: LiveWords): Html =>
  card(
    "device",
    device.title,
    html`<p>${device.lead}</p>
<div id="device-check" hidden><video id="device-picture" class="live-preview" muted playsinline></video>
<p><label for="device-level">${device.level}</label> <meter id="device-level" min="0" max="1" value="0"></meter></p></div>
<p id="device-said" role="status"></p>
<p class="form-actions"><button type="button" id="device-start" class="secondary">${device.start}</button>
<button type="button" id="device-tone" class="quiet-button">${device.tone}</button></p>`,
  );

/**
 * The device check for a page outside of rooms. That page has its own script.
 * @param base the URL below which the script tests the connection
 */
export const ownDeviceCheck = (base: string, words: LiveWords): Html =>
  html`<div id="own-device" data-base="${base}" data-words="${JSON.stringify(words.device)}">${deviceCard(words)}</div>`;

/**
 * Reads a message that a page's script sends for the media server.
 * @throws ServiceError for any other message
 */
export function messageOf({ kind, sdp }: FormValues) {
  if (kind === "join") return { kind } as const;
  if ((kind === "publish" || kind === "subscribe") && sdp !== undefined)
    return { kind, sdp: sdp.replaceAll("\n", "\r\n") } as const;
  throw invalid("kind must be join, publish or subscribe, and sdp is required with the last two.");
}
