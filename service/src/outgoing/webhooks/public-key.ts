import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import type { Owner, Principal } from "../../kernel/identity/identity.ts";
import type { ColumnCipher } from "../../kernel/platform/column-cipher.ts";
import type { Sql } from "../../kernel/platform/database/database.ts";
import { sql } from "../../kernel/platform/database/sql.ts";
import { ServiceError } from "../../kernel/platform/errors.ts";
import { standardPublicKey } from "./standard-signature.ts";
import { mayChangeSubscriptions } from "./subscriptions/subscriptions.ts";

export const webhookKeyColumn = "webhook_keys.private_key";

/** Ties an encrypted private key to its owner. So a key that was copied into another owner's row can't be decrypted. */
export const keyContext = ({ partnerId, environment }: Owner): string => `${partnerId}:${environment}`;

// The offset of the raw Ed25519 key in its SubjectPublicKeyInfo (RFC 8410, section 4).
const rawFrom = 12;

export type PublicKey = { publicKey: string; publicKeyPem: string };

export type PublicKeyDeps = { db: Sql; keyCipher: ColumnCipher };

/** The public key of the owner's deliveries; null until it is created. */
export async function readPublicKey({ db, keyCipher }: PublicKeyDeps, owner: Owner): Promise<PublicKey | null> {
  const sealed = await selectKey(db, owner);
  if (!sealed) return null;
  const key = createPublicKey(privateKeyOf(keyCipher.decrypt(sealed, keyContext(owner))));
  const spki = key.export({ format: "der", type: "spki" });
  return {
    publicKey: standardPublicKey(spki.subarray(rawFrom)),
    publicKeyPem: String(key.export({ format: "pem", type: "spki" })),
  };
}

/**
 * Creates the owner's key if it does not exist. Afterwards, each delivery also has a `v1a` signature. Keys are created
 * only on request, because an Ed25519 signature costs ten times as much as an HMAC.
 * @throws ServiceError for a member who may not change the firm's live webhooks
 */
export async function makePublicKey(deps: PublicKeyDeps, principal: Principal): Promise<PublicKey> {
  if (!mayChangeSubscriptions(principal))
    throw new ServiceError(
      "owner_required",
      "Only an owner of the firm with live access may make the public key of live webhooks.",
    );
  const { partnerId, environment } = principal;
  const owner = { partnerId, environment };
  const present = await readPublicKey(deps, owner);
  if (present) return present;
  await insertKey(deps, owner);
  const created = await readPublicKey(deps, owner);
  if (!created) throw new Error("the key of a firm's deliveries was not written");
  return created;
}

/** Parses a decrypted private key in PKCS #8. */
export const privateKeyOf = (pkcs8: Buffer) => createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });

async function selectKey(db: Sql, { partnerId, environment }: Owner): Promise<Buffer | undefined> {
  const [row] = await db.query<{ key: Buffer }>(sql`
SELECT private_key AS key FROM webhook_keys WHERE partner_id = ${partnerId} AND environment = ${environment}`);
  return row?.key;
}

async function insertKey({ db, keyCipher }: PublicKeyDeps, owner: Owner): Promise<void> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const sealed = keyCipher.encrypt(privateKey.export({ format: "der", type: "pkcs8" }), keyContext(owner));
  // Inserts the new key, unless a concurrent request has inserted one already. That key then stays the owner's key.
  await db.query(sql`
INSERT INTO webhook_keys (partner_id, environment, private_key) VALUES (${owner.partnerId}, ${owner.environment}, ${sealed})
ON CONFLICT DO NOTHING`);
}
