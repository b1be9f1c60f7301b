import type { FastifyInstance } from "fastify";
import { wireStatus } from "../../kernel/http/errors/wire-errors.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import {
  type AskedQuiz,
  answerQuiz,
  beginCredential,
  beginQuiz,
  type IdentityDeps,
  openCheck,
} from "../../signing/notaries/notaries.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { inLanguage } from "../ui/error-page.ts";
import { acceptForms, type FormValues } from "../ui/forms/form-body.ts";
import { type PageAnswer, pageRoute } from "../ui/page/route.ts";
import { linkFor, type Reader, readerOf } from "../ui/words/reader.ts";
import { backPage, identityPage } from "./page.ts";
import { identityWords } from "./words.ts";

export type IdentityPageDeps = { assets: Assets; limits: RateLimits; identity: IdentityDeps };

type Asked = { token: string; form: FormValues; reader: Reader };

/**
 * Adds the pages on which a person proves their identity. The person gets the link in a mail that the notary requests.
 * A GET changes nothing.
 */
export function identityPages(app: FastifyInstance, { assets, limits, identity }: IdentityPageDeps): void {
  const shown = async ({ token, reader }: Pick<Asked, "token" | "reader">, more: Shown = {}): Promise<PageAnswer> => {
    const opened = await openCheck(identity, token);
    const now = identity.desk.clock();
    const page = identityPage(assets, { token, opened, now, reader, ...more });
    return { page, status: more.status ?? 200, headers: inLanguage(reader) };
  };

  const acts = {
    credential: async ({ token, reader }) => shown({ token, reader }, { goTo: await beginCredential(identity, token) }),
    questions: async ({ token, form, reader }) =>
      shown({ token, reader }, { quiz: await beginQuiz(identity, token, form) }),
    answers: async ({ token, form, reader }) => {
      await answerQuiz(identity, token, form);
      return { redirect: linkFor(reader, `/identity/${token}`) };
    },
  } satisfies Record<string, (asked: Asked) => Promise<PageAnswer>>;

  app.register(async (scope) => {
    acceptForms(scope);
    pageRoute(
      scope,
      { limits },
      {
        url: "/identity/back",
        policy: "page",
        handle({ query, request }) {
          const reader = readerOf(query["lang"], request.headers);
          return { page: backPage(assets, reader), headers: inLanguage(reader) };
        },
      },
    );
    pageRoute(
      scope,
      { limits },
      {
        url: "/identity/:token",
        policy: "page",
        handle: ({ params: { token }, query, request }) =>
          shown({ token, reader: readerOf(query["lang"], request.headers) }),
      },
    );
    for (const [name, act] of Object.entries(acts))
      pageRoute(
        scope,
        { limits },
        {
          method: "POST",
          url: `/identity/:token/${name}`,
          policy: "page",
          async handle({ params, query, form, request }) {
            const { token } = params as { token: string };
            const reader = readerOf(query["lang"], request.headers);
            try {
              return await act({ token, form, reader });
            } catch (error) {
              if (!(error instanceof ServiceError) || error.code === "not_found") throw error;
              request.log.info({ reason: error.message }, "a step of an identity check was refused");
              return shown({ token, reader }, { error: problemOf(error, reader), status: wireStatus[error.code] });
            }
          },
        },
      );
  });
}

type Shown = { goTo?: string; quiz?: AskedQuiz; error?: string; status?: number };

/** The cause of a failure in the reader's language, in general terms. The exact cause is in the log. */
function problemOf({ code }: ServiceError, { words: { language } }: Reader): string {
  const { errors } = identityWords[language];
  if (code === "validation") return errors.input;
  return code === "unavailable" ? errors.away : errors.closed;
}
