import type { FastifyInstance, FastifyRequest } from "fastify";
import { listAnySessions, listPasskeysOf } from "../../../members/members.ts";
import {
  addOperator,
  changeOperator,
  dropOperatorPasskeys,
  endOperatorSession,
  listOperators,
  operatorRoles,
  type PeopleDeps,
  requireOperator,
} from "../../../operators/operators.ts";
import { done } from "../../ui/flash-messages.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { type ConsoleDeps, consolePage, consoleRoute, operatorOf } from "../frame/console.ts";
import { listBody } from "./list.ts";
import { personBody } from "./person.ts";
import { roleField } from "./roles.ts";

export type PeoplePagesDeps = ConsoleDeps & PeopleDeps;

const path = "/operator/people";
const readers = ["people.manage", "records.read"] as const;

/** The roles whose boxes were ticked. */
const rolesIn = (form: FormValues): string[] => operatorRoles.filter((role) => form[roleField(role)] !== undefined);

type Problem = { error: string; typed: FormValues };

/** Operators: who they are, what they may do, and where they are signed in. */
export function peopleRoutes(scope: FastifyInstance, deps: PeoplePagesDeps): void {
  consoleRoute(scope, deps, { url: path, permission: readers, handle: ({ request }) => showList(request) });

  consoleRoute(scope, deps, {
    method: "POST",
    url: path,
    permission: "people.manage",
    async handle({ operator, form }) {
      const { email = "", name = "" } = form;
      const { id } = await addOperator(deps, operator, { email, name, roles: rolesIn(form) });
      return done(`${path}/${id}`, "operator-added");
    },
    refused: ({ request, form: typed }, error) => showList(request, { error, typed }),
  });

  consoleRoute(scope, deps, {
    url: `${path}/:id`,
    permission: readers,
    handle: ({ params, request }) => showPerson(request, params.id),
  });

  personForms(scope, deps, showPerson);

  async function showList(request: FastifyRequest, problem?: Problem): Promise<string> {
    const operators = await listOperators(deps);
    const body = listBody({ operators, operator: operatorOf(request), problem });
    return consolePage(deps, request, { title: "People", section: "people", body });
  }

  async function showPerson(request: FastifyRequest, id: string, error?: string): Promise<string> {
    const person = await requireOperator(deps, id);
    const [sessions, passkeys] = await Promise.all([
      listAnySessions(deps, person.email),
      listPasskeysOf(deps, person.id),
    ]);
    const body = personBody({ person, sessions, passkeys, operator: operatorOf(request), error });
    return consolePage(deps, request, { title: person.name, section: "people", body });
  }
}

type Show = (request: FastifyRequest, id: string, error?: string) => Promise<string>;

function personForms(scope: FastifyInstance, deps: PeoplePagesDeps, show: Show): void {
  const form = {
    method: "POST",
    permission: "people.manage",
    refused: ({ params, request }: { params: { id: string }; request: FastifyRequest }, error: string) =>
      show(request, params.id, error),
  } as const;
  const pathOf = (id: string) => `${path}/${id}`;

  consoleRoute(scope, deps, {
    ...form,
    url: `${path}/:id/roles`,
    async handle({ operator, params: { id }, form: typed }) {
      await changeOperator(deps, operator, id, { name: typed["name"] ?? "", roles: rolesIn(typed) });
      return done(pathOf(id), "operator-changed");
    },
  });

  for (const [verb, active, message] of [
    ["remove", false, "operator-removed"],
    ["restore", true, "operator-changed"],
  ] as const)
    consoleRoute(scope, deps, {
      ...form,
      url: `/operator/people/:id/${verb}`,
      async handle({ operator, params }) {
        const { id } = params as { id: string };
        await changeOperator(deps, operator, id, { active });
        return done(pathOf(id), message);
      },
    });

  consoleRoute(scope, deps, {
    ...form,
    url: `${path}/:id/passkeys/remove`,
    async handle({ operator, params: { id } }) {
      await dropOperatorPasskeys(deps, operator, id);
      return done(pathOf(id), "passkeys-removed");
    },
  });

  consoleRoute(scope, deps, {
    ...form,
    url: `${path}/:id/sessions/:sessionId/end`,
    async handle({ operator, params: { id, sessionId } }) {
      await endOperatorSession(deps, operator, { id, sessionId });
      return done(pathOf(id), "session-ended");
    },
  });
}
