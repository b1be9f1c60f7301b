import { retractionReasons } from "@signsealship/evidence/log";
import { type Static, Type } from "typebox";
import {
  environment,
  logNote,
  nullable,
  oneOf,
  requestId,
  sha256,
  timestamp,
  uuid,
  verifyCode,
  verifyCodeExample,
} from "../../kernel/http/schema-parts.ts";

const sealingEnvironment = () => environment("The environment of the sealing key.");

const facts = {
  passportId: uuid("The passport's id.", "8a4c2f10-9b7e-4d35-a1c6-5f0e3d2b7a91"),
  verifyCode: verifyCode("The code by which anyone can verify the passport."),
  verifyUrl: Type.String({
    format: "uri",
    description:
      "Where a program verifies the passport. A browser that opens it is led to the page for people, `/verify/` and the code.",
    examples: [`https://sign.example.com/api/passport/verify/${verifyCodeExample}`],
  }),
  docSha256: sha256("SHA-256 of the uploaded bytes, hex."),
  sealedSha256: sha256("SHA-256 of the sealed PDF, hex."),
  status: oneOf(["sealed"], "Always `sealed`."),
  environment: sealingEnvironment(),
};
const Facts = Type.Object(facts);
export type Facts = Static<typeof Facts>;

const Timestamps = Type.Object(
  {
    rfc3161: nullable(
      Type.Object({
        authority: Type.String({
          description: "URL of the time-stamping authority.",
          examples: ["https://freetsa.org/tsr"],
        }),
        timestampedAtUtc: timestamp("The time in the token."),
      }),
      "The RFC 3161 time stamp; null when no authority could be reached.",
    ),
    openTimestamps: nullable(
      Type.Object({
        calendar: Type.String({
          description: "The calendar that took the hash.",
          examples: ["https://a.pool.opentimestamps.org"],
        }),
        submittedAtUtc: timestamp("When the calendar took the hash."),
        status: oneOf(["pending", "confirmed"], "`pending` until a block of the chain confirms it."),
      }),
      "The OpenTimestamps proof; null when no calendar could be reached.",
    ),
  },
  { description: "The independent time stamps. One that could not be had is null, never made up." },
);
export type Timestamps = Static<typeof Timestamps>;

export const SealedPassport = Type.Object(
  { ...facts, timestamps: Timestamps, log: logNote() },
  { $id: "SealedPassport", description: "The new passport." },
);
export type SealedPassport = Static<typeof SealedPassport>;

export const Passport = Type.Object(
  { ...facts, createdAt: timestamp("When it was sealed."), requestId: requestId() },
  { $id: "Passport", description: "A proof passport." },
);
export type Passport = Static<typeof Passport>;

export const PassportVerification = Type.Object(
  {
    verdict: oneOf(["verified", "verified_test"], "`verified_test` for a passport that a test key made."),
    verifyCode: verifyCode("The code by which anyone can verify the passport."),
    sealedSha256: facts.sealedSha256,
    docSha256: facts.docSha256,
    sealedAtUtc: timestamp("When it was sealed."),
    source: oneOf(["proof_passport_api"], "Always `proof_passport_api`."),
    certificateAvailable: Type.Boolean({ description: "Whether the sealed PDF can be downloaded.", examples: [true] }),
    certificateDeletedAtUtc: Type.Optional(
      timestamp("When the retention plan deleted the sealed PDF; absent when it did not."),
    ),
    environment: sealingEnvironment(),
    sealRetirement: Type.Optional(
      Type.Object(
        {
          retiredAtUtc: timestamp("Seals made after this do not count."),
          reason: Type.String({ description: "Why, by its name in RFC 5280.", examples: ["key-compromise"] }),
        },
        {
          description:
            "Only when the certificate of the seal was retired. The verdict is this service's record; whether the file still verifies depends on its time stamp.",
        },
      ),
    ),
    retraction: Type.Optional(
      Type.Object(
        {
          reason: oneOf([...retractionReasons], "Why the operator retracted the seal."),
          retractedAtUtc: timestamp("When the operator retracted it."),
        },
        {
          description:
            "Only when the operator retracted this seal in the transparency log. The verdict is this service's record of the seal; do not rely on the document.",
        },
      ),
    ),
  },
  { $id: "PassportVerification", description: "What is recorded about a sealed PDF." },
);
export type PassportVerification = Static<typeof PassportVerification>;

/** The schema of the upload, for the published description. */
export const sealFormSchema = {
  type: "object",
  required: ["file"],
  examples: [{ file: "@deed.pdf" }],
  properties: {
    file: { type: "string", contentMediaType: "application/pdf", description: "The executed PDF, at most 35 MB." },
  },
} as const;
