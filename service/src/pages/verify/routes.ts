import type { FastifyInstance } from "fastify";
import type { ClosingRecord } from "../../closing/closing-passports/closing-passports.ts";
import type { ProofRecord } from "../../evidence/proof-passports/proof-passports.ts";
import type { RateLimits } from "../../kernel/http/rate-limits.ts";
import { isVerifyCode } from "../../kernel/platform/text.ts";
import type { RetentionPlan } from "../../kernel/retention/retention.ts";
import type { EnvelopeRecord } from "../../signing/envelopes/envelopes.ts";
import { logoOf } from "../ui/accent.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { inLanguage } from "../ui/error-page.ts";
import { credentialHeaders, publicHeaders } from "../ui/page/headers.ts";
import { silentPolicy } from "../ui/page/policy.ts";
import { type PageAnswer, type PageCall, pageRoute } from "../ui/page/route.ts";
import { readerOf } from "../ui/words/reader.ts";
import { closingPage } from "./closing/page.ts";
import { envelopePage } from "./envelope/page.ts";
import { unknownCodePage, verifyPage } from "./page.ts";
import { proofRecordPage } from "./record-page.ts";
import { standaloneVerifier } from "./standalone.ts";

/** Data sources of the verification pages. */
export type EvidenceSources = {
  /** The trust list: every certificate with which this service seals or ever sealed, including retired ones. */
  sealCertificates: () => Promise<string>;
  /** Null for an unknown code. */
  proofRecord: (verifyCode: string) => Promise<ProofRecord | null>;
  closingRecord: (verifyCode: string) => Promise<ClosingRecord | null>;
  envelopeRecord: (verifyCode: string) => Promise<EnvelopeRecord | null>;
};

export type VerifyDeps = EvidenceSources & {
  assets: Assets;
  limits: RateLimits;
  baseUrl: string;
  retention: RetentionPlan;
};

const policyHeaders = (logo?: string) => ({
  "Content-Security-Policy": silentPolicy(logo === undefined ? [] : [logo]),
});

/** Adds `/verify`, `/verify/offline`, `/verify/{code}`, `/v/room/{code}` and `/v/envelope/{code}`. */
export function verifyPages(app: FastifyInstance, deps: VerifyDeps): void {
  const { assets, baseUrl, sealCertificates, proofRecord, closingRecord, envelopeRecord, retention } = deps;
  const frame = { policy: "page", compressed: true, headers: { ...credentialHeaders, ...policyHeaders() } } as const;

  function unknownCode(file: "document" | "certificate", { query, request }: PageCall): PageAnswer {
    const reader = readerOf(query["lang"], request.headers);
    return { status: 404, page: unknownCodePage(assets, file, reader), headers: inLanguage(reader) };
  }

  pageRoute(app, deps, {
    url: "/verify",
    policy: "page",
    compressed: true,
    headers: { ...publicHeaders, ...policyHeaders() },
    handle: async () => verifyPage(assets, { sealCertificates: await sealCertificates(), baseUrl }),
  });

  // A saved copy of this page verifies files without this service.
  pageRoute(app, deps, {
    url: "/verify/offline",
    policy: "page",
    handle: async () => ({
      file: standaloneVerifier(assets, await sealCertificates()),
      type: "text/html; charset=utf-8",
      name: "verifier.html",
    }),
  });

  pageRoute(app, deps, {
    ...frame,
    url: "/verify/:code",
    handle: async (call) => {
      const { code } = call.params;
      const record = isVerifyCode(code) ? await proofRecord(code) : null;
      if (!record) return unknownCode("document", call);
      return proofRecordPage(assets, { record, sealCertificates: await sealCertificates(), baseUrl, retention });
    },
  });

  pageRoute(app, deps, {
    ...frame,
    url: "/v/room/:code",
    handle: async (call) => {
      const { code } = call.params;
      const record = isVerifyCode(code) ? await closingRecord(code) : null;
      if (!record) return unknownCode("certificate", call);
      return {
        page: closingPage(assets, { record, sealCertificates: await sealCertificates(), baseUrl, retention }),
        headers: policyHeaders(logoOf(record.branding)?.origin),
      };
    },
  });

  pageRoute(app, deps, {
    ...frame,
    url: "/v/envelope/:code",
    handle: async (call) => {
      const { code } = call.params;
      const record = isVerifyCode(code) ? await envelopeRecord(code) : null;
      if (!record) return unknownCode("document", call);
      return {
        page: envelopePage(assets, { record, sealCertificates: await sealCertificates(), baseUrl }),
        headers: policyHeaders(logoOf(record.branding)?.origin),
      };
    },
  });
}
