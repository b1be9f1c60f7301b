import {
  eventHeader,
  secretHash,
  secretKeys,
  signatureHeader,
  signatureValue,
  toleranceSeconds,
  verification,
} from "./signing.ts";
import { testTopic } from "./topics.ts";

// Made up for this page; it signs nothing else.
const secret = `svc_whsec_${"signatureexample".padEnd(52, "a")}`;
const timestamp = 1_772_600_767;
const rawBody = JSON.stringify({
  type: testTopic,
  id: `${testTopic}:00000000-0000-4000-8000-000000000000`,
  data: {
    webhookId: "00000000-0000-4000-8000-000000000000",
    environment: "test",
    occurredAtUtc: "2026-03-04T05:06:07.089Z",
  },
});

/** A worked example to test a receiver against, the same for everybody. */
export const signatureExample = {
  signatureHeader,
  eventHeader,
  toleranceSeconds,
  verification,
  secret,
  signingKey: secretHash(secret).toString("hex"),
  timestamp,
  rawBody,
  signedString: `${timestamp}.${rawBody}`,
  headers: {
    [signatureHeader]: signatureValue([secretKeys(secretHash(secret))], timestamp, Buffer.from(rawBody)),
    [eventHeader]: testTopic,
  },
};
