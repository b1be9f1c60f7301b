import { canonicalJson } from "@signsealship/evidence/manifest";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { refuseCrossSite } from "../../kernel/http/authentication.ts";
import { invalid } from "../../kernel/platform/errors.ts";
import { isLanguage } from "../../kernel/platform/languages.ts";
import { isPlainLines, wholeNumberIn } from "../../kernel/platform/text.ts";
import { type Client, type DeclineKind, declineKinds, type Link } from "../../signing/envelopes/envelopes.ts";
import { acceptForms, type FormValues } from "../ui/forms/form-body.ts";
import { type PageAnswer, pageRoute } from "../ui/page/route.ts";
import { languageCookie, pathOf, sessionCookie, signUrls } from "./cookie.ts";
import { maxPictureLength } from "./picture.ts";
import { meetingSignerOf, type RenderDeps, renderPage, withRefusalPage } from "./render.ts";
import { isLine, signRequest } from "./sign-form.ts";
import { maxReasonLength } from "./steps/other-choices.ts";
import { maxNameLength } from "./steps/sign.ts";
import type { Words } from "./words/en.ts";
import { wordsOf } from "./words/languages.ts";

/**
 * The longest accepted form body, in bytes. Half of it is for a picture of a signature, the rest for all other fields.
 */
const maxFormBytes = 2 * maxPictureLength;

export type ActDeps = RenderDeps;

type Act = {
  link: Link;
  form: FormValues;
  client: Client;
  /**
   * True if the browser opens the response in a tab of its own: not in a frame, and not for a script. False for a
   * browser that does not send `Sec-Fetch-Dest`. In a frame, only a script can detect clickjacking. So a form that is
   * sent without scripts must open in a tab.
   */
  inTab: boolean;
};

type Acts = Record<string, (act: Act) => Promise<PageAnswer>>;

/**
 * The signer's actions. After a plain form, the response redirects to the page, which shows the new state. After a
 * request of the page's script, the response is JSON.
 */
export function actRoutes(app: FastifyInstance, deps: ActDeps): void {
  const acts: Acts = { ...actsBeforeSigning(deps), ...actsOfSigning(deps), ...actsOfOtherChoices(deps) };
  app.register(async (scope) => {
    acceptForms(scope, maxFormBytes);
    for (const [name, act] of Object.entries(acts))
      for (const url of signUrls(`/${name}`))
        pageRoute(scope, deps, {
          method: "POST",
          url,
          policy: "page",
          onRequest: async (request) => refuseCrossSite(request, deps.ownOrigin),
          handle: (call) => {
            const { form, request } = call;
            const more = { form, client: clientOf(request), inTab: request.headers["sec-fetch-dest"] === "document" };
            return withRefusalPage(deps, call, (link) => act({ link, ...more }));
          },
        });
  });
}

function actsBeforeSigning(deps: ActDeps): Acts {
  const { ceremony } = deps;
  return {
    opened: async ({ link, client }) => {
      await ceremony.opened(link, client);
      return { json: {} };
    },
    code: async ({ link, client }) => {
      const outcome = await ceremony.sendCode(link, client);
      if (outcome === "mailed" || outcome === "texted") return after(link, outcome === "mailed" ? "code" : "text");
      const [{ refused }, { signer }] = [await wordsFor(deps, link), await ceremony.view(link)];
      const error = outcome === "away" ? refused.away : refused.number(signer.phoneEnding ?? "");
      return renderPage(deps, link, { error }, outcome === "away" ? 503 : 409);
    },
    identify: async ({ link, form, client }) => {
      const [code, words] = [(form["code"] ?? "").trim(), await wordsFor(deps, link)];
      if (code === "") throw invalid(words.refused.noCode);
      const session = await ceremony.identify(link, code, client);
      return session ? entered(deps, link, session) : renderPage(deps, link, { error: words.refused.code }, 400);
    },
    enter: async ({ link, form, client }) => {
      const { entry = "", code: accessCode } = form;
      const session = await ceremony.enter(link, entry, client, accessCode);
      return session ? entered(deps, link, session) : refusedEntry(deps, link, accessCode === undefined);
    },
    consent: async ({ link, form, client }) => {
      const { version = "", language } = form;
      const { refused } = await wordsFor(deps, link);
      if (!isLanguage(language)) throw invalid(refused.input);
      if (form["can_read"] !== "on") throw invalid(refused.canRead);
      // Without JavaScript, the consent is the first proof that a person opened the page.
      await ceremony.opened(link, client);
      const { outcome } = await ceremony.consent(link, { version, language }, client);
      return outcome === "changed" ? renderPage(deps, link, { error: refused.newText }, 409) : after(link, "consent");
    },
  };
}

function actsOfSigning(deps: ActDeps): Acts {
  const { ceremony } = deps;
  return {
    sign: async ({ link, form, client, inTab }) => {
      const view = await ceremony.view(link);
      const words = wordsOf(view.signer.language);
      const request = signRequest(form, view, words);
      if (view.frame && !inTab) throw invalid(words.embed.needsTab);
      // A browser that holds its own key submits this form only if signing with that key failed. The service must not
      // sign instead with a key of its own.
      const { outcome } = form["key"] === "browser" ? { outcome: "again" } : await ceremony.sign(link, request, client);
      if (outcome === "again") return renderPage(deps, link, { error: words.refused.again, typed: form }, 409);
      // Without a document number, the link opens the signer's next document.
      return after({ ...link, document: null }, "signed");
    },
    prepare: async ({ link, form, client }) => {
      const view = await ceremony.view(link);
      const request = signRequest(form, view, wordsOf(view.signer.language));
      const publicKey = Buffer.from(form["public_key"] ?? "", "base64");
      const act = await ceremony.prepare(link, { ...request, publicKey }, client);
      if (act.outcome !== "prepared") return { json: act };
      const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
      const { tail, signedAttrs, record, ...rest } = act;
      const sent = { tail: base64(tail), signedAttrs: base64(signedAttrs), record: canonicalJson(record) };
      return { json: { ...rest, ...sent } };
    },
    complete: async ({ link, form }) => ({
      json: await ceremony.complete(link, Buffer.from(form["signature"] ?? "", "base64")),
    }),
  };
}

function actsOfOtherChoices(deps: ActDeps): Acts {
  const { ceremony, ownOrigin } = deps;
  return {
    decline: async ({ link, form, client }) => {
      const { kind } = form;
      if (!isDeclineKind(kind)) throw invalid((await wordsFor(deps, link)).refused.input);
      await ceremony.decline(link, { kind, reason: reasonOf(form), all: form["scope"] === "all" }, client);
      return after(link, "declined");
    },
    propose: async ({ link, form, client }) => {
      await ceremony.propose(link, otherSigner(form, await wordsFor(deps, link)), client);
      return after(link, "proposed");
    },
    meet: ({ link, form }) => meet(deps, link, form),
    language: async ({ link, form: { language } }) => {
      if (!isLanguage(language)) throw invalid((await wordsFor(deps, link)).refused.input);
      await ceremony.setLanguage(link, language);
      return after(link, "language", {
        "Set-Cookie": languageCookie(link.token, language, ownOrigin.startsWith("https:")),
      });
    },
  };
}

/** Redirects to the signer's own appointment page for a document that is signed in front of a notary. */
async function meet(deps: ActDeps, link: Link, { n = "" }: FormValues): Promise<PageAnswer> {
  const view = await deps.ceremony.view(link);
  const who = meetingSignerOf(view);
  if (!who) throw invalid((await wordsFor(deps, link)).refused.input);
  const path = await deps.meetings.open(who, wholeNumberIn(n, 0, 999) ?? 0);
  return { redirect: `${path}?lang=${view.signer.language}` };
}

const clientOf = ({ ip, headers }: FastifyRequest): Client => ({ ip, userAgent: headers["user-agent"] ?? "" });

async function refusedEntry(deps: ActDeps, link: Link, isAlone: boolean): Promise<PageAnswer> {
  const { refused } = await wordsFor(deps, link);
  return renderPage(deps, link, { error: isAlone ? refused.entry : refused.code }, 400);
}

const after = (link: Link, done: keyof Words["done"], headers: Record<string, string> = {}): PageAnswer => ({
  redirect: `/sign/${pathOf(link)}?done=${done}`,
  headers,
});

/** Redirects to the pages of a signer who entered the right code. */
async function entered(
  { ceremony, ownOrigin }: RenderDeps,
  link: Link,
  session: { session: string; expiresAt: Date },
): Promise<PageAnswer> {
  const withSession = { ...link, session: session.session };
  if (link.language) await ceremony.setLanguage(withSession, link.language);
  const { frame, host } = await ceremony.view(withSession);
  const cookie = sessionCookie(link.token, session, ownOrigin.startsWith("https:"));
  // In a frame, browsers store no cookies. On a device that a member hands out, the next signers would send the cookie,
  // too. In both cases, the token in the URL stands for the session.
  return { redirect: `/sign/${pathOf(link)}`, headers: frame || host !== null ? {} : { "Set-Cookie": cookie } };
}

const wordsFor = async ({ ceremony }: RenderDeps, link: Link): Promise<Words> =>
  wordsOf((await ceremony.view(link)).signer.language);

const isDeclineKind = (text: string | undefined): text is DeclineKind => declineKinds.some((kind) => kind === text);

/**
 * The signer's reason for declining. A reason that is too long is truncated, and one with control characters is
 * dropped. Neither may prevent declining.
 */
const reasonOf = ({ reason = "" }: FormValues): string =>
  isPlainLines(reason) ? reason.trim().slice(0, maxReasonLength) : "";

function otherSigner(form: FormValues, words: Words): { name: string; email: string } {
  const [name = "", email = ""] = [form["other_name"]?.trim(), form["other_email"]?.trim()];
  if (!isLine(name, maxNameLength) || !isLine(email, 254) || !/^[^\s@]+@[^\s@]+$/.test(email))
    throw invalid(words.refused.other);
  return { name, email };
}
