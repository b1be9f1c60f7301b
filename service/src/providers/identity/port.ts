import type { Environment } from "../../kernel/identity/identity.ts";

/** The result of a check of a credential, without its number, its pictures and a day of birth. */
export type CredentialResult = {
  outcome: "passed" | "failed" | "inconclusive";
  /** Whether the provider saw a forgery: then no other try follows. */
  isFinal: boolean;
  credential: {
    type: string;
    issuer: string;
    /** `YYYY-MM-DD`; null where the provider read none. */
    issuedOn: string | null;
    expiresOn: string | null;
  } | null;
  /** The names on the credential. */
  names: string | null;
  faces: "matched" | "different" | "not compared";
  /** The provider's own word for what was wrong. */
  why: string | null;
};

export type NewProofing = {
  /** Our own reference. Checks with the same one begin once. */
  id: string;
  /** Whether the face is compared with the credential. */
  comparesFaces: boolean;
  returnTo: string;
};

/** Checks credentials of people who are elsewhere. */
export type IdentityProofing = {
  name: string;
  /** Orders of this environment are checked by the account. */
  environment: Environment;
  /** @throws ServiceError `unavailable` */
  begin: (proofing: NewProofing) => Promise<{ reference: string }>;
  /** The page where the person shows the credential, for one visit; null once there is nothing to do. @throws ServiceError `unavailable` */
  page: (reference: string) => Promise<string | null>;
  /** Null while the check goes on. @throws ServiceError `unavailable` */
  look: (reference: string, id: string) => Promise<CredentialResult | null>;
  /** Asks the provider to delete its copies. @throws ServiceError `unavailable` */
  forget: (reference: string) => Promise<void>;
};

export type QuizQuestion = { text: string; choices: string[] };

export type QuizRequest = {
  /** Ours. */
  id: string;
  /** Who the questions are about; it is passed on, and not kept. */
  person: { name: string; address: string; dateOfBirth: string };
  questions: number;
  choices: number;
  /** The quiz that is repeated, and the share of questions that are new then. */
  repeats: { reference: string; renewed: number } | null;
};

/** Asks people questions that they alone can answer. */
export type KnowledgeQuiz = {
  name: string;
  environment: Environment;
  /** @throws ServiceError `unavailable` */
  ask: (request: QuizRequest) => Promise<{ reference: string; questions: QuizQuestion[] }>;
  /** @param choices the index of the choice, one for each question. @throws ServiceError `unavailable` */
  answer: (reference: string, choices: readonly number[]) => Promise<{ right: number; of: number }>;
};
