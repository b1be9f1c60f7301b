import type { FastifyInstance, FastifyRequest } from "fastify";
import { refuseCrossSite } from "../../kernel/http/authentication.ts";
import { languageTags } from "../../kernel/platform/languages.ts";
import { wholeNumberIn } from "../../kernel/platform/text.ts";
import type { SittingView } from "../../signing/envelopes/envelopes.ts";
import { buttonForm } from "../ui/forms/button-form.ts";
import { acceptForms } from "../ui/forms/form-body.ts";
import { layout } from "../ui/layout.ts";
import { type PageAnswer, pageRoute } from "../ui/page/route.ts";
import { sittingPath, sittingTokenOf } from "../ui/page/sitting-cookie.ts";
import { type Html, html } from "../ui/render.ts";
import { frames } from "../ui/words/frames.ts";
import type { RenderDeps } from "./render.ts";
import { wordsOf } from "./words/languages.ts";

/**
 * `/in-person`: the page on a member's device between two signers. Handing the device on clears the browser's cache and
 * storage. So the Back button shows nothing of the previous signer.
 */
export function sittingPages(app: FastifyInstance, deps: RenderDeps): void {
  const { ceremony, ownOrigin } = deps;
  const headers = { "Clear-Site-Data": '"cache", "storage"' };
  const show = async (request: FastifyRequest, problem?: string, left = 0): Promise<string> =>
    betweenTurns(deps, await ceremony.sitting(sittingTokenOf(request.headers.cookie)), problem, left);

  app.register(async (scope) => {
    acceptForms(scope);
    const form = {
      method: "POST",
      policy: "page",
      onRequest: async (request: FastifyRequest) => refuseCrossSite(request, ownOrigin),
    } as const;
    pageRoute(scope, deps, {
      url: sittingPath,
      policy: "page",
      handle: ({ request, query }) => show(request, undefined, wholeNumberIn(query["left"], 0, 999) ?? 0),
    });
    pageRoute(scope, deps, {
      ...form,
      url: `${sittingPath}/begin`,
      async handle({ form: { signer = "", sitting }, request }): Promise<PageAnswer> {
        const n = wholeNumberIn(signer, 0, 99) ?? 0;
        const token = sittingTokenOf(request.headers.cookie);
        const { session } = await ceremony.beginTurn(token, n, clientOf(request), sitting);
        return { redirect: `/sign/${session}` };
      },
      refused: ({ request }, problem) => show(request, problem),
    });
    pageRoute(scope, deps, {
      ...form,
      url: `${sittingPath}/next`,
      async handle({ form: { after = "" }, request }): Promise<PageAnswer> {
        const token = sittingTokenOf(request.headers.cookie);
        return { redirect: `/sign/${(await ceremony.nextTurn(token, after, clientOf(request))).session}` };
      },
      refused: ({ request }, problem) => show(request, problem),
    });
    pageRoute(scope, deps, {
      ...form,
      url: `${sittingPath}/done`,
      async handle({ request }): Promise<PageAnswer> {
        await ceremony.endTurn(sittingTokenOf(request.headers.cookie));
        return { redirect: sittingPath, headers };
      },
    });
  });
}

const clientOf = ({ ip, headers }: FastifyRequest) => ({ ip, userAgent: headers["user-agent"] ?? "" });

/**
 * The page between two signers who sign on the same device.
 * @param left how many documents of the closing could not be signed yet when the device was handed over
 */
function betweenTurns(
  { assets }: RenderDeps,
  view: SittingView | undefined,
  problem: string | undefined,
  left: number,
): string {
  const language = view?.next[0]?.language ?? "en";
  const words = wordsOf(language).sitting;
  const [title, text] = view ? [words.over(view.host), words.overText] : [words.ended, words.endedText];
  const alert =
    problem !== undefined && html`<p role="alert"><strong>${wordsOf(language).refused.changed}</strong></p>`;
  const isNext = view !== undefined && view.next.length > 0;
  return layout(assets, {
    unlisted: true,
    signing: true,
    title: isNext ? words.title : title,
    headerNav: html``,
    language: frames[language],
    body: html`<div class="message">${alert}${
      isNext
        ? html`<h1>${words.title}</h1>${left > 0 && html`<p role="status">${words.left(left)}</p>`}${view.next.map(turn)}`
        : html`<h1>${title}</h1><p>${text}</p><p><a href="/sign-in?return_to=%2Fdashboard">${words.signIn}</a></p>`
    }</div>`,
  });
}

function turn({ sitting, n, name: signer, language }: SittingView["next"][number]): Html {
  const words = wordsOf(language).sitting;
  return html`<section lang="${languageTags[language]}"><h2>${words.to(signer)}</h2><p>${words.text}</p>
${buttonForm(`${sittingPath}/begin`, words.begin(signer), { fields: { sitting, signer: String(n) } })}</section>`;
}
