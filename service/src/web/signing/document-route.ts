import type { FastifyInstance, FastifyReply } from "fastify";
import { copyKinds, type Link } from "../../envelopes/envelopes.ts";
import { bodyOf } from "../../http/file-route.ts";
import type { StoredFile } from "../../platform/blobs/stored-file.ts";
import { ServiceError } from "../../platform/errors.ts";
import { formHeaders } from "../ui/page/headers.ts";
import { send } from "../ui/page/route.ts";
import { byteRange } from "./byte-range.ts";
import { answering, type ShowDeps } from "./shown.ts";

type Route = { Params: { token: string }; Querystring: { revision?: string; save?: string } };

/**
 * `GET /sign/{token}/document.pdf`: the bytes that would be signed, whole or a range of them. With `revision`, of that one
 * alone: a reader of ranges never gets parts of two. `GET /sign/{token}/{kind}.pdf`: what the signer may keep.
 */
export function documentRoute(app: FastifyInstance, deps: ShowDeps): void {
  pdfRoute("document", newest);
  for (const kind of copyKinds) pdfRoute(kind, (link) => deps.ceremony.copy(link, kind));

  function pdfRoute(name: string, fileOf: (link: Link, revision: string | undefined) => Promise<StoredFile>): void {
    app.get<Route>(
      `/sign/:token/${name}.pdf`,
      { onRequest: deps.limits.limit("page"), schema: { hide: true } },
      async (request, reply) => {
        const { params, query, headers } = request;
        const found = await answering(deps, { params, request, form: {} }, (link) => fileOf(link, query.revision));
        if (!isFile(found)) return send(reply, formHeaders, found);
        const disposition = query.save === undefined ? "inline" : "attachment";
        reply.headers({ ...formHeaders, "Content-Disposition": `${disposition}; filename="${name}.pdf"` });
        return sendRange(reply.type("application/pdf"), found, headers.range);
      },
    );
  }

  async function newest(link: Link, wanted: string | undefined): Promise<StoredFile> {
    const { file, revision } = await deps.ceremony.document(link);
    if (wanted !== undefined && wanted !== String(revision))
      throw new ServiceError("conflict", "The document has changed.");
    return file;
  }
}

const isFile = (answer: unknown): answer is StoredFile => typeof answer === "object" && "body" in (answer ?? {});

/** RFC 9110, section 15.3.7 and 15.5.17. */
async function sendRange(reply: FastifyReply, file: StoredFile, header: string | undefined): Promise<FastifyReply> {
  const range = byteRange(header, file.length);
  reply.header("Accept-Ranges", "bytes");
  if (range === "none") return reply.code(416).header("Content-Range", `bytes */${file.length}`).send();
  const body = await bodyOf(reply, file, range ?? undefined);
  if (range) reply.code(206).header("Content-Range", `bytes ${range.first}-${range.last}/${file.length}`);
  return reply.send(body);
}
