import type { Branding } from "../../firms/partners/partners.ts";
import type { Principal } from "../../kernel/identity/identity.ts";
import type { PreviewSigner, PreviewView } from "../../signing/envelopes/envelopes.ts";

/** A prepared document whose signing pages are shown to its sender before it is sent. */
export type Previewed = {
  readonly firm: Pick<Principal, "partnerId" | "firmName" | "environment">;
  readonly branding: Branding | null;
  /** The firm's contact email; null when it has not set one. */
  readonly contactEmail: string | null;
  readonly title: string;
  readonly signers: readonly PreviewSigner[];
  readonly views: readonly PreviewView[];
  readonly at: Date;
};
