import { Type } from "typebox";

const sha256 = (description: string) => Type.String({ pattern: "^[0-9a-f]{64}$", description });
const instant = (description: string) =>
  Type.String({ format: "date-time", description, examples: ["2026-03-04T05:06:07.089Z"] });
const environment = () => Type.String({ enum: ["live", "test"], description: "The environment of the sealing key." });
const verifyCode = () =>
  Type.String({
    pattern: "^[a-z2-7]{26}$",
    description: "128-bit capability code.",
    examples: ["mfrggzdfmztwq2lknnwg23tpoa"],
  });
const orNull = <S extends ReturnType<typeof Type.Object>>(schema: S) => Type.Union([schema, Type.Null()]);

const facts = {
  passportId: Type.String({ format: "uuid" }),
  verifyCode: verifyCode(),
  verifyUrl: Type.String({ format: "uri", description: "Where anybody verifies the passport." }),
  docSha256: sha256("SHA-256 of the uploaded bytes, hex."),
  sealedSha256: sha256("SHA-256 of the sealed PDF, hex."),
  status: Type.String({ enum: ["sealed"] }),
  environment: environment(),
};

const timestamps = Type.Object({
  rfc3161: orNull(
    Type.Object({
      authority: Type.String({
        description: "URL of the time-stamping authority.",
        examples: ["https://freetsa.org/tsr"],
      }),
      timestampedAtUtc: instant("The time in the token."),
    }),
  ),
  openTimestamps: orNull(
    Type.Object({
      calendar: Type.String({ examples: ["https://a.pool.opentimestamps.org"] }),
      submittedAtUtc: instant("When the calendars took the hash."),
      status: Type.String({ enum: ["pending", "confirmed"], description: "`pending` until a block confirms." }),
    }),
  ),
});

export const SealedPassport = Type.Object({ ...facts, timestamps }, { $id: "SealedPassport" });

export const Passport = Type.Object(
  { ...facts, createdAt: instant("When it was sealed."), requestId: Type.String({ format: "uuid" }) },
  { $id: "Passport" },
);

export const PassportVerification = Type.Object(
  {
    verdict: Type.String({ enum: ["verified", "verified_test"] }),
    verifyCode: verifyCode(),
    sealedSha256: facts.sealedSha256,
    docSha256: facts.docSha256,
    sealedAtUtc: instant("When it was sealed."),
    source: Type.String({ enum: ["proof_passport_api"] }),
    certificateAvailable: Type.Boolean({ description: "Whether the sealed PDF can be downloaded." }),
    environment: environment(),
  },
  { $id: "PassportVerification" },
);

export const UnknownVerdict = Type.Object(
  { verdict: Type.String({ enum: ["unknown"] }) },
  { $id: "UnknownVerdict", description: "No such code, or nothing to be had under it: all look the same." },
);

/** The upload, for the published description. */
export const sealFormSchema = {
  type: "object",
  required: ["file"],
  properties: {
    file: { type: "string", contentMediaType: "application/pdf", description: "The executed PDF, at most 35 MB." },
  },
} as const;
