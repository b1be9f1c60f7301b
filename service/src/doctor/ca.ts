import { X509Certificate } from "node:crypto";
import { readCa } from "../webhooks/webhooks.ts";
import { type Finding, runCheck } from "./finding.ts";

const block = /-----BEGIN CERTIFICATE-----[^-]*(-----END CERTIFICATE-----)?/g;

/** The certificates of WEBHOOK_CA, one by one: a connection would silently ignore what follows a broken one. */
export function caFinding(path: string | null, now: Date): Promise<Finding> {
  return runCheck("webhook authorities", () => {
    if (path === null) return "WEBHOOK_CA is not set: only public authorities are trusted";
    const blocks = readCa(path).match(block) ?? [];
    const certificates = blocks.map((pem, index) => readOne(pem, index + 1, path));
    const counted = `${path}: ${certificates.length === 1 ? "1 certificate" : `${certificates.length} certificates`}`;
    const expired = certificates.find(({ validToDate }) => validToDate < now);
    if (!expired) return counted;
    const day = expired.validToDate.toISOString().slice(0, 10);
    return { warning: `${counted}; ${nameOf(expired)} expired on ${day}` };
  });
}

function readOne(pem: string, number: number, path: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw new Error(`${path}: certificate ${number} cannot be read`);
  }
}

const nameOf = ({ subject }: X509Certificate): string => subject?.replaceAll("\n", ", ") || "an unnamed certificate";
