/** The data that a page gives its script: public facts about the service, as JSON in the page itself. */
export type VerifyConfig = {
  /** Certificates of the service's seals, as its trust list or as PEM. They identify the service's own seals. */
  readonly sealCertificates: string;
  /** The firm whose record the page shows; null when the page does not name it. */
  readonly firm: string | null;
  /** The record that the page shows, to compare the file with. */
  readonly proof: { readonly sealedSha256: string; readonly docSha256: string } | null;
  readonly closing: ClosingConfig | null;
  /** The signing that the page shows; absent when it shows none. */
  readonly envelope?: {
    readonly verifyCode: string;
    readonly custodyCertSha256: string | null;
    /** The hash of the document that a notary completed after the signers. */
    readonly notarizedSha256: string | null;
  };
};

/** The Closing Passport that the page shows, and its earlier versions. */
export type ClosingConfig = {
  readonly roomCode: string;
  readonly version: number;
  readonly versions: readonly {
    readonly version: number;
    /** The stored canonical JSON. Null for a version to which the verify code in the page's URL gives no access. */
    readonly manifest: string | null;
    readonly manifestSha256: string;
    readonly sealedSha256: string;
  }[];
};

/** Certificates that the reader chose to trust, as PEM. */
export type ReadersTrust = { readonly seal: string; readonly timeStamping: string };
