import type { FastifyInstance } from "fastify";
import { contentDisposition } from "../../kernel/http/content-disposition.ts";
import { sendRange } from "../../kernel/http/file-route.ts";
import type { StoredFile } from "../../kernel/platform/blobs/stored-file.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { copyKinds, type Link } from "../../signing/envelopes/envelopes.ts";
import { savedName } from "../ui/orders/document-list.ts";
import { formHeaders } from "../ui/page/headers.ts";
import { send } from "../ui/page/route.ts";
import { wordsIn } from "../ui/words/reader.ts";
import { type SignParams, signUrls } from "./cookie.ts";
import { type RenderDeps, type RenderedPage, withRefusalPage } from "./render.ts";

/** A stored file, and the name under which a browser saves it, without the extension. */
type NamedFile = { readonly file: StoredFile; readonly name: string };

type Route = { Params: SignParams; Querystring: { revision?: string; save?: string } };

/**
 * `GET /sign/{token}/document.pdf`: the bytes to be signed, or a range of them. If the URL names another revision than
 * the newest, the response is 409 Conflict, so that ranges never mix two revisions.
 *
 * `GET /sign/{token}/{kind}.pdf`: the signer's copies of the document.
 */
export function documentRoute(app: FastifyInstance, deps: RenderDeps): void {
  pdfRoute("document", async (link, revision) => ({ file: await newest(link, revision), name: "document" }));
  for (const kind of copyKinds)
    pdfRoute(kind, async (link) => {
      const file = await deps.ceremony.copy(link, kind);
      const { title, signer, copies } = await deps.ceremony.view(link);
      const copy = copies.find((each) => each.kind === kind) ?? { kind, isSimulated: false };
      return { file, name: savedName(title, copy, wordsIn[signer.language]) };
    });

  function pdfRoute(part: string, fileOf: (link: Link, revision: string | undefined) => Promise<NamedFile>): void {
    for (const url of signUrls(`/${part}.pdf`))
      app.get<Route>(url, { onRequest: deps.limits.limit("page"), schema: { hide: true } }, async (request, reply) => {
        const { params, query, headers } = request;
        const found = await withRefusalPage(deps, { params, request, form: {} }, (link) =>
          fileOf(link, query.revision),
        );
        if (!isFile(found)) return send(reply, formHeaders, found);
        const disposition = query.save === undefined ? "inline" : "attachment";
        reply.headers({ ...formHeaders, "Content-Disposition": contentDisposition(disposition, `${found.name}.pdf`) });
        return sendRange(reply.type("application/pdf"), found.file, headers);
      });
  }

  async function newest(link: Link, wanted: string | undefined): Promise<StoredFile> {
    const { file, revision } = await deps.ceremony.document(link);
    if (wanted !== undefined && wanted !== String(revision))
      throw new ServiceError("conflict", "The document has changed.");
    return file;
  }
}

const isFile = (answer: NamedFile | RenderedPage): answer is NamedFile => "file" in answer;
