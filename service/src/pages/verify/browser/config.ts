/** The data that a page gives its script: public facts of the service, as JSON in the page itself. */
export type VerifyConfig = {
  /** Certificates of the service's seals, as its trust list or as PEM: a seal by one of them is its own. */
  readonly sealCertificates: string;
  /** Whose record the page shows; null where that is not said. */
  readonly firm: string | null;
  /** The record that the page shows, to compare the file with. */
  readonly proof: { readonly sealedSha256: string; readonly docSha256: string } | null;
  readonly closing: ClosingConfig | null;
  /** The signing that the page shows; absent where it shows none. */
  readonly envelope?: { readonly verifyCode: string; readonly custodyCertSha256: string | null };
};

/** The Closing Passport that the page shows, and the versions before it. */
export type ClosingConfig = {
  readonly roomCode: string;
  readonly version: number;
  readonly versions: readonly {
    readonly version: number;
    /** Canonical JSON as it is kept; null for a version that the page's code does not open. */
    readonly manifest: string | null;
    readonly manifestSha256: string;
    readonly sealedSha256: string;
  }[];
};

/** Certificates that the reader chose to trust, as PEM. */
export type ReadersTrust = { readonly seal: string; readonly timeStamping: string };
