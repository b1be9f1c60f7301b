import { hash } from "node:crypto";
import type { JsonObject } from "@signsealship/evidence/manifest";
import type { PreparedField, SignatureMark } from "../pdf/fields.ts";
import type { Document } from "../records/revisions.ts";
import { endingOf } from "../texts/texts.ts";
import type { SignRequest } from "./ceremony.ts";
import { clientDetail } from "./client-detail.ts";
import { channelOf, type Linked } from "./links.ts";
import type { Client } from "./view.ts";

/** Where the private key of an act was created, and the public key (SubjectPublicKeyInfo of P-256, DER). */
export type KeyHolder = { readonly keyHeldBy: "service" | "browser"; readonly publicKey: Uint8Array };

/**
 * The signature's appearance in the act's record, so that anybody can compare it with the one in the document. A
 * drawing is recorded as one hash of its size and strokes. A picture is recorded as its size and the hashes of its
 * image and its mask.
 */
export function markRecord(mark: SignatureMark): JsonObject {
  if (mark.kind === "typed") return { kind: "typed", text: mark.text };
  const sha256 = (bytes: Uint8Array | string) => hash("sha256", bytes);
  if (mark.kind === "drawn") {
    const { height, strokes, width } = mark;
    // The members are in the order of canonical JSON, as in the browser's own computation of this hash.
    return { kind: "drawn", sha256: sha256(JSON.stringify({ height, strokes, width })) };
  }
  const { width, height, rgb, alpha } = mark;
  return { height, kind: "uploaded", maskSha256: alpha && sha256(alpha), sha256: sha256(rgb), width };
}

type Acting = Pick<Linked, "envelope" | "signer" | "embed" | "sitting" | "room" | "place" | "bySession"> & {
  document: Document;
  request: SignRequest;
  values: ReadonlyMap<string, string>;
  hidden: ReadonlySet<string>;
  own: readonly PreparedField[];
  client: Client;
  at: Date;
  keyHeldBy: KeyHolder["keyHeldBy"];
};

const stepOf = ({ auth, phone }: Linked["signer"]): string =>
  auth === "text_code" ? `code by text message to a number ending ${endingOf(phone ?? "")}` : auth;

/** Builds the record of an act. The signature dictionary contains the SHA-256 of the record's canonical JSON. */
export function actRecord(acting: Acting): JsonObject {
  const { envelope, signer, embed, sitting, room, document, request, values, hidden, own, client, at, keyHeldBy } =
    acting;
  const { mark } = request;
  const channel = channelOf(acting);
  const byNotary = room ? [room.presence] : null;
  const byLink = embed
    ? `page at ${embed.origin}, opened by the firm for the signer`
    : sitting
      ? `in person, on a device that ${sitting.host} of the firm handed over`
      : "link mailed to the address";
  return {
    at: at.toISOString(),
    ...(channel !== "mail_link" && { channel }),
    ...(embed && { origin: embed.origin }),
    ...(sitting && { host: sitting.host }),
    client: clientDetail(client),
    consent: signer.consent && { ...signer.consent },
    envelope: envelope.verifyCode,
    identifiedBy: byNotary ?? (signer.auth === "link" ? [byLink] : [byLink, stepOf(signer)]),
    keyHeldBy,
    mark: markRecord(mark),
    orderCode: envelope.orderCode,
    revision: { bytes: document.bytes.length, number: document.revision, sha256: document.sha256 },
    ...(acting.place && acting.bySession && { session: acting.place.id }),
    signer: { email: signer.email, n: signer.n, name: signer.name },
    values: own.flatMap(({ name, kind, option, showWhen }) => {
      const value = values.get(name);
      if (value === undefined) return [];
      const notShown = hidden.has(name) && showWhen;
      const more = { ...(option !== undefined && { option }), ...(notShown && { notShown: { ...notShown } }) };
      return [{ field: name, kind, value, ...more }];
    }),
  };
}
