import { canonicalJson } from "@signsealship/evidence/manifest";
import type { FastifyInstance } from "fastify";
import { type Client, type DeclineKind, declineKinds, type Link } from "../../envelopes/envelopes.ts";
import { refuseCrossSite } from "../../http/authentication.ts";
import { invalid } from "../../platform/errors.ts";
import { acceptForms, type FormValues } from "../ui/forms/form-body.ts";
import { type PageAnswer, pageRoute } from "../ui/page/route.ts";
import { isLanguage } from "../ui/words/reader.ts";
import { languageCookie, sessionCookie } from "./cookie.ts";
import { otherSigner, reasonOf, signRequest } from "./form-values.ts";
import { longestPicture } from "./picture.ts";
import { answering, type ShowDeps, show } from "./shown.ts";
import { wordsOf } from "./words/languages.ts";
import type { Words } from "./words/words.ts";

/** Room for a picture, and for every other field. */
const longestForm = 2 * longestPicture;

export type ActDeps = ShowDeps;

type Act = { link: Link; form: FormValues; client: Client };

/** What a signer does, by plain forms: each is answered with the address of the page as it stands then. */
export function actRoutes(app: FastifyInstance, deps: ActDeps): void {
  const { ceremony, ownOrigin } = deps;
  const isSecure = ownOrigin.startsWith("https:");
  const acts = {
    opened: async ({ link, client }) => {
      await ceremony.opened(link, client);
      return { json: {} };
    },
    code: async ({ link, client }) => {
      const outcome = await ceremony.sendCode(link, client);
      if (outcome === "mailed" || outcome === "texted") return after(link, outcome === "mailed" ? "code" : "text");
      const { refused } = await wordsFor(deps, link);
      const { signer } = await ceremony.view(link);
      const error = outcome === "away" ? refused.away : refused.number(signer.phoneEnding ?? "");
      return show(deps, link, { error }, outcome === "away" ? 503 : 409);
    },
    identify: async ({ link, form, client }) => {
      const code = (form["code"] ?? "").trim();
      const words = await wordsFor(deps, link);
      if (code === "") throw invalid(words.refused.noCode);
      const session = await ceremony.identify(link, code, client);
      if (!session) return show(deps, link, { error: words.refused.code }, 400);
      if (link.language) await ceremony.setLanguage({ ...link, session: session.session }, link.language);
      const cookie = sessionCookie(link.token, session, isSecure);
      return { redirect: `/sign/${link.token}`, headers: { "Set-Cookie": cookie } };
    },
    consent: async ({ link, form, client }) => {
      const { version = "", language } = form;
      const text = isLanguage(language) ? deps.consentTexts.find(version, language) : undefined;
      const words = await wordsFor(deps, link);
      if (!text) throw invalid(words.refused.changed);
      if (form["can_read"] !== "on") throw invalid(words.refused.canRead);
      // Without a script nothing else says that somebody looked at the page.
      await ceremony.opened(link, client);
      await ceremony.consent(link, { version: text.version, language: text.language }, client);
      return after(link, "consent");
    },
    sign: async ({ link, form, client }) => {
      const view = await ceremony.view(link);
      const words = wordsOf(view.signer.language);
      const request = signRequest(form, view, words);
      // A browser that has a key of its own comes here only to be told why it could not sign: nobody signs in its place.
      const { outcome } = form["key"] === "browser" ? { outcome: "again" } : await ceremony.sign(link, request, client);
      if (outcome === "again") return show(deps, link, { error: words.refused.again, typed: form }, 409);
      return after(link, "signed");
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
    decline: async ({ link, form, client }) => {
      const { kind } = form;
      if (!isDeclineKind(kind)) throw invalid((await wordsFor(deps, link)).refused.input);
      await ceremony.decline(link, { kind, reason: reasonOf(form) }, client);
      return after(link, "declined");
    },
    propose: async ({ link, form, client }) => {
      await ceremony.propose(link, otherSigner(form, await wordsFor(deps, link)), client);
      return after(link, "proposed");
    },
    language: async ({ link, form: { language } }) => {
      if (!isLanguage(language)) throw invalid((await wordsFor(deps, link)).refused.input);
      await ceremony.setLanguage(link, language);
      const cookie = languageCookie(link.token, language, isSecure);
      return after(link, "language", { "Set-Cookie": cookie });
    },
  } satisfies Record<string, (act: Act) => Promise<PageAnswer>>;

  app.register(async (scope) => {
    acceptForms(scope, longestForm);
    for (const [name, act] of Object.entries(acts))
      pageRoute(scope, deps, {
        method: "POST",
        url: `/sign/:token/${name}`,
        policy: "page",
        onRequest: async (request) => refuseCrossSite(request, ownOrigin),
        handle: (call) => {
          const { form, request } = call;
          const client = { ip: request.ip, userAgent: request.headers["user-agent"] ?? "" };
          return answering(deps, call, (link) => act({ link, form, client }));
        },
      });
  });
}

const after = ({ token }: Link, done: keyof Words["done"], headers: Record<string, string> = {}): PageAnswer => ({
  redirect: `/sign/${token}?done=${done}`,
  headers,
});

const wordsFor = async ({ ceremony }: ShowDeps, link: Link): Promise<Words> =>
  wordsOf((await ceremony.view(link)).signer.language);

const isDeclineKind = (text: string | undefined): text is DeclineKind => declineKinds.some((kind) => kind === text);
