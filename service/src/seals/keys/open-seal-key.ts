import { type AwsCredentials, openAwsKmsKey } from "./aws-kms-key.ts";
import { openFileKey } from "./file-key.ts";
import { openPkcs11Key } from "./pkcs11-key.ts";
import { type SealKey, SealKeyError } from "./seal-key.ts";

export type SealKeyOptions = {
  /** For `awskms:`; without them the AWS SDK looks in its usual places. */
  readonly awsCredentials?: AwsCredentials;
};

/**
 * Opens the key that the setting `SEAL_KEY` names: `file:PATH` (made when missing), `pkcs11:...` (RFC 7512) or
 * `awskms:///KEY_ID?region=..&endpoint=..`.
 * @throws {SealKeyError}
 */
export async function openSealKey(uri: string, options: SealKeyOptions = {}): Promise<SealKey> {
  const scheme = uri.slice(0, uri.indexOf(":") + 1);
  switch (scheme) {
    case "file:":
      return openFileKey(uri);
    case "pkcs11:":
      return openPkcs11Key(uri);
    case "awskms:":
      return openAwsKmsKey(uri, options.awsCredentials);
    case "gcpkms:":
      throw new SealKeyError(
        "not-supported",
        "SEAL_KEY: gcpkms:// is not supported yet; use file:, pkcs11: or awskms:",
      );
    default:
      throw new SealKeyError("bad-uri", "SEAL_KEY must begin with file:, pkcs11: or awskms:");
  }
}
