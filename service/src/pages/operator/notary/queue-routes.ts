import type { FastifyInstance, FastifyRequest } from "fastify";
import {
  acceptNext,
  type LiveDeps,
  type NotaryQueue,
  notaryOf,
  notaryQueueOf,
  setDuty,
} from "../../../signing/notaries/notaries.ts";
import { card } from "../../ui/components.ts";
import { shortCode, shortTime } from "../../ui/format.ts";
import { buttonForm } from "../../ui/forms/button-form.ts";
import { records } from "../../ui/records.ts";
import { type Html, html, render } from "../../ui/render.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consoleRoute, operatorOf } from "../frame/console.ts";
import { orderPath } from "./order-path.ts";

const permission = "notary.work" as const;
const desk = "/operator/notary";
const path = `${desk}/now`;

type Show = (request: FastifyRequest, problem?: string) => Promise<string>;

/**
 * Adds the list of people who ask for a notary now. Also adds the forms by which the notary goes on or off duty, and
 * calls the next people.
 */
export function queueRoutes(scope: FastifyInstance, frame: ConsoleFrame, live: LiveDeps, show: Show): void {
  const { db } = live.sheets.desk;
  consoleRoute(scope, frame, {
    url: path,
    permission,
    handle: async ({ operator }) =>
      render(queueList(await notaryQueueOf(live, operator, await notaryOf(db, operator)))),
  });
  const acts = [
    ["on", (request: FastifyRequest) => setDuty(live, operatorOf(request), true), "on-duty"],
    ["off", (request: FastifyRequest) => setDuty(live, operatorOf(request), false), "off-duty"],
  ] as const;
  for (const [verb, act, message] of acts)
    consoleRoute(scope, frame, {
      method: "POST",
      url: `${path}/${verb}` as "/operator/notary/now/verb",
      permission,
      async handle({ request }) {
        await act(request);
        return done(desk, message);
      },
      refused: ({ request }, problem) => show(request, problem),
    });
  consoleRoute(scope, frame, {
    method: "POST",
    url: `${path}/take`,
    permission,
    handle: async ({ operator }) => done(orderPath(await acceptNext(live, operator), "#session"), "now-taken"),
    refused: ({ request }, problem) => show(request, problem),
  });
}

/** The card of the queue, on the notary's desk. */
export const queueCard = (queue: NotaryQueue): Html =>
  card(
    "now",
    "People who ask for a notary now",
    html`${dutyPart(queue)}${queueList(queue)}<p class="quiet-text"><span class="with-script">This list updates automatically.</span><span class="without-script">Reload this page for the latest.</span></p>`,
  );

const dutyPart = ({ dutyUntil }: NotaryQueue): Html =>
  dutyUntil === null
    ? html`<p>You are off duty: nobody is offered a session with you now.</p>${buttonForm(`${path}/on`, "Go on duty")}`
    : html`<p>You are on duty until ${shortTime(dutyUntil)}: people may ask to meet you now.</p>
<div class="form-actions">${buttonForm(`${path}/on`, "Stay for four hours more", { kind: "quiet-button" })}${buttonForm(`${path}/off`, "Go off duty", { kind: "quiet-button" })}</div>`;

/** The part of the page that refreshes itself. */
function queueList({ waiting, accepted, dutyUntil }: NotaryQueue): Html {
  return html`<div id="now-queue" hx-get="${path}" hx-trigger="every 5s" hx-swap="outerHTML">
<p role="status">${waiting.length === 0 ? "Nobody whom you may meet is waiting." : people(waiting.length)}</p>
${accepted && html`<p>You have called the people of <a href="${orderPath(accepted.code, "#session")}">order ${shortCode(accepted.code)}</a>: open the session.</p>`}
${waiting.length > 0 && queueTable(waiting)}
${waiting.length > 0 && dutyUntil !== null && !accepted && buttonForm(`${path}/take`, "Call the next")}
</div>`;
}

const people = (count: number): string => (count === 1 ? "1 order waits now." : `${count} orders wait now.`);

const queueTable = (waiting: NotaryQueue["waiting"]): Html =>
  records(
    "Orders whose people wait now",
    [
      { label: "Place" },
      { label: "Order" },
      { label: "Firm" },
      { label: "People" },
      { label: "Asked", utc: true },
      { label: "Ends", utc: true },
    ],
    waiting.map(({ order, askedAt, expiresAt }, index) => [
      String(index + 1),
      shortCode(order.code),
      order.firmName,
      String(order.signers.length),
      shortTime(askedAt),
      shortTime(expiresAt),
    ]),
  );
