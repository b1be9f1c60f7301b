import type { FastifyReply, FastifyRequest } from "fastify";
import { principalOf } from "../../http/authentication.ts";
import { wireStatus } from "../../http/wire-errors.ts";
import { ServiceError } from "../../platform/errors.ts";
import type { AssetName, Assets } from "../ui/assets.ts";
import { doneWords } from "../ui/flash-messages.ts";
import { icon } from "../ui/icons.ts";
import { layout } from "../ui/layout.ts";
import { formHeaders, htmlType } from "../ui/page-headers.ts";
import { type Html, html } from "../ui/render.ts";
import { accountNav, type Section, sideNav } from "./nav.ts";

export type DashboardPage = {
  title: string;
  section: Section;
  body: Html;
  scripts?: readonly Extract<AssetName, `${string}.js`>[];
};

/** Sends a page of the dashboard in its frame; what was just done is said on top of it. */
export function sendPage(
  { assets }: { assets: Assets },
  request: FastifyRequest,
  reply: FastifyReply,
  { title, section, body, scripts = [] }: DashboardPage,
): FastifyReply {
  const principal = principalOf(request);
  const page = layout(assets, {
    title,
    headerNav: accountNav(principal),
    side: sideNav(principal, section, request.url),
    body: html`${said(request)}${body}`,
    scripts,
  });
  return reply.type(htmlType).headers(formHeaders).send(page);
}

/** After a form was accepted: leads to a page, which says what was done. */
export function done(reply: FastifyReply, path: string, word: keyof typeof doneWords): FastifyReply {
  const [before = "", hash] = path.split("#", 2);
  const query = `${before}${before.includes("?") ? "&" : "?"}done=${word}`;
  return reply.headers(formHeaders).redirect(hash === undefined ? query : `${query}#${hash}`, 303);
}

/** The sentence of the word in the address. */
export function said({ query }: FastifyRequest): Html | "" {
  const word = (query as { done?: unknown }).done;
  if (typeof word !== "string" || !Object.hasOwn(doneWords, word)) return "";
  const text = doneWords[word as keyof typeof doneWords];
  return html`<div class="notice done said-done" role="status">${icon("done")}<div><p>${text}</p></div></div>`;
}

/** Refusals that belong beside the form that caused them. */
const besideForm: ReadonlySet<string> = new Set([
  "validation",
  "conflict",
  "not_payable",
  "not_found",
  "payload_too_large",
  "processor_failed",
  "payments_not_configured",
  "unavailable",
]);

/**
 * Does what a form asks for; a refusal is handed to `again`, which shows the form with the message. Sets the reply's status.
 * @throws what is no refusal of the form itself.
 */
export async function attempt(
  reply: FastifyReply,
  work: () => Promise<FastifyReply>,
  again: (message: string) => FastifyReply | Promise<FastifyReply>,
): Promise<FastifyReply> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError) || !besideForm.has(error.code)) throw error;
    reply.code(wireStatus[error.code]);
    return again(error.message);
  }
}

/** A form that is one button. `fields` are sent along; `kind` is a class of forms.css for quieter or destroying ones. */
export function buttonForm(
  action: string,
  label: string,
  { fields = {}, kind = "", about }: { fields?: Readonly<Record<string, string>>; kind?: string; about?: string } = {},
): Html {
  const hidden = Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  const more = about && html`<span class="visually-hidden"> ${about}</span>`;
  return html`<form class="button-form form-actions" method="post" action="${action}">${hidden}<button type="submit" class="${kind}">${label}${more}</button></form>`;
}

/** The head of a page: its title, and what one comes to do there. */
export const pageHead = (title: string, lead: Html | string = "", actions: Html | "" = ""): Html =>
  html`<div class="dash-head"><div><h1>${title}</h1>${lead && html`<p class="lead">${lead}</p>`}</div>${actions}</div>`;
