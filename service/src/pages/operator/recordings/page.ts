import { minuteMs } from "../../../kernel/platform/clock.ts";
import type {
  Checked,
  ExportOnList,
  Notary,
  RecordingOnList,
  recordingById,
  ShownRecording,
  Typed,
} from "../../../signing/notaries/notaries.ts";
import { card, codeText, emptyState, facts, notice, pageHead, statusBadge } from "../../ui/components.ts";
import { shortCode, shortTime, time } from "../../ui/format.ts";
import { buttonForm, hiddenFields } from "../../ui/forms/button-form.ts";
import { errorSummary, field, select } from "../../ui/forms/fields.ts";
import { records } from "../../ui/records.ts";
import { type Html, html } from "../../ui/render.ts";

type Recording = Awaited<ReturnType<typeof recordingById>>;

export const recordingsPath = "/operator/notary/recordings";
export const recordingPath = (id: string, rest = ""): string => `${recordingsPath}/${id}${rest}`;
export const exportPath = (id: string): string => `${recordingsPath}/exports/${id}`;

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(bytes < 10_000_000 ? 1 : 0)} MB`;

const retentionWords = ({
  keepUntil,
  isHeld,
  deletedAt,
}: Pick<Recording, "keepUntil" | "isHeld" | "deletedAt">): string => {
  if (deletedAt) return "Deleted";
  const until = keepUntil === null ? "For good: the state’s rules name no number of years" : `To ${keepUntil}`;
  return isHeld ? `Held. ${until}` : until;
};

const stateBadge = ({ endedAt, deletedAt, isHeld }: Pick<Recording, "endedAt" | "deletedAt" | "isHeld">): Html => {
  if (deletedAt) return statusBadge("stopped", "Deleted");
  if (!endedAt) return statusBadge("progress", "Runs, or broke off");
  return isHeld ? statusBadge("attention", "Held") : statusBadge("done", "Complete");
};

type ListView = {
  /** The notary whose recordings are listed; null for the recordings of all notaries. */
  notary: Pick<Notary, "id" | "commissionName"> | null;
  /** True if the operator may see only their own recordings. Then `notary` is the operator. */
  isOwn: boolean;
  /** The newest exports that the operator has made and can still download. */
  exports: readonly ExportOnList[];
  typed: Typed;
  problem?: string | undefined;
};

const leadOf = ({ notary, isOwn }: ListView): string =>
  `Of ${isOwn ? "your sessions" : (notary?.commissionName ?? "all notaries")}. Each viewing is logged.`;

/** The form that exports a notary's recordings, all or those of a period, with a copy of the whole journal. */
function everythingPart({ notary, typed }: ListView): Html | "" {
  if (!notary) return "";
  const form = "everything";
  const day = (name: "from" | "to", label: string) =>
    field({ form, name, label, type: "date", value: typed[name], hint: "Empty: without limit. Days are in UTC." });
  return card(
    form,
    "Everything",
    html`<p>One zip with all recordings that began in these days and a copy of the whole journal, for example when a commission ends. Your browser can continue a download that broke off, for three days.</p>
<form class="form" method="post" action="${recordingsPath}/export">${hiddenFields({ notary: notary.id })}${day("from", "From")}${day("to", "To")}${reason(form, "Why you export everything")}
<div class="form-actions"><button type="submit" class="secondary">Export everything</button></div></form>`,
  );
}

const exportWords = ({ notary, startedAt, from, to }: ExportOnList): Html => {
  if (startedAt) return html`Recording of ${notary}, ${shortTime(startedAt)}`;
  return html`Everything of ${notary}${from && `, from ${from}`}${to && `, to ${to}`}`;
};

/** The operator's own exports, so that a download can be resumed after the browser lost its URL. */
function exportsPart({ exports }: ListView): Html | "" {
  if (exports.length === 0) return "";
  return card(
    "exports",
    "Your exports",
    records(
      "Your exports, the newest first",
      [{ label: "Exported", utc: true }, { label: "Content" }, { label: "Download until", utc: true }],
      exports.map((each) => [
        html`<a href="${exportPath(each.id)}">${shortTime(each.createdAt)}</a>`,
        exportWords(each),
        shortTime(each.until),
      ]),
    ),
  );
}

/** The newest recordings in the operator's environment: of one notary, of one order, or of all. */
export function recordingsBody(rows: readonly RecordingOnList[], view: ListView): Html {
  const list =
    rows.length === 0
      ? emptyState("No recordings", "Each session by audio and video becomes one.")
      : records(
          "Recordings, the newest first",
          [
            { label: "Started", utc: true },
            { label: "Notary" },
            { label: "Order" },
            { label: "People", number: true },
            { label: "Size", number: true },
            { label: "State" },
            { label: "Kept" },
          ],
          rows.map((row) => [
            html`<a href="${recordingPath(row.id)}">${shortTime(row.startedAt)}</a>`,
            row.notary,
            row.code === null ? "" : shortCode(row.code),
            String(row.people),
            megabytes(row.bytes),
            stateBadge(row),
            retentionWords(row),
          ]),
        );
  return html`${pageHead("Recordings", leadOf(view))}
${errorSummary(view.problem)}
<div class="panels">${card("recordings", "Sessions", list)}
${everythingPart(view)}
${exportsPart(view)}</div>`;
}

type View = {
  recording: Recording;
  /**
   * The recording to play. Null before the session has ended, and after the recording was deleted. Also null unless the
   * viewer has opened the recording with a reason in the last hour.
   */
  shown: ShownRecording | null;
  mayHold: boolean;
};

/** The outcome of the last submitted form. */
export type CheckOutcome = { problem?: string; checked?: Checked };

function outcomeOf({ faults, unread }: Checked): Html {
  const found = [...faults, ...unread];
  const list = html`${found.slice(0, maxFaults).map((each) => html`${each}<br>`)}`;
  if (faults.length > 0) return notice("stopped", "It is not what was recorded", list);
  return unread.length > 0
    ? notice("attention", "Not all of it could be compared", html`${list}What could be read is what was recorded.`)
    : notice(
        "info",
        "It is what was recorded",
        "Each line follows the one before, and each chunk is the one that its line names.",
      );
}

const maxFaults = 20;

const reason = (form: string, label: string) =>
  field({
    form,
    name: "reason",
    label,
    required: true,
    maxLength: 500,
    hint: "The notary gets it by email, and it is logged.",
  });

const reasonForm = (id: string, verb: string, { label, button }: { label: string; button: string }): Html =>
  html`<form class="form" method="post" action="${recordingPath(id, `/${verb}`)}">${reason(verb, label)}
<div class="form-actions"><button type="submit" class="secondary">${button}</button></div></form>`;

/** One recording. Its takes are shown only to an operator who has opened it with a reason in the last hour. */
export function recordingBody({ recording, shown, mayHold }: View, { problem, checked }: CheckOutcome = {}): Html {
  const { id, startedAt, endedAt, deletedAt, people, manifestSha256, isHeld } = recording;
  const about = facts([
    ["State", stateBadge(recording)],
    ["Started", time(startedAt)],
    ["Ended", endedAt && time(endedAt)],
    ["People", people.map(({ name, role }) => `${name} (${role})`).join(", ")],
    ["Kept", retentionWords(recording)],
    ["Deleted", deletedAt && time(deletedAt)],
    ["SHA-256 of the manifest", manifestSha256 && codeText(manifestSha256, "the hash of the manifest")],
  ]);
  const isThere = endedAt !== null && deletedAt === null;
  const player = shown
    ? playerPart(id, shown)
    : html`${notice("info", "Say why you look at it", "Each viewing and each export is logged with its reason, and the notary is told by email.")}
${reasonForm(id, "open", { label: "Why you look at it", button: "Open for an hour" })}`;
  return html`${pageHead("Recording of a session", "", html`<a href="${recordingsPath}">Recordings</a>`)}
${errorSummary(problem)}
${checked && outcomeOf(checked)}
<div class="panels">${card("about", "Record", html`${about}${endedAt !== null && buttonForm(recordingPath(id, "/check"), "Check what is stored", { kind: "secondary" })}`)}
${isThere && card("play", "Play", player)}
${
  isThere &&
  card(
    "export",
    "Export",
    html`<p>A zip with the manifest, the chain and each take as it was recorded. The guide to check it is docs/notary-recording.md.</p>
${reasonForm(id, "export", { label: "Why you export it", button: "Export the zip" })}`,
  )
}
${deletedAt === null && mayHold && holdCard(id, isHeld)}</div>`;
}

const holdCard = (id: View["recording"]["id"], isHeld: boolean): Html =>
  isHeld
    ? card("hold", "End the hold", reasonForm(id, "release", { label: "Why the hold ends", button: "End the hold" }))
    : card(
        "hold",
        "Hold",
        reasonForm(id, "hold", { label: "Why it is held, such as the name of a case", button: "Hold it" }),
      );

const clockText = (ms: number): string =>
  [ms / minuteMs, (ms / 1000) % 60].map((part) => String(Math.floor(part)).padStart(2, "0")).join(":");

function playerPart(id: string, { takes, marks, durationMs }: ShownRecording): Html {
  const speeds = ["0.5", "1", "1.5", "2"].map((value) => ({ value, label: `${value}×` }));
  return html`<div data-recording>
<div class="takes">${takes.map(({ take, name, role, hasPicture, fromMs, durationMs: length, endedBy }) => {
    const label = `${name}, ${role}, from ${clockText(fromMs)}`;
    const source = recordingPath(id, `/takes/${take}.webm`);
    return html`<figure data-from-ms="${fromMs}" data-length-ms="${length}">${
      hasPicture
        ? html`<video controls playsinline preload="metadata" src="${source}" aria-label="${label}"></video>`
        : html`<audio controls preload="metadata" src="${source}" aria-label="${label}"></audio>`
    }<figcaption>${label}, ${clockText(length)} long (${endedBy})</figcaption></figure>`;
  })}</div>
<div class="recording-line" data-controls hidden><button type="button" data-toggle data-play="Play together" data-pause="Pause">Play together</button>
<label class="visually-hidden" for="recording-at">Time in the recording, in seconds</label><input type="range" id="recording-at" min="0" max="${(durationMs / 1000).toFixed(1)}" step="0.1" value="0">
<output for="recording-at">00:00</output>
${select({ form: "recording", name: "speed", label: "Speed", required: true, value: "1", options: speeds })}</div>
${
  marks.length > 0 &&
  html`<h3>Marks</h3><ol class="recording-marks">${marks.map(
    ({ ms, kind, name, text }) =>
      html`<li><button type="button" class="quiet-button" data-mark-ms="${ms}">${clockText(ms)} ${kind.replaceAll("_", " ")}${name !== null && html`, ${name}`}</button>${text !== undefined && html` ${text}`}</li>`,
  )}</ol>`
}</div>`;
}
