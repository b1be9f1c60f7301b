const prefix = "executions/";

/** The name of an execution for partners and the operator. */
export const executionName = (id: string): string => prefix + id;

/** The id in an execution's name, or the text itself. */
export const executionIdOf = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name);
