import type { FastifyInstance, FastifyReply, onRequestAsyncHookHandler } from "fastify";
import type { ProofRecord } from "../../proof-passports/proof-passports.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets.ts";
import { credentialHeaders, htmlType } from "../ui/page-headers.ts";
import { silentPolicy } from "../ui/page-policy.ts";
import { type ClosingRecord, closingPage, unknownClosingPage } from "./closing/page.ts";
import { proofRecordPage, unknownRecordPage, verifyPage } from "./page.ts";

/** Where the verification pages get what they show. */
export type EvidenceSources = {
  /** PEM of every certificate that this service seals or ever sealed with. */
  sealCertificates: () => Promise<string>;
  /** Null for a code that nobody was given. */
  proofRecord: (verifyCode: string) => Promise<ProofRecord | null>;
  closingRecord: (verifyCode: string) => Promise<ClosingRecord | null>;
};

type Deps = EvidenceSources & { assets: Assets; baseUrl: string; onRequest: onRequestAsyncHookHandler };
type CodeRoute = { Params: { code: string } };

const isVerifyCode = (code: string): boolean => /^[a-z2-7]{26}$/.test(code);

/** `/verify`, `/verify/{code}` and `/v/room/{code}`. */
export function verifyRoutes(people: FastifyInstance, { assets, baseUrl, onRequest, ...sources }: Deps): void {
  const options = { onRequest, schema: { hide: true } };

  people.get("/verify", options, async (_request, reply) => {
    const page = verifyPage(assets, await sources.sealCertificates());
    return reply
      .type(htmlType)
      .headers({ "Cache-Control": "no-cache", "Content-Security-Policy": silentPolicy() })
      .send(page);
  });

  people.get<CodeRoute>("/verify/:code", options, async ({ params }, reply) => {
    const record = isVerifyCode(params.code) ? await sources.proofRecord(params.code) : null;
    if (!record) return send(reply.code(404), unknownRecordPage(assets));
    return send(
      reply,
      proofRecordPage(assets, { record, sealCertificates: await sources.sealCertificates(), baseUrl }),
    );
  });

  people.get<CodeRoute>("/v/room/:code", options, async ({ params }, reply) => {
    const record = isVerifyCode(params.code) ? await sources.closingRecord(params.code) : null;
    if (!record) return send(reply.code(404), unknownClosingPage(assets));
    const page = closingPage(assets, { record, sealCertificates: await sources.sealCertificates(), baseUrl });
    return send(reply, page, logoOf(record.branding)?.origin);
  });
}

function send(reply: FastifyReply, page: string, logo?: string): FastifyReply {
  const policy = silentPolicy(logo === undefined ? [] : [logo]);
  return reply.type(htmlType).headers(credentialHeaders).header("Content-Security-Policy", policy).send(page);
}
