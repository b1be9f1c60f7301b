import type { FastifyInstance } from "fastify";
import { pageRoute } from "../ui/page/route.ts";
import { answering, type ShowDeps, show } from "./shown.ts";
import { wordsOf } from "./words/languages.ts";
import type { Words } from "./words/words.ts";

const isDone = (name: string | undefined): name is keyof Words["done"] =>
  name !== undefined && Object.hasOwn(wordsOf("en").done, name);

/** `GET /sign/{token}`: changes nothing, so that whoever scans a mail's links uses up none. */
export function viewRoute(app: FastifyInstance, deps: ShowDeps): void {
  pageRoute(app, deps, {
    url: "/sign/:token",
    policy: "page",
    handle: (call) => {
      const { done } = call.query;
      return answering(deps, call, (link) => show(deps, link, { done: isDone(done) ? done : null }));
    },
  });
}
