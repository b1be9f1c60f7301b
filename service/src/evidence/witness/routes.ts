import { hash } from "node:crypto";
import type { FastifyInstance } from "fastify";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { uncachedUntilFound } from "../transparency-log/transparency-log.ts";
import { addCheckpoint, type WitnessDeps } from "./add-checkpoint.ts";
import { selectNote } from "./store.ts";

const maxBodyBytes = 72 * 1024;

/** `POST /witness/add-checkpoint` and `GET /witness/SHA256_OF_ORIGIN/checkpoint`, by C2SP tlog-witness. */
export async function witnessRoutes(app: FastifyInstance, deps: WitnessDeps, limits: RateLimits): Promise<void> {
  const { db, witness } = deps;
  const origins = new Map([...witness.logs.keys()].map((origin) => [hash("sha256", origin), origin]));
  const shown = { schema: { hide: true }, onRequest: [uncachedUntilFound, limits.limit("log")] };
  // Registered in a Fastify scope of its own, so that the parsers of other routes don't change.
  await app.register(async (room) => {
    room.removeAllContentTypeParsers();
    room.addContentTypeParser("*", { parseAs: "string", bodyLimit: maxBodyBytes }, (_request, body, done) =>
      done(null, body),
    );
    room.post("/witness/add-checkpoint", shown, async (request, reply) => {
      const body = typeof request.body === "string" ? request.body : "";
      const { status, text, isSize } = await addCheckpoint(deps, body);
      return reply
        .status(status)
        .type(isSize ? "text/x.tlog.size" : "text/plain; charset=utf-8")
        .send(text);
    });
  });
  app.get<{ Params: { origin: string } }>("/witness/:origin/checkpoint", shown, async (request, reply) => {
    const origin = origins.get(request.params.origin);
    const note = origin === undefined ? null : await selectNote(db, witness.id, origin);
    if (!note) throw new ServiceError("not_found", "This witness has not cosigned this log.");
    return reply.header("Cache-Control", "max-age=1").type("text/plain; charset=utf-8").send(note);
  });
}
