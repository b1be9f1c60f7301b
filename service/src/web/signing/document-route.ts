import type { FastifyInstance, FastifyReply } from "fastify";
import { copyKinds, type Link } from "../../envelopes/envelopes.ts";
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

  function pdfRoute(name: string, bytesOf: (link: Link, revision: string | undefined) => Promise<Buffer>): void {
    app.get<Route>(
      `/sign/:token/${name}.pdf`,
      { onRequest: deps.limits.limit("page"), schema: { hide: true } },
      async (request, reply) => {
        const { params, query, headers } = request;
        const found = await answering(deps, { params, request, form: {} }, (link) => bytesOf(link, query.revision));
        if (!Buffer.isBuffer(found)) return send(reply, formHeaders, found);
        const disposition = query.save === undefined ? "inline" : "attachment";
        reply.headers({ ...formHeaders, "Content-Disposition": `${disposition}; filename="${name}.pdf"` });
        return sendRange(reply.type("application/pdf"), found, headers.range);
      },
    );
  }

  async function newest(link: Link, wanted: string | undefined): Promise<Buffer> {
    const { bytes, revision } = await deps.ceremony.document(link);
    if (wanted !== undefined && wanted !== String(revision))
      throw new ServiceError("conflict", "The document has changed.");
    return bytes;
  }
}

/** RFC 9110, section 15.3.7 and 15.5.17. */
function sendRange(reply: FastifyReply, bytes: Buffer, header: string | undefined): FastifyReply {
  const range = byteRange(header, bytes.length);
  reply.header("Accept-Ranges", "bytes");
  if (range === null) return reply.send(bytes);
  if (range === "none") return reply.code(416).header("Content-Range", `bytes */${bytes.length}`).send();
  const { first, last } = range;
  reply.code(206).header("Content-Range", `bytes ${first}-${last}/${bytes.length}`);
  return reply.send(bytes.subarray(first, last + 1));
}
