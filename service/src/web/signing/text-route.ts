import type { FastifyInstance } from "fastify";
import { pageRoute } from "../ui/page/route.ts";
import { answering, type ShowDeps, showStep } from "./shown.ts";
import { textStep } from "./steps/text.ts";

/** `GET /sign/{token}/text`: the document as text, for who can't read its pages; the page's script does the same by itself. */
export function textRoute(app: FastifyInstance, deps: ShowDeps): void {
  pageRoute(app, deps, {
    url: "/sign/:token/text",
    policy: "page",
    handle: (call) =>
      answering(deps, call, async (link) => {
        const text = await deps.ceremony.text(link);
        return showStep(deps, link, (shown) => textStep(shown, text));
      }),
  });
}
