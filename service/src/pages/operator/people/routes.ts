import type { FastifyInstance, FastifyRequest } from "fastify";
import { listAnySessions, listPasskeysOf } from "../../../firms/members/members.ts";
import {
  addOperator,
  changeOperator,
  dropOperatorPasskeys,
  endOperatorSession,
  listOperators,
  operatorRoles,
  type PeopleDeps,
  requireOperator,
} from "../../../firms/operators/operators.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";
import { done } from "../flash-messages.ts";
import { type ConsoleFrame, consolePage, consoleRoute, operatorOf } from "../frame/console.ts";
import { listBody, personBody } from "./pages.ts";
import { roleField } from "./roles.ts";

export type PeoplePagesDeps = { frame: ConsoleFrame; people: PeopleDeps };

const path = "/operator/people";
const readers = ["people.manage", "records.read"] as const;

const rolesIn = (form: FormValues): string[] => operatorRoles.filter((role) => form[roleField(role)] !== undefined);

type Problem = { error: string; typed: FormValues };

/** Adds the list of operators, and the page of each operator with their roles and sessions. */
export function peopleRoutes(scope: FastifyInstance, deps: PeoplePagesDeps): void {
  consoleRoute(scope, deps.frame, { url: path, permission: readers, handle: ({ request }) => showList(request) });

  consoleRoute(scope, deps.frame, {
    method: "POST",
    url: path,
    permission: "people.manage",
    async handle({ operator, form }) {
      const { email = "", name = "" } = form;
      const { id } = await addOperator(deps.people, operator, { email, name, roles: rolesIn(form) });
      return done(`${path}/${id}`, "operator-added");
    },
    refused: ({ request, form: typed }, error) => showList(request, { error, typed }),
  });

  consoleRoute(scope, deps.frame, {
    url: `${path}/:id`,
    permission: readers,
    handle: ({ params, request }) => showPerson(request, params.id),
  });

  personForms(scope, deps, showPerson);

  async function showList(request: FastifyRequest, problem?: Problem): Promise<string> {
    const operators = await listOperators(deps.people);
    const body = listBody({ operators, operator: operatorOf(request), problem });
    return consolePage(deps.frame, request, { title: "People", section: "people", body });
  }

  async function showPerson(request: FastifyRequest, id: string, error?: string): Promise<string> {
    const person = await requireOperator(deps.people, id);
    const [sessions, passkeys] = await Promise.all([
      listAnySessions(deps.people, person.email),
      listPasskeysOf(deps.people, person.id),
    ]);
    const body = personBody({ person, sessions, passkeys, operator: operatorOf(request), error });
    return consolePage(deps.frame, request, { title: person.name, section: "people", body });
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

  consoleRoute(scope, deps.frame, {
    ...form,
    url: `${path}/:id/roles`,
    async handle({ operator, params: { id }, form: typed }) {
      await changeOperator(deps.people, operator, id, { name: typed["name"] ?? "", roles: rolesIn(typed) });
      return done(pathOf(id), "operator-changed");
    },
  });

  for (const [verb, active, message] of [
    ["remove", false, "operator-removed"],
    ["restore", true, "operator-changed"],
  ] as const)
    consoleRoute(scope, deps.frame, {
      ...form,
      url: `/operator/people/:id/${verb}`,
      async handle({ operator, params }) {
        const { id } = params as { id: string };
        await changeOperator(deps.people, operator, id, { active });
        return done(pathOf(id), message);
      },
    });

  consoleRoute(scope, deps.frame, {
    ...form,
    url: `${path}/:id/passkeys/remove`,
    async handle({ operator, params: { id } }) {
      await dropOperatorPasskeys(deps.people, operator, id);
      return done(pathOf(id), "passkeys-removed");
    },
  });

  consoleRoute(scope, deps.frame, {
    ...form,
    url: `${path}/:id/sessions/:sessionId/end`,
    async handle({ operator, params: { id, sessionId } }) {
      await endOperatorSession(deps.people, operator, { id, sessionId });
      return done(pathOf(id), "session-ended");
    },
  });
}
