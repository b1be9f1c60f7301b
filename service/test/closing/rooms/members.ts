import type { Environment, Principal } from "../../../src/kernel/identity/identity.ts";
import { recentProof } from "../../firms/members/recent-proof.ts";
import type { Client } from "./rooms-service.ts";

/** A member of the client's firm, in the form of a session's principal. */
export const asMember = ({ partnerId }: Client, environment: Environment = "test"): Principal => ({
  partnerId,
  environment,
  firmName: "Acme Title",
  tier: "trial",
  liveEnabled: false,
  key: null,
  member: {
    proof: recentProof(),
    userId: "6f1d2c3b-0000-4000-8000-000000000001",
    email: "dana@acme-title.com",
    role: "owner",
    liveAccess: true,
    seesBilling: false,
  },
});
