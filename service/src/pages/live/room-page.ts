import type { ConsentText } from "../../signing/envelopes/envelopes.ts";
import {
  countryChoices,
  type Entered,
  type IdentityState,
  type LiveSession,
  notaryName,
  personName,
} from "../../signing/notaries/notaries.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { clientFrame } from "../ui/client-frame.ts";
import { card, notice, pageHead } from "../ui/components.ts";
import { hiddenFields } from "../ui/forms/button-form.ts";
import { checkbox, field, select } from "../ui/forms/fields.ts";
import { layout } from "../ui/layout.ts";
import { deviceCard, roomPart, roomShell } from "../ui/live/parts.ts";
import type { LiveWords } from "../ui/live/words/en.ts";
import { liveWords } from "../ui/live/words/languages.ts";
import { previewPart } from "../ui/orders/document-view.ts";
import { type Html, html } from "../ui/render.ts";
import { linkFor, type Reader } from "../ui/words/reader.ts";

export type RoomView = {
  token: string;
  entered: Entered;
  /** The name of the notary. `people` lists everybody else of the session, including the reader of this page. */
  notary: string;
  people: readonly { n: number; name: string; role: Entered["person"]["role"] }[];
  act: keyof LiveWords["acts"];
  /** True if this notarial act requires the signers to sign a document again. */
  signsAgain: boolean;
  identity: IdentityState | null;
  consentText: ConsentText;
  /**
   * City, region and country as the person typed them. Empty unless the form was just sent, or this location was
   * rejected.
   */
  stated: Readonly<Record<string, string>>;
  /** True if that location was rejected, because the notary may not act for a signer there. */
  isAbroad: boolean;
  /** True if the person is a signer who is in the session now and has signed its document. */
  hasSigned: boolean;
  /** The URL of the signing pages while it is this person's turn to sign; otherwise null. */
  signing: string | null;
  /**
   * The hash of the document that this person may read outside of their turn to sign. Set only for a person who may
   * read the document, and only while that person is in a session that is being recorded; otherwise null.
   */
  document: string | null;
  /** True if the disk of the recording is nearly full. */
  isDiskLow: boolean;
  /** True if the order no longer waits for a notary. */
  isOver: boolean;
  /** True if the session ended because it could not be recorded any longer. */
  isUnrecorded: boolean;
  /**
   * True for a third person, such as a witness, whom the notary sent back to the waiting room. False once the notary
   * has admitted them again.
   */
  isExcused: boolean;
  reader: Reader;
  error?: string | null;
  isSent?: boolean;
};

export const roomPath = (token: string): string => `/notary-room/${token}`;

/**
 * The room of a signer, a witness or an observer, step by step: mailed code, device check and consent, waiting room,
 * session, and the end.
 */
export function roomPage(assets: Pick<Assets, "url">, view: RoomView): string {
  const { token, entered, notary, people, act, reader, error } = view;
  const words = liveWords[reader.words.language];
  const { n } = entered.person;
  const names = Object.fromEntries(
    people.map((each) => [personName(each.n), each.n === n ? words.room.you : each.name]),
  );
  const isOpen = entered.step !== "code" && entered.step !== "elsewhere";
  const part = roomFragment(view);
  const body = html`${pageHead(words.title, isOpen ? words.about(words.acts[act], notary) : undefined)}
${error && html`<div class="form-errors" role="alert" tabindex="-1" autofocus><p class="form-errors-title">${words.failed}</p><p>${error}</p></div>`}
${isOpen ? roomShell({ base: roomPath(token), names: { ...names, [notaryName]: `${words.room.notary}: ${notary}` }, self: personName(n), isObserver: entered.person.role === "observer", words, part }) : part}`;
  return layout(assets, {
    ...clientFrame(reader.words),
    credential: false,
    unlisted: true,
    title: words.title,
    body,
    scripts: isOpen ? ["notary-room.js"] : [],
  });
}

/** The part of the page that the script reloads. */
export function roomFragment(view: RoomView): Html {
  const { entered, reader } = view;
  const words = liveWords[reader.words.language];
  const on = isOn(entered.session, entered.step);
  return roomPart({ on, waiting: entered.step === "waiting" && !view.isExcused }, html`${partsOf(view, words)}`);
}

const isOn = ({ state }: LiveSession, step: Entered["step"]): boolean =>
  step === "room" && (state === "live" || state === "held");

function partsOf(view: RoomView, words: LiveWords): Html[] {
  switch (view.entered.step) {
    case "code":
      return [...cameraParts(view, words), codePart(view, words)];
    case "elsewhere":
      return [card("elsewhere", words.code.title, html`<p>${words.elsewhere}</p>`)];
    case "about":
      return [...deviceParts(view, words), ...identityParts(view, words), consentPart(view, words)];
    case "refused":
      return [
        card("refused", words.consent.title, html`<p>${words.consent.refused}</p><p>${words.consent.again}</p>`),
        consentPart(view, words),
      ];
    case "waiting":
      if (view.isExcused) return [card("waiting", words.waiting.title, html`<p>${words.thanks}</p>`)];
      return [
        card(
          "waiting",
          words.waiting.title,
          html`<p>${words.waiting.text}</p><p>${words.waiting.keep}</p>${againPart(view, words)}`,
        ),
        ...identityParts(view, words),
        ...deviceParts(view, words),
      ];
    case "room":
      return sessionParts(view, words);
    case "ended":
      return [
        card(
          "ended",
          words.ended.title,
          html`<p>${view.entered.person.role === "signer" ? endWords(view, words) : words.thanks}</p>`,
        ),
      ];
  }
}

/**
 * The words that a signer reads after the session. They announce another session only while the order still waits for a
 * notary.
 */
function endWords({ entered, isUnrecorded, isOver }: RoomView, { ended }: LiveWords): string {
  const outcome = entered.session.outcome ?? "technical";
  if (isOver && (outcome === "technical" || outcome === "no_show" || outcome === "abandoned")) return ended.over;
  return isUnrecorded ? ended.unrecorded : ended[outcome];
}

function codePart({ token, entered, reader, isSent }: RoomView, { code }: LiveWords): Html {
  const path = (rest: string) => linkFor(reader, `${roomPath(token)}${rest}`);
  return card(
    "who",
    code.title,
    html`<p>${code.lead(entered.person.name)}</p>
<form class="form-actions" method="post" action="${path("/code")}"><button type="submit" class="${isSent ? "quiet-button" : ""}">${code.send}</button></form>
${isSent && html`<p role="status">${code.sent}</p>`}
<form class="form" method="post" action="${path("/enter")}">
${field({ name: "code", label: code.label, required: true, maxLength: 12, inputMode: "numeric", autocomplete: "one-time-code" })}
<div class="form-actions"><button type="submit" class="${isSent ? "" : "quiet-button"}">${code.go}</button></div></form>`,
  );
}

/**
 * A notice for browsers without a camera. It comes before the code form, because entering the code ties the person to
 * this browser.
 */
const cameraParts = ({ entered }: RoomView, { device }: LiveWords): Html[] =>
  entered.person.role === "observer"
    ? []
    : [html`<div class="without-camera">${notice("attention", device.insecure, "")}</div>`];

/** An observer sends no media, so there is no device to check. */
const deviceParts = ({ entered }: RoomView, words: LiveWords): Html[] =>
  entered.person.role === "observer"
    ? [card("device", words.device.title, html`<p>${words.room.observes}</p>`)]
    : [deviceCard(words)];

/**
 * The card of the person's identity verification. A credible witness gets the same card as a signer without a
 * verification, because the notary questions both in the session. Observers and other third persons get no card.
 */
function identityParts({ identity, entered }: RoomView, words: LiveWords): Html[] {
  if (entered.person.role !== "signer" && entered.person.role !== "credible_witness") return [];
  // A verification that is void, or whose link has expired, is treated as missing. The notary then requests another
  // one.
  const isVoid =
    identity !== null && identity.problem !== null && !identity.isOpen && identity.check?.state !== "failed";
  const state = isVoid || !identity?.check || identity.check.state === "expired" ? "none" : identity.check.state;
  return [card("identity", words.identity.title, html`<p>${words.identity[state]}</p>`)];
}

function consentPart(view: RoomView, { consent }: LiveWords): Html {
  const { token, reader, consentText, entered, people, stated, isAbroad, error } = view;
  const observers = people.filter(({ role }) => role === "observer");
  const { markdown, version, language } = consentText;
  const paragraphs = markdown
    .trim()
    .split(/\n{2,}/)
    .slice(1);
  return card(
    "consent",
    consent.title,
    html`<div class="consent-text">${paragraphs.map((each) => html`<p>${each}</p>`)}</div>
<form class="form" id="consent-form" method="post" action="${linkFor(reader, `${roomPath(token)}/consent`)}">${hiddenFields({ version, language, observers: observers.map(({ n }) => n).join(",") })}
${observers.length > 0 && html`<p>${consent.observers(observers.map(({ name }) => name).join(", "))}</p>`}
${isAbroad && !error && html`<p>${consent.abroad}</p>`}
${field({ name: "city", label: consent.city, value: stated["city"], maxLength: 80, autocomplete: "off", required: true })}
${field({ name: "region", label: consent.region, value: stated["region"], maxLength: 80, autocomplete: "off", required: true })}
${select({ name: "country", label: consent.country, value: stated["country"] ?? "US", required: true, options: countryChoices(reader.words.language) })}
${checkbox({ name: "own", label: consent.own, required: true })}
<div class="form-actions"><button type="submit" name="answer" value="agree">${consent.agree}</button>
${entered.step === "about" && html`<button type="submit" name="answer" value="refuse" class="quiet-button" formnovalidate>${consent.refuse}</button>`}</div></form>`,
  );
}

/** Explains to a signer why they sign a document again. */
const againPart = ({ entered, signsAgain }: RoomView, { room }: LiveWords): Html | "" =>
  signsAgain && entered.person.role === "signer" ? html`<p>${room.again}</p>` : "";

function sessionParts(view: RoomView, words: LiveWords): Html[] {
  const { token, entered, signing, document, hasSigned, isDiskLow, reader } = view;
  const { room } = words;
  const isHeld = entered.session.state === "held";
  const notices = html`${isHeld && notice("attention", room.held, "")}${isDiskLow && notice("attention", room.diskLow, "")}`;
  const turn =
    (entered.person.role === "signer" || document !== null) &&
    html`<p>${signing === null ? room.listen : room.turn}</p>`;
  const signed = hasSigned ? html`<p>${room.signed}</p>` : againPart(view, words);
  return [
    card(
      "session",
      room.title,
      html`${notices}${turn}${signed}${entered.person.role === "observer" && html`<p>${room.observes}</p>`}<p class="hint">${room.recorded}</p>`,
    ),
    ...(signing === null ? [] : [framePart("turn", room.turn, signing, room)]),
    // The frame's URL contains the hash, so that the frame is reloaded when the document has changed.
    ...(signing !== null || document === null
      ? []
      : [
          framePart(
            "document",
            room.document.title,
            linkFor(reader, `${roomPath(token)}/document?of=${document}`),
            room,
          ),
        ]),
  ];
}

const framePart = (id: string, title: string, page: string, room: LiveWords["room"]): Html =>
  card(
    id,
    title,
    html`${followPart(room)}<iframe id="document-frame" class="live-frame" src="${page}" title="${title}"></iframe>`,
  );

/** The page in the room's frame, where a signer or a witness reads the document. */
export function roomDocumentPage(assets: Pick<Assets, "url" | "pdfJs">, token: string, { words }: Reader): string {
  const { room, needsScript } = liveWords[words.language];
  const { title, ...viewerWords } = room.document;
  const config = { document: `${roomPath(token)}/document.pdf`, pdfjs: assets.pdfJs.folder, words: viewerWords };
  return layout(assets, {
    ...clientFrame(words),
    credential: false,
    unlisted: true,
    framed: true,
    title,
    body: previewPart(config, needsScript),
    scripts: ["preview.js"],
  });
}

/**
 * While the box is ticked, the document on the person's screen scrolls to the page that the notary shows. Scrolling
 * elsewhere unticks the box.
 */
const followPart = (room: LiveWords["room"]): Html =>
  html`<div class="form-field form-check"><input type="checkbox" id="follow-notary" checked><label for="follow-notary">${room.follow}</label></div>
<p id="follow-said" role="status"></p>`;
