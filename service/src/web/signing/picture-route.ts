import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Link } from "../../envelopes/envelopes.ts";
import { refuseCrossSite } from "../../http/authentication.ts";
import { readParts } from "../../http/uploads/multipart-parts.ts";
import { invalid } from "../../platform/errors.ts";
import { type PageAnswer, pageRoute } from "../ui/page/route.ts";
import { writePicture } from "./picture.ts";
import { answering, type ShowDeps, show } from "./shown.ts";
import { wordsOf } from "./words/languages.ts";

const mostBytes = 4 * 1024 * 1024;
/** Around the file. */
const frameBytes = 4 * 1024;

/**
 * `POST /sign/{token}/picture`: a file with the signer's signature, without a script. The page that answers has it, made to fit,
 * in the form that signs: nothing is kept here. Its scope takes multipart forms.
 */
export function pictureRoute(app: FastifyInstance, deps: ShowDeps): void {
  pageRoute(app, deps, {
    method: "POST",
    url: "/sign/:token/picture",
    policy: "page",
    onRequest: async (request) => refuseCrossSite(request, deps.ownOrigin),
    handle: (call) => answering(deps, call, (link) => pictureOf(deps, link, call.request)),
  });
}

async function pictureOf(deps: ShowDeps, link: Link, request: FastifyRequest): Promise<PageAnswer> {
  const { signer } = await deps.ceremony.view(link);
  const { refused } = wordsOf(signer.language);
  const declared = Number(request.headers["content-length"]);
  if (!request.isMultipart()) throw invalid(refused.input);
  if (!(declared <= mostBytes + frameBytes)) throw invalid(refused.picture.size);
  const messages = { tooLarge: refused.picture.size, incomplete: refused.picture.broken };
  const { upload } = await readParts(request, { filePart: "file", messages }, mostBytes);
  if (!upload || upload.bytes.length === 0) throw invalid(refused.picture.format);
  const picture = await deps.ceremony.picture(link, upload.bytes);
  if ("fault" in picture) throw invalid(refused.picture[picture.fault]);
  const { width, height, deflated } = picture;
  const text = writePicture({ width, height, deflated: Buffer.from(deflated).toString("base64url") });
  return show(deps, link, { typed: { picture: text } });
}
