import type { Environment } from "../../kernel/identity/identity.ts";

/** The result of a credential check, without the credential's number, pictures and date of birth. */
export type CredentialResult = {
  outcome: "passed" | "failed" | "inconclusive";
  /** True if the provider detected a forgery; then no further attempt is allowed. */
  isFinal: boolean;
  credential: {
    type: string;
    issuer: string;
    /** The dates of issue and expiry: `YYYY-MM-DD`; null when the provider did not read the date. */
    issuedOn: string | null;
    expiresOn: string | null;
  } | null;
  /** The names on the credential. */
  names: string | null;
  faces: "matched" | "different" | "not compared";
  /** The provider's code for the reason why the check did not pass; null for a passed check. */
  why: string | null;
};

type NewProofing = {
  /** The service's own reference for the check. A repeated `begin` with the same reference starts no second check. */
  id: string;
  /** True if the provider must compare the person's face with the credential. */
  comparesFaces: boolean;
  returnTo: string;
};

/** A provider that checks the identity documents of remote people. */
export type IdentityProofing = {
  name: string;
  /** The environment whose orders the account is used for. */
  environment: Environment;
  /**
   * Begins an identity check.
   * @throws ServiceError `unavailable`
   */
  begin: (proofing: NewProofing) => Promise<{ reference: string }>;
  /**
   * The URL of the page on which the person shows the identity document, valid for one visit. Null when the person has
   * nothing to do, also while the provider still decides.
   * @throws ServiceError `unavailable`
   */
  page: (reference: string) => Promise<string | null>;
  /** The result; null while the check is in progress. @throws ServiceError `unavailable` */
  look: (reference: string, id: string) => Promise<CredentialResult | null>;
  /**
   * Requests that the provider delete its own copies of the check's data.
   * @throws ServiceError `unavailable`
   */
  forget: (reference: string) => Promise<void>;
};

export type QuizQuestion = { text: string; choices: string[] };

type QuizRequest = {
  /** The service's own reference for the quiz. */
  id: string;
  /** The person whom the questions are about. Sent to the provider and not stored. */
  person: { name: string; address: string; dateOfBirth: string };
  questions: number;
  choices: number;
  /**
   * For a repeated quiz: the reference of the earlier quiz, and the percentage of its questions that must be replaced
   * (0 to 100).
   */
  repeats: { reference: string; renewed: number } | null;
};

/** A provider of knowledge-based questions, which only the right person can answer. */
export type KnowledgeQuiz = {
  name: string;
  environment: Environment;
  /**
   * Requests the questions of a quiz.
   * @throws ServiceError `unavailable`
   */
  ask: (request: QuizRequest) => Promise<{ reference: string; questions: QuizQuestion[] }>;
  /**
   * Sends the person's answers.
   * @param choices the index of the chosen answer for each question
   * @throws ServiceError `unavailable`
   */
  answer: (reference: string, choices: readonly number[]) => Promise<{ right: number; of: number }>;
};
