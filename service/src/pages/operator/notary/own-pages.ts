import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Operator } from "../../../firms/operators/operators.ts";
import {
  correctEntry,
  type DeskDeps,
  exportJournal,
  findHours,
  hoursDays,
  type JournalOwner,
  notaryOf,
  readJournal,
  setHours,
  type Typed,
  typedHours,
} from "../../../signing/notaries/notaries.ts";
import { card, notice, pageHead } from "../../ui/components.ts";
import { errorSummary, field, textArea } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { consolePage, consoleRoute } from "../frame/console.ts";
import { journalBody } from "./desk-pages.ts";
import type { NotaryDeskDeps } from "./routes.ts";

const permission = "notary.work" as const;
const path = "/operator/notary/hours";
const journalPath = "/operator/notary/journal";

/**
 * Adds the page on which a notary sets their office hours, and the address for electronic acts in person. Clients book
 * appointments in these hours.
 */
export function notaryHoursRoutes(scope: FastifyInstance, { frame, notaryDesk, live }: NotaryDeskDeps): void {
  consoleRoute(scope, frame, { url: path, permission, handle: ({ request, operator }) => show(request, operator) });
  consoleRoute(scope, frame, {
    method: "POST",
    url: path,
    permission,
    async handle({ operator, form }) {
      await setHours(notaryDesk, operator, form);
      return done(path, "hours-saved");
    },
    refused: ({ request, operator, form }, problem) => show(request, operator, form, problem),
  });

  async function show(request: FastifyRequest, operator: Operator, typed?: Typed, problem?: string): Promise<string> {
    const notary = await notaryOf(notaryDesk.db, operator);
    const hours = await findHours(notaryDesk.db, notary.id);
    const hasHours = [...(hours?.weekly ?? []), ...Object.values(hours?.exceptions ?? {})].some(
      ({ length }) => length > 0,
    );
    const values = typed ?? typedHours(hours);
    return consolePage(frame, request, {
      title: "Your hours",
      section: "notary",
      body: hoursBody(values, { hasHours, hasRooms: live !== null }, problem),
    });
  }
}

const linkHint = "It is mailed to those who book. Without it no such time is offered.";
const roomHint =
  "Where an act can be done by audio and video in a room of this service, people book these hours and are led into that room, without a link. " +
  "This link is for the other orders that you may do by audio and video: it is mailed to those who book, and without it they are offered no such time.";

type HoursState = { hasHours: boolean; hasRooms: boolean };

function hoursBody(typed: Typed, { hasHours, hasRooms }: HoursState, problem?: string): Html {
  const value = (name: string) => typed[name] ?? "";
  return html`${pageHead("Your hours", "Clients of orders that you may notarize electronically book 30 minutes in these hours, up to 14 days ahead.", html`<a href="/operator/notary">Notary’s desk</a>`)}
${errorSummary(problem)}
${!hasHours && notice("attention", "Nobody can book an appointment with you yet", "Clients are offered times only in the hours that you have saved here.")}
<div class="panels">${card(
    "hours",
    "When and where",
    html`<form class="form" method="post" action="${path}">
${field({ name: "zone", label: "Your zone", required: true, maxLength: 60, value: value("zone"), hint: "An IANA zone such as America/Chicago. Hours are local, also through changes of daylight saving." })}
<fieldset><legend>Each week</legend><p class="hint">Like “09:00-12:00, 13:00-17:00”. Leave a day empty where you can’t be met.</p>
${hoursDays.map(({ name, label }) => field({ name, label, maxLength: 200, value: value(name) }))}</fieldset>
${textArea({ name: "exceptions", label: "Other days", rows: 3, maxLength: 4000, value: value("exceptions"), hint: "One a line, like “2026-12-24 closed” or “2026-12-26 10:00-12:00”." })}
${field({ name: "meeting_url", label: "Link of your tool for audio and video", type: "url", maxLength: 1000, value: value("meeting_url"), hint: hasRooms ? roomHint : linkHint })}
${field({ name: "place", label: "Address where people come", maxLength: 300, value: value("place"), hint: "For acts in person, electronically. Without it none is offered." })}
<div class="form-actions"><button type="submit">Save the hours</button></div></form>`,
  )}</div>
<p class="hint">Existing bookings stay unchanged.</p>`;
}

/** A notary's own journal, and copies of it. */
export function journalRoutes(scope: FastifyInstance, deps: NotaryDeskDeps): void {
  const { notaryDesk } = deps;
  consoleRoute(scope, deps.frame, {
    url: journalPath,
    permission,
    handle: ({ request, operator }) => show(request, operator),
  });

  for (const kind of ["json", "pdf"] as const)
    consoleRoute(scope, deps.frame, {
      url: `${journalPath}.${kind}`,
      permission,
      async handle({ operator }) {
        const notary = await notaryOf(notaryDesk.db, operator);
        return journalAnswer(notaryDesk, notary, operator.actor, kind);
      },
    });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: `${journalPath}/correct`,
    permission,
    async handle({ operator, form }) {
      await correctEntry(notaryDesk, await notaryOf(notaryDesk.db, operator), form, operator.actor);
      return done(journalPath, "entry-corrected");
    },
    refused: ({ request, operator, form }, problem) => show(request, operator, form, problem),
  });

  async function show(request: FastifyRequest, operator: Operator, typed = {}, problem?: string): Promise<string> {
    const notary = await notaryOf(notaryDesk.db, operator);
    const body = journalBody(await readJournal(notaryDesk.db, notary.id), typed, problem);
    return consolePage(deps.frame, request, { title: "Journal", section: "journal", body });
  }
}

/** A copy of a journal as a download. */
export async function journalAnswer(desk: DeskDeps, notary: JournalOwner, actor: string, kind: "json" | "pdf") {
  const copy = await exportJournal(desk, notary, actor);
  if (kind === "json") return { file: copy.json, type: "application/json", name: "journal.json" };
  return { pdf: await desk.papers.sealJournal(notary.id, copy), name: "journal.pdf" };
}
