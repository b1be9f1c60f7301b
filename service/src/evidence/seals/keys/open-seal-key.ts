import { type AwsCredentials, openAwsKmsKey } from "./aws-kms-key.ts";
import { openFileKey } from "./file-key.ts";
import { openPkcs11Key } from "./pkcs11-key.ts";
import { type SealKey, SealKeyError } from "./seal-key.ts";

export type SealKeyOptions = {
  /** The setting that names the key; every error message begins with it. */
  readonly setting?: "SEAL_KEY" | "SIGNER_CA_KEY";
  /** The AWS credentials for an `awskms:` key. By default, the AWS SDK reads them from its usual sources. */
  readonly awsCredentials?: AwsCredentials;
};

/**
 * Opens the key that a setting names: `file:PATH` (created when missing), `pkcs11:...` (RFC 7512) or
 * `awskms:///KEY_ID?region=..&endpoint=..`. A key created for `SEAL_KEY` is RSA-3072; one for `SIGNER_CA_KEY` is P-256.
 * @throws {SealKeyError} whose message begins with the setting's name
 */
export async function openSealKey(
  uri: string,
  { setting = "SEAL_KEY", awsCredentials }: SealKeyOptions = {},
): Promise<SealKey> {
  const refuse = (error: unknown): never => {
    if (!(error instanceof SealKeyError)) throw error;
    throw new SealKeyError(error.code, `${setting}: ${error.message}`, error.cause);
  };
  const key = await open(uri, setting, awsCredentials).catch(refuse);
  return { ...key, sign: (data) => key.sign(data).catch(refuse) };
}

async function open(uri: string, setting: string, awsCredentials: AwsCredentials | undefined): Promise<SealKey> {
  const scheme = uri.slice(0, uri.indexOf(":") + 1);
  switch (scheme) {
    case "file:":
      return openFileKey(uri, setting === "SEAL_KEY" ? "rsa-3072" : "p-256");
    case "pkcs11:":
      return openPkcs11Key(uri);
    case "awskms:":
      return openAwsKmsKey(uri, awsCredentials);
    case "gcpkms:":
      throw new SealKeyError("not-supported", "gcpkms:// is not supported yet; use file:, pkcs11: or awskms:");
    default:
      throw new SealKeyError("bad-uri", "it must begin with file:, pkcs11: or awskms:");
  }
}
