import type { FastifyRequest } from "fastify";
import type { Branding } from "../../firms/partners/partners.ts";
import { isRefusal, type Refusal } from "../../kernel/http/errors/http-error.ts";
import { wireStatus } from "../../kernel/http/errors/wire-errors.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { AlteredDocumentError } from "../../kernel/platform/errors.ts";
import type { Language } from "../../kernel/platform/languages.ts";
import type { Ceremony, ConsentTexts, Frame, Link, SigningView } from "../../signing/envelopes/envelopes.ts";
import type { ClosingSigner, Meeting } from "../../signing/notaries/notaries.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import type { FormValues } from "../ui/forms/form-body.ts";
import { viewerPolicy } from "../ui/page/policy.ts";
import type { PageAnswer } from "../ui/page/route.ts";
import type { Html } from "../ui/render.ts";
import { wordsIn } from "../ui/words/reader.ts";
import { linkOf, pathOf, type SignParams } from "./cookie.ts";
import { renderEndedFrame } from "./embed-page.ts";
import { type PageState, renderBrokenLink, renderFrame } from "./frame.ts";
import { renderSteps } from "./page.ts";
import { wordsOf } from "./words/languages.ts";

export type RenderDeps = {
  ceremony: Ceremony;
  consentTexts: ConsentTexts;
  /** The branding of the firm that sent the document; null when it has none. */
  brandingOf: (partnerId: string) => Promise<Branding | null>;
  assets: Assets;
  limits: RateLimits;
  /**
   * `of` lists the documents of a closing that a signer signs in front of a notary. `open` returns the path of the
   * signer's appointment page for the document with the number `n` in that list.
   */
  meetings: {
    of: (who: ClosingSigner, language: Language) => Promise<Meeting[]>;
    open: (who: ClosingSigner, n: number) => Promise<string>;
  };
  /** The origin of the service's public URL. */
  ownOrigin: string;
};

export type RenderedPage = Extract<PageAnswer, { page: string }>;

/**
 * Renders a step other than the signer's current one.
 * @throws ServiceError `not_found` for an unknown link
 */
export async function renderStep(
  deps: RenderDeps,
  link: Link,
  step: (state: PageState) => Html,
): Promise<RenderedPage> {
  const state = await loadState(deps, link, {});
  return withPolicy(state, renderFrame(deps.assets, state, step(state), { script: null }));
}

type FormResult = Partial<Pick<PageState, "done" | "error" | "typed">>;

/**
 * Renders the signer's current step.
 * @throws ServiceError `not_found` for an unknown link
 */
export async function renderPage(
  deps: RenderDeps,
  link: Link,
  result: FormResult = {},
  status = 200,
): Promise<RenderedPage> {
  const state = await loadState(deps, link, result);
  return { ...withPolicy(state, renderSteps(deps, state)), status };
}

async function loadState(
  deps: RenderDeps,
  link: Link,
  { done = null, error = null, typed = {} }: FormResult,
): Promise<PageState> {
  const view = await deps.ceremony.view(link);
  const branding = await deps.brandingOf(view.partnerId);
  const who = meetingSignerOf(view);
  const meetings = (who && (await deps.meetings.of(who, view.signer.language))) ?? [];
  return { token: pathOf(link), view, branding, meetings, words: wordsOf(view.signer.language), done, error, typed };
}

/**
 * Returns the signer, to find the documents that this person signs in front of a notary. Null before the signer has
 * entered a code, because a stranger may have the link. Null also where other people see the page: on a shared device,
 * in a firm's site, and with the notary.
 */
export const meetingSignerOf = ({ state, room, host, frame, orderCode, signer }: SigningView): ClosingSigner | null =>
  state === "identify" || state === "locked" || room || host !== null || frame !== null
    ? null
    : { orderCode, name: signer.name, email: signer.email };

/**
 * Sets the content security policy. It allows the firm's logo, and the one site that may show this page in a frame: the
 * firm's site, or our room with a notary.
 */
function withPolicy({ branding, view }: PageState, page: string) {
  const logo = logoOf(branding);
  const policy = viewerPolicy(logo ? [logo.origin] : [], view.frame ?? (view.room?.isRemote ? "'self'" : undefined));
  return { page, headers: { "Content-Security-Policy": policy } };
}

/**
 * Runs `work`. If it is refused, renders the current page with the reason, and preserves the typed text in the forms.
 * For `not_found`, renders the page for an invalid link. Rethrows other errors.
 */
export async function withRefusalPage<Result>(
  deps: RenderDeps,
  { params, request, form }: { params: SignParams; request: FastifyRequest; form: FormValues },
  work: (link: Link) => Promise<Result>,
): Promise<Result | RenderedPage> {
  const link = linkOf(params, request.headers.cookie);
  try {
    try {
      return await work(link);
    } catch (error) {
      if (!isRefusal(error) || error.code === "not_found") throw error;
      const { signer } = await deps.ceremony.view(link);
      const result = { error: refusalText(error, signer.language), typed: form };
      return await renderPage(deps, link, result, wireStatus[error.code]);
    }
  } catch (error) {
    if (!isRefusal(error) || error.code !== "not_found") throw error;
    const frame = await deps.ceremony.frameOfSession(params.token);
    return brokenPage(deps, frame, request.headers["accept-language"]);
  }
}

/** The page for an invalid link. In a frame, the page also notifies the firm's page. */
export const brokenPage = (
  { assets }: Pick<RenderDeps, "assets">,
  frame: Frame | undefined,
  acceptLanguage: string | undefined,
): RenderedPage => ({
  status: frame ? 410 : 404,
  page: frame ? renderEndedFrame(assets, frame) : renderBrokenLink(assets, acceptLanguage),
  ...(frame && { headers: { "Content-Security-Policy": viewerPolicy([], frame.origin) } }),
});

/**
 * The error in the reader's language. Errors with the code `validation` were raised by these pages, so their message is
 * already translated.
 */
function refusalText(error: Refusal, language: Language): string {
  const { code, message } = error;
  const { refused } = wordsOf(language);
  if (code === "validation") return message;
  if (error instanceof AlteredDocumentError) {
    const { title, text } = wordsIn[language].refusals.altered;
    return language === "zh" ? `${title}。${text}` : `${title}. ${text}`;
  }
  if (code === "rate_limited") return refused.often;
  return code === "conflict" ? refused.changed : refused.later;
}
