import type { PlaybookList } from "./schemas.ts";

/**
 * A parameter of a playbook. The argument for a `returned` parameter is stored, and returned with the outcome. Other
 * arguments are not stored.
 */
export type Parameter = {
  name: string;
  type: "string" | "int" | "bool";
  required: boolean;
  maxLength: number | null;
  returned: boolean;
};

export type Playbook = {
  key: string;
  name: string;
  description: string;
  parameters: readonly Parameter[];
  /** An execution waits this long for its decision before it expires. */
  waitSeconds: number;
};

const text = { type: "string", required: true, returned: true } as const;

/** The only playbooks that a request can run (contract, Playbooks). */
const registry: readonly Playbook[] = [
  {
    key: "approval_gate",
    name: "Approval gate",
    description: "Waits up to 30 days for a decision on the subject that you name.",
    parameters: [
      { ...text, name: "kind", maxLength: 40 },
      { ...text, name: "subjectId", maxLength: 64 },
      { ...text, name: "note", required: false, maxLength: 500, returned: false },
    ],
    waitSeconds: 2_592_000,
  },
];

/** Finds a playbook by its key, which is case-sensitive. */
export const playbookOf = (key: string): Playbook | undefined => registry.find((playbook) => playbook.key === key);

/** The registry as partners see it. */
export const registryView = (): PlaybookList => ({
  playbooks: registry.map(({ key, name, description, parameters }) => ({
    key,
    name,
    description,
    paramSchema: parameters.map(({ name, type, required, maxLength }) => ({ name, type, required, maxLength })),
  })),
});
