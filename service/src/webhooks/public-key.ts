import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import type { Owner } from "../identity/identity.ts";
import type { ColumnCipher } from "../platform/column-cipher.ts";
import type { Sql } from "../platform/database/database.ts";
import { sql } from "../platform/database/sql.ts";
import { standardPublicKey } from "./standard-signature.ts";

export const webhookKeyColumn = "webhook_keys.private_key";

/** What the cipher binds a key to. */
export const keyContext = ({ partnerId, environment }: Owner): string => `${partnerId}:${environment}`;

// Of a raw Ed25519 key within its SubjectPublicKeyInfo (RFC 8410, section 4).
const rawFrom = 12;

export type PublicKey = { publicKey: string; publicKeyPem: string };

/**
 * The public key of the owner's deliveries. It is made when it is first asked for; from then on each delivery bears a `v1a` signature:
 * who has no key could not check one, and Ed25519 costs ten times an HMAC.
 */
export async function readPublicKey(
  { db, keyCipher }: { db: Sql; keyCipher: ColumnCipher },
  owner: Owner,
): Promise<PublicKey> {
  const stored = (await selectKey(db, owner)) ?? (await makeKey(db, keyCipher, owner));
  const key = createPublicKey(privateKeyOf(keyCipher.decrypt(stored, keyContext(owner))));
  const spki = key.export({ format: "der", type: "spki" });
  return {
    publicKey: standardPublicKey(spki.subarray(rawFrom)),
    publicKeyPem: String(key.export({ format: "pem", type: "spki" })),
  };
}

/** The key of what a row holds, decrypted: PKCS #8. */
export const privateKeyOf = (pkcs8: Buffer) => createPrivateKey({ key: pkcs8, format: "der", type: "pkcs8" });

async function selectKey(db: Sql, { partnerId, environment }: Owner): Promise<Buffer | undefined> {
  const [row] = await db.query<{ key: Buffer }>(sql`
SELECT private_key AS key FROM webhook_keys WHERE partner_id = ${partnerId} AND environment = ${environment}`);
  return row?.key;
}

async function makeKey(db: Sql, keyCipher: ColumnCipher, owner: Owner): Promise<Buffer> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const sealed = keyCipher.encrypt(privateKey.export({ format: "der", type: "pkcs8" }), keyContext(owner));
  await db.query(sql`
INSERT INTO webhook_keys (partner_id, environment, private_key) VALUES (${owner.partnerId}, ${owner.environment}, ${sealed})
ON CONFLICT DO NOTHING`);
  // Another may have been first: what is there is the key.
  return (await selectKey(db, owner)) ?? sealed;
}
