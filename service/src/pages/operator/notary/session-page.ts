import {
  actKinds,
  actWords,
  type Claimed,
  factRules,
  hasDocumentPage,
  hasNoCodesLeft,
  hasVouched,
  type IdentityState,
  type LivePerson,
  type LiveSession,
  notaryName,
  personName,
  placeOf,
  roleWords,
  type SheetView,
  type Typed,
} from "../../../signing/notaries/notaries.ts";
import { card, facts, notice, pageHead, statusBadge } from "../../ui/components.ts";
import { shortCode, time } from "../../ui/format.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, field, select } from "../../ui/forms/fields.ts";
import { deviceCard, roomPart, roomShell } from "../../ui/live/parts.ts";
import { en, type LiveWords } from "../../ui/live/words/en.ts";
import { type Html, html } from "../../ui/render.ts";
import { checkBadge, checkNotice } from "./identity-part.ts";
import { documentWords, orderPath } from "./order-path.ts";
import { capital, identityFields, signedAgainHint, spokenPart, stepList, witnessForms } from "./sheet-page.ts";
import { thirdPersonForm } from "./third-persons-form.ts";

export const sessionPath = (code: string, rest = ""): string => orderPath(code, `/session${rest}`);

export type SessionView = {
  claimed: Claimed;
  session: LiveSession;
  people: readonly LivePerson[];
  sheet: SheetView;
  identities: readonly IdentityState[];
  /**
   * For each person: the phase of the connection, whether the person was ever connected, and the packets lost in the
   * last second.
   */
  lines: ReadonlyMap<string, { phase: string; hasJoined: boolean; lost: number }>;
  /** The person whose signing pages are open, by the name in the media server; null when nobody signs. */
  turn: string | null;
  /** The minutes of recording for which the disk still has space, when it is nearly full; otherwise null. */
  minutesLeft: number | null;
  /** `by`: the hash of the document that each person's browser shows. `now`: the hash of the current document. */
  shown: { by: ReadonlyMap<string, string>; now: string | undefined };
  /** The signers whose location the rules of the notary's U.S. state exclude. */
  excluded: Pick<ReadonlyMap<string, unknown>, "has">;
};

/** The card on an order's page that opens a session, or links to the open one. */
export function livePart(
  { order, eligibility }: Claimed,
  session: LiveSession | null,
  obstacle: string | null,
  isSigned: boolean,
): Html {
  if (session)
    return html`<p>A session is open since ${time(session.openedAt)}.</p><p><a class="button" href="${sessionPath(order.code)}">Go to the session</a></p>`;
  if (obstacle !== null) return html`${notice("info", "Not offered here", html`${obstacle}`)}`;
  const offered = actKinds.filter((kind) => eligibility.rules.acts.value.includes(kind));
  return html`<p>You meet the signers by audio and video in this service. Each signer is mailed a link of their own. A document that they sign in the session is prepared first. All of the session is recorded once you begin it.</p>
<form class="form" method="post" action="${sessionPath(order.code)}">
${select({ form: "session", name: "act", label: "Act", required: true, options: offered.map((value) => ({ value, label: actWords[value] })), hint: isSigned ? signedAgainHint : "" })}
<div class="form-actions"><button type="submit">Open the session</button></div></form>`;
}

/** The notary's page of a session. */
export function sessionBody(view: SessionView, problem?: string): Html {
  const { claimed, people, sheet } = view;
  const { order, notary } = claimed;
  const names = {
    ...Object.fromEntries(people.map(({ n, name }) => [personName(n), name])),
    [notaryName]: `${notary.commissionName} (you)`,
  };
  const orderLink = html`<a href="${orderPath(order.code)}" target="_blank" rel="noopener">${shortCode(order.code)}</a>`;
  const lead = html`Order ${orderLink}, ${documentWords(claimed) ?? "a document to notarize"}. Keep this page open: in the session, it sends your camera and sound.`;
  return html`${pageHead(`${actWords[sheet.sheet.script.act]}, by audio and video`, lead)}
${errorSummary(problem)}
<div class="stack">${roomShell({ base: sessionPath(order.code), names, self: notaryName, enlarges: true, words: en, part: sessionPart(view, {}) })}
${card(
  "document",
  "Document",
  html`<p>Look at the document as the signers see it: it is open to them, and to witnesses of the act, once you let them in. The hash of what each browser shows goes on the record of the session.</p>
<div class="form-actions"><button type="button" id="show-document" class="secondary" data-source="${orderPath(order.code, "/document")}" data-same="It is the document of this session.">Get the document</button>
<a id="shown-document" class="button" href="" target="_blank" rel="noopener" hidden>Open it in another tab</a></div>
<p id="shown-said" role="status"></p>
<form id="lead" class="form" hidden>${field({ form: "lead", name: "page", label: "Page for the signers", required: true, maxLength: 5, inputMode: "numeric", value: "1" })}
<div class="form-actions"><button type="submit" class="secondary">Ask the signers to go to this page</button>
<button type="button" id="lead-before" class="quiet-button">Page before</button><button type="button" id="lead-next" class="quiet-button">Next page</button></div>
<p class="hint">Everybody who has the same document open goes to this page, unless they have left yours. Each page that you ask for is on the record of the session.</p></form>
<p id="lead-said" role="status"></p><p id="reads-said" role="status"></p>`,
)}</div>`;
}

/** The part of the page that the script reloads. */
export function sessionPart(view: SessionView, typed: Typed): Html {
  const { session, claimed } = view;
  const on = session.state === "live" || session.state === "held";
  const { code } = claimed.order;
  return roomPart(
    { on, waiting: session.state === "open" },
    html`${waitPart(view)}${diskPart(view)}${card("open-step", "Now", nowPart(view, typed))}
${card("people", "People", html`${view.people.map((person) => personPart(code, view, person))}${session.state === "open" && invitePart(code, view, typed)}`)}
${session.state === "open" && deviceCard(ownDevice)}
${card("steps", "Steps", stepList(view.sheet))}
${card("session", "Session", statePart(code, session))}`,
  );
}

/** The default words say “before you meet the notary”, but this page is the notary's own. */
const ownDevice: LiveWords = {
  ...en,
  device: { ...en.device, lead: "Try camera, microphone and line before you begin. The check is not recorded." },
};

/** Shown after the session: camera and microphone are off. */
export const endedPart = (why: string | null): Html =>
  roomPart(
    { on: false },
    card(
      "ended",
      "The session has ended",
      html`${why !== null && html`<p>${why}</p>`}<p><a href="/operator/notary">Back to your desk</a></p>`,
    ),
  );

/** Shown after a session that ended because it could not be recorded any longer. */
export const unrecordedWords =
  "The recording could not go on, so the session ended without an act. What was recorded is kept. Everybody gets another link when you open another session. Tell the operator of this service: the disk may be full.";

/** The warning that the session will end when the disk of its recording is full. */
const diskPart = ({ minutesLeft }: SessionView): Html | "" =>
  minutesLeft === null
    ? ""
    : card(
        "disk",
        "The disk is nearly full",
        html`<p>The service has room to record for about ${minutesLeft} more ${minutesLeft === 1 ? "minute" : "minutes"}.
When the disk is full, the session ends without an act, and what was recorded is kept. Tell the operator of this service.
If time is short, end the session for technical reasons, and open another one later.</p>`,
      );

/**
 * The notice that no step is possible now. It is outside the form of the current step, so that typed text is not lost
 * when a connection fails and recovers.
 */
function waitPart({ session, sheet }: SessionView): Html | "" {
  const words =
    session.state === "held"
      ? `${session.isPaused ? "You hold the session." : "Somebody is away, or their line is down."} Nothing is marked or signed now.`
      : session.state === "live"
        ? sheet.obstacle
        : null;
  return words === null ? "" : card("wait", "Not open yet", html`<p>${words}</p>`);
}

/** Instructions for the notary when somebody can't or doesn't want to take part. */
const noActWords = (code: string): Html =>
  html`Otherwise, end the session without an act: the order then waits for another session with you, or you refuse it by “No act” on <a href="${orderPath(code, "#refusal")}" target="_blank" rel="noopener">its page</a>.`;

function statePart(code: string, { state, isPaused, openedAt, liveAt }: LiveSession): Html {
  const end = (outcome: string, label: string) =>
    buttonForm(sessionPath(code, "/end"), label, { fields: { outcome }, kind: "quiet-button" });
  const words = {
    open: "Waiting room: nothing is recorded",
    live: "Live and recorded",
    held: "On hold, and recorded",
    signed: "Signed; the recording has ended",
    ended: "Ended",
  };
  return html`${facts([
    ["State", words[state]],
    ["Opened", time(openedAt)],
    ["Begun", liveAt && time(liveAt)],
  ])}
${state !== "open" && buttonForm(sessionPath(code, "/hold"), isPaused ? "Go on" : "Hold", { fields: { hold: isPaused ? "no" : "yes" }, kind: "secondary" })}
<div class="form-actions">${end("no_show", "End: not everybody came")}${end("technical", "End for technical reasons")}${end("abandoned", "End without an act")}</div>
<p class="hint">If not everybody came, or for technical reasons, people get another link the first time; the second time the order fails.</p>
<p class="hint">If somebody does not want to sign or to go on, ask why: they may wish to read again. ${noActWords(code)}</p>`;
}

function personPart(code: string, view: SessionView, person: LivePerson): Html {
  const { session, lines, identities } = view;
  const { n, name, role, forSigner, place, consent, waitingAt, admittedAt, browserSha256 } = person;
  const isThird = role !== "signer";
  const nameOfSigner = view.people.find((each) => each.n === forSigner)?.name;
  const line = lines.get(personName(n));
  const identity = isThird ? undefined : identities.find((each) => each.person === n);
  const fields = { person: String(n) };
  const about = name;
  const mayEnter = session.state !== "open" && waitingAt !== null && admittedAt === null;
  const mayGo = isThird && role !== "interpreter" && admittedAt !== null && session.state !== "signed";
  const isDone = hasVouched(view.people, view.sheet.sheet, personName(n));
  const letGo = isDone
    ? "Let them go: their part is done"
    : `Go on without this ${roleWords[role].replace("credible ", "")}`;
  return html`<h3 class="breakable">${name}</h3>
${facts([
  [
    "Role",
    isThird ? `${capital(roleWords[role])}${nameOfSigner === undefined ? "" : `, knows ${nameOfSigner}`}` : null,
  ],
  [
    "Here",
    role === "observer" && admittedAt !== null ? statusBadge("done", "May see and hear") : hereBadge(person, line),
  ],
  ["Says to be in", place],
  ["Document", hasDocumentPage(person) ? shownWords(view, personName(n)) : null],
  ["Recording", consent === null ? "not answered" : consent.agreed ? "agrees" : "does not agree"],
  ["Identity check", identity ? checkBadge(identity) : null],
])}
${
  view.excluded.has(personName(n)) &&
  notice(
    "attention",
    "Not let in",
    html`${name} says they are outside the United States. The rules of your state do not allow you to act for a signer there, or only under conditions that this service can’t check. If the answer was wrong, ${name} can answer again. ${noActWords(code)}`,
  )
}
${consent?.agreed === false && notice("attention", "Does not agree to be recorded", html`The session can’t begin, and nobody’s audio and video is passed on. ${name} can still agree. ${noActWords(code)}`)}
${identity && checkNotice(identity)}
<div class="form-actions">${isThird && session.state === "open" && buttonForm(sessionPath(code, "/withdraw"), "Take the invitation back", { fields, about, kind: "quiet-button" })}
${mayEnter && buttonForm(sessionPath(code, "/admit"), "Let in", { fields, about })}
${mayGo && buttonForm(sessionPath(code, "/excuse"), letGo, { fields, about, kind: "secondary" })}
${browserSha256 !== null && buttonForm(sessionPath(code, "/release"), "Let them use another browser", { fields, about, kind: "quiet-button" })}
${browserSha256 === null && hasNoCodesLeft(person) && buttonForm(sessionPath(code, "/release"), "Let them ask for codes again", { fields, about, kind: "quiet-button" })}</div>`;
}

function shownWords({ shown }: SessionView, person: string): string {
  const seen = shown.by.get(person);
  if (seen === undefined) return "not opened yet";
  return seen === shown.now
    ? "their browser shows the current one"
    : "their browser showed another one, or an earlier version";
}

/**
 * Third persons are invited before the session begins, because everybody must consent to the recording before it
 * starts.
 */
const invitePart = (code: string, { claimed }: SessionView, typed: Typed): Html =>
  html`<h3>Somebody else in the room</h3>
${thirdPersonForm({ claimed, form: "invite", action: sessionPath(code, "/invite"), button: "Mail them a link" }, typed)}`;

type Line = { phase: string; hasJoined: boolean; lost: number } | undefined;

function hereBadge({ browserSha256, waitingAt, admittedAt }: LivePerson, line: Line): Html {
  if (admittedAt !== null) {
    if (!line?.hasJoined) return statusBadge("waiting", "Let in, not connected yet");
    if (line.phase === "away") return statusBadge("stopped", "Away");
    return line.phase === "frozen" ? statusBadge("attention", "Line is down") : statusBadge("done", "In the session");
  }
  if (waitingAt !== null) return statusBadge("progress", "In the waiting room");
  return browserSha256 === null
    ? statusBadge("waiting", "Not here")
    : statusBadge("waiting", "At the door: no answer about the recording yet");
}

function nowPart(view: SessionView, typed: Typed): Html {
  const { claimed, session, sheet, turn, people } = view;
  const { code } = claimed.order;
  if (session.state === "open") {
    const ready = people.every(({ consent }) => consent?.agreed);
    return html`<p>${ready ? "Everybody agrees to be recorded." : "Everybody comes by their own link, and says whether they agree to be recorded. You can begin once all have agreed."}</p>
${ready && buttonForm(sessionPath(code, "/start"), "Begin the session and the recording")}`;
  }
  const { open } = sheet;
  if (!open) return html`<p>All steps are marked.</p>`;
  const { step, signer } = open;
  const lead = spokenPart(sheet, open);
  if (step.name === "notary_signs")
    return html`${lead}<p>Note the act and sign in the page of the order. It opens in another tab: this one stays open, so that you stay in the session.</p>
<p><a class="button" href="${orderPath(code, "#act")}" target="_blank" rel="noopener">Note the act and sign</a></p>`;
  if (step.by === "signer") return html`${lead}${turnPart(code, view, signer ?? 0, turn)}`;
  const sees = step.needs.includes("seen") && signer !== null ? personName(signer) : null;
  const hidden = { step: step.name, ...(signer !== null && { signer: String(signer) }), ...(sees && { shows: "" }) };
  return html`${lead}${step.name === "identify" && checkPart(view, signer ?? 0)}
<form class="form" method="post" action="${sessionPath(code, "/mark")}"${sees && html` data-sees="${sees}"`}>${hiddenFields(hidden)}
${step.name === "identify" && signer !== null && identityFields(sheet.sheet.people, signer, { ...placeOf(people, signer), ...typed }, factRules(claimed.eligibility.rules))}
${step.name !== "identify" && step.choices.length > 0 && select({ form: "mark", name: "choice", label: "How", required: true, value: typed["choice"], options: step.choices.map((value) => ({ value, label: capital(value) })) })}
${sees && seenPart(signerName(people, signer))}
<div class="form-actions"><button type="submit"${sees && html` disabled`}>Mark as done</button></div></form>
${step.name === "identify" && signer !== null && people.some(({ forSigner }) => forSigner === signer) && witnessForms(sessionPath(code, "/witness"), sheet, signer, typed)}`;
}

const signerName = (people: SessionView["people"], signer: number | null): string =>
  people.find(({ n }) => n === signer)?.name ?? "the signer";

/** Shown until the page's script detects that the signer's picture moves. */
const seenPart = (name: string): Html =>
  html`<p data-unseen>This page shows no moving picture of ${name}, so you can’t mark that you see them. If there is a button “${en.room.join}”, press it. Otherwise reload this page.</p>
<p class="hint">The service can’t see your screen: the record keeps what you state.</p>`;

/** Shows the signer's identity check, so that the notary sees it before marking a step that may rely on it. */
function checkPart({ claimed, identities }: SessionView, signer: number): Html {
  const found = identities.find(({ person }) => person === signer);
  if (!found) return html``;
  const about = html`<a href="${orderPath(claimed.order.code, "#identity")}" target="_blank" rel="noopener">Look at it on the order’s page</a>`;
  return found.problem === null
    ? html`<p>Identity check: ${checkBadge(found)} ${about}.</p>`
    : notice("attention", "“Credential” is not accepted now", html`${found.problem} ${about}.`);
}

function turnPart(code: string, { people }: SessionView, signer: number, turn: string | null): Html {
  const name = signerName(people, signer);
  if (turn === personName(signer))
    return html`<p>${name} has the document open. The step is marked when they are done.</p>`;
  return buttonForm(sessionPath(code, "/turn"), `Give ${name} the document`);
}
