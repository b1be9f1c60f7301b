const prefix = "executions/";
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The name under which partners and the operator know an execution. */
export const executionName = (id: string): string => prefix + id;

/** The id in an execution's name, or the text itself. */
export const executionIdOf = (name: string): string => (name.startsWith(prefix) ? name.slice(prefix.length) : name);

export const isExecutionId = (text: string): boolean => uuid.test(text);
