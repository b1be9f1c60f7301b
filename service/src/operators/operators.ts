import type { Environment } from "../identity/identity.ts";
import { operatorResolver, type SessionDeps } from "../members/members.ts";
import { type OperatorRole, operatorRoles, type Permission, rolesPermit } from "./roles.ts";

export { type OperatorRole, operatorRoles, type Permission };

/** Somebody who runs the service, in the console. */
export type Operator = {
  /** Null for whoever came by a link of the command line, whose roles are all of them. */
  id: string | null;
  email: string | null;
  name: string;
  roles: readonly OperatorRole[];
  /** Live and test are never shown together. */
  environment: Environment;
  /** For the audit log: `operator:ID`, or `operator` from the command line. */
  actor: string;
};

/** Finds the operator of a `Cookie` header; null when it bears no session of one. */
export type ResolveOperator = (cookie: string | undefined) => Promise<Operator | null>;

export const may = ({ roles }: Pick<Operator, "roles">, permission: Permission): boolean =>
  rolesPermit(roles, permission);

export function operatorSessions(deps: SessionDeps): ResolveOperator {
  const isOperator = operatorResolver(deps);
  return async (cookie) =>
    (await isOperator(cookie))
      ? { id: null, email: null, name: "Operator", roles: operatorRoles, environment: "live", actor: "operator" }
      : null;
}
