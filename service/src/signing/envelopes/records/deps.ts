import type { ChainPems, SealDocument, Stamp } from "../../../evidence/seals/seals.ts";
import type { Blobs } from "../../../kernel/platform/blobs/blobs.ts";
import type { Clock } from "../../../kernel/platform/clock.ts";
import type { Database } from "../../../kernel/platform/database/database.ts";
import type { Log } from "../../../kernel/platform/logs.ts";
import type { Random } from "../../../kernel/platform/random.ts";
import type { RowMac } from "../../../kernel/platform/row-mac.ts";
import type { SecretBytes } from "../../../kernel/platform/secrets.ts";
import type { Workers } from "../../../kernel/platform/workers/task.ts";
import type { ConsentTexts } from "../consent/texts.ts";
import type { SignerAuthorities } from "../open-signer-authority.ts";
import type { Texts } from "../texts/texts.ts";

/** The dependencies of envelopes. */
export type EnvelopeDeps = {
  db: Database;
  clock: Clock;
  random: Random;
  log: Log;
  blobs: Blobs;
  rowMac: RowMac;
  secrets: SecretBytes;
  workers: Workers;
  sealDocument: SealDocument;
  chainPem: ChainPems;
  /** Null when no time-stamping authorities are set. */
  stamp: Stamp | null;
  signerAuthorities: SignerAuthorities;
  /** Null when no text messages are sent: then no order asks for codes by them. */
  texts: Texts | null;
  /** The texts that consent may be given to; undefined for a version that there never was. */
  consentTexts: Pick<ConsentTexts, "find">;
  baseUrl: string;
};
