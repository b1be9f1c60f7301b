import { type Static, Type } from "typebox";
import { environment, nullable, oneOf, requestId, sha256, timestamp, uuid, verifyCode } from "../http/schema-parts.ts";

const sealingEnvironment = () => environment("The environment of the sealing key.");

const facts = {
  passportId: uuid(),
  verifyCode: verifyCode("128-bit capability code."),
  verifyUrl: Type.String({ format: "uri", description: "Where anybody verifies the passport." }),
  docSha256: sha256("SHA-256 of the uploaded bytes, hex."),
  sealedSha256: sha256("SHA-256 of the sealed PDF, hex."),
  status: oneOf(["sealed"]),
  environment: sealingEnvironment(),
};
const Facts = Type.Object(facts);
export type Facts = Static<typeof Facts>;

const Timestamps = Type.Object({
  rfc3161: nullable(
    Type.Object({
      authority: Type.String({
        description: "URL of the time-stamping authority.",
        examples: ["https://freetsa.org/tsr"],
      }),
      timestampedAtUtc: timestamp("The time in the token."),
    }),
  ),
  openTimestamps: nullable(
    Type.Object({
      calendar: Type.String({ examples: ["https://a.pool.opentimestamps.org"] }),
      submittedAtUtc: timestamp("When the calendars took the hash."),
      status: oneOf(["pending", "confirmed"], "`pending` until a block confirms."),
    }),
  ),
});
export type Timestamps = Static<typeof Timestamps>;

export const SealedPassport = Type.Object({ ...facts, timestamps: Timestamps }, { $id: "SealedPassport" });
export type SealedPassport = Static<typeof SealedPassport>;

export const Passport = Type.Object(
  { ...facts, createdAt: timestamp("When it was sealed."), requestId: requestId() },
  { $id: "Passport" },
);
export type Passport = Static<typeof Passport>;

export const PassportVerification = Type.Object(
  {
    verdict: oneOf(["verified", "verified_test"]),
    verifyCode: verifyCode("128-bit capability code."),
    sealedSha256: facts.sealedSha256,
    docSha256: facts.docSha256,
    sealedAtUtc: timestamp("When it was sealed."),
    source: oneOf(["proof_passport_api"]),
    certificateAvailable: Type.Boolean({ description: "Whether the sealed PDF can be downloaded." }),
    certificateDeletedAtUtc: Type.Optional(
      timestamp("When the retention plan deleted the sealed PDF; absent when it did not."),
    ),
    environment: sealingEnvironment(),
    sealRetirement: Type.Optional(
      Type.Object(
        {
          retiredAtUtc: timestamp("From when on its seals do not count."),
          reason: Type.String({ description: "By its name of RFC 5280.", examples: ["key-compromise"] }),
        },
        {
          description:
            "Only when the certificate of the seal was retired. The verdict is this service's record; whether the file still verifies depends on its time stamp.",
        },
      ),
    ),
  },
  { $id: "PassportVerification" },
);
export type PassportVerification = Static<typeof PassportVerification>;

/** The upload, for the published description. */
export const sealFormSchema = {
  type: "object",
  required: ["file"],
  properties: {
    file: { type: "string", contentMediaType: "application/pdf", description: "The executed PDF, at most 35 MB." },
  },
} as const;
