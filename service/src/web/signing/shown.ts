import type { FastifyRequest } from "fastify";
import type { Ceremony, ConsentTexts, Link } from "../../envelopes/envelopes.ts";
import { isRefusal, type Refusal } from "../../http/errors/http-error.ts";
import { wireStatus } from "../../http/errors/wire-errors.ts";
import type { RateLimits } from "../../http/rate-limits.ts";
import type { Branding } from "../../partners/partners.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import type { FormValues } from "../ui/forms/form-body.ts";
import { viewerPolicy } from "../ui/page/policy.ts";
import type { PageAnswer } from "../ui/page/route.ts";
import type { Html } from "../ui/render.ts";
import { linkOf } from "./cookie.ts";
import { brokenLinkPage, framed, type Shown } from "./frame.ts";
import { signingPage } from "./page.ts";
import { wordsOf } from "./words/languages.ts";
import type { Words } from "./words/words.ts";

export type ShowDeps = {
  ceremony: Ceremony;
  consentTexts: ConsentTexts;
  /** Of the firm that sent the document; null when it has set none. */
  brandingOf: (partnerId: string) => Promise<Branding | null>;
  assets: Assets;
  limits: RateLimits;
  /** The origin of the service's public address. */
  ownOrigin: string;
};

type ShownPage = Extract<PageAnswer, { page: string }>;

/** The page of a link with a step of its own: one that only shows. @throws ServiceError `not_found` for a link that is none */
export async function showStep(deps: ShowDeps, link: Link, step: (shown: Shown) => Html): Promise<ShownPage> {
  const shown = await shownOf(deps, link, {});
  return withPolicy(shown, framed(deps.assets, shown, step(shown), { withScript: false }));
}

type Said = Partial<Pick<Shown, "done" | "error" | "typed">>;

/** The page of a link as it stands. @throws ServiceError `not_found` for a link that is none */
export async function show(deps: ShowDeps, link: Link, said: Said = {}, status = 200): Promise<ShownPage> {
  const shown = await shownOf(deps, link, said);
  return { ...withPolicy(shown, signingPage(deps, shown)), status };
}

async function shownOf(deps: ShowDeps, link: Link, { done = null, error = null, typed = {} }: Said): Promise<Shown> {
  const view = await deps.ceremony.view(link);
  const branding = await deps.brandingOf(view.partnerId);
  return { token: link.token, view, branding, words: wordsOf(view.signer.language), done, error, typed };
}

/** Its policy lets the firm's logo in. */
function withPolicy({ branding }: Shown, page: string) {
  const logo = logoOf(branding);
  return { page, headers: { "Content-Security-Policy": viewerPolicy(logo ? [logo.origin] : []) } };
}

/**
 * What a request of a link is answered with: whatever is refused becomes the page as it stands now, and says why.
 * @param typed stays in the forms
 */
export async function answering<Answer>(
  deps: ShowDeps,
  { params, request, form }: { params: { token: string }; request: FastifyRequest; form: FormValues },
  work: (link: Link) => Promise<Answer>,
): Promise<Answer | ShownPage> {
  const link = linkOf(params.token, request.headers.cookie);
  try {
    try {
      return await work(link);
    } catch (error) {
      if (!isRefusal(error) || error.code === "not_found") throw error;
      const { signer } = await deps.ceremony.view(link);
      const said = { error: refusalText(error, wordsOf(signer.language)), typed: form };
      return await show(deps, link, said, wireStatus[error.code]);
    }
  } catch (error) {
    if (!isRefusal(error) || error.code !== "not_found") throw error;
    return { status: 404, page: brokenLinkPage(deps.assets) };
  }
}

/** In the reader's language: what the pages check themselves says it already, and of the rest the page shows how it stands. */
function refusalText({ code, message }: Refusal, { refused }: Words): string {
  if (code === "validation") return message;
  if (code === "rate_limited") return refused.often;
  return code === "conflict" ? refused.changed : refused.later;
}
