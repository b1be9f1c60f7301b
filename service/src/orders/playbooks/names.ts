const prefix = "executions/";

/** The name by which partners and the operator refer to an execution. */
export const executionName = (id: string): string => prefix + id;

/** The id in an execution's name. Any other text is returned unchanged. */
export const executionIdOf = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
