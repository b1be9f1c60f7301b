import { makeOperatorLink } from "../../firms/members/members.ts";
import {
  addOperator,
  byCommandLine,
  changeOperator,
  type ListedOperator,
  listOperators,
  removeOperator,
} from "../../firms/operators/operators.ts";
import { defineVerb, lines, onOff, onOrOff, UsageError, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const rolesIn = (text: string | undefined): string[] | undefined => text?.split(",").map((role) => role.trim());

const readable = ({ id, email, name, roles, active, passkeys }: ListedOperator): string =>
  `${id}  ${active ? "active" : "ended"}  ${email}  ${name}  ${roles.join(",")}  passkeys: ${passkeys}`;

export const operatorVerbs: Verb[] = [
  defineVerb({
    name: "operator link",
    args: [],
    options: {},
    summary:
      "Prints a link that opens the whole console, for emergencies: the log does not name who used it. It works once, within 10 minutes.",
    run: () =>
      withResources(async (resources) => {
        const { path, expiresAt } = await makeOperatorLink(resources);
        const answer = { url: resources.config.baseUrl + path, expiresAt };
        return { json: answer, text: lines(answer) };
      }),
  }),
  defineVerb({
    name: "operator add",
    args: ["EMAIL"],
    options: {
      role: {
        type: "string",
        value: "ROLE[,ROLE]",
        required: true,
        help: "agent, notary, shipper, approver, admin or auditor; more of them comma-separated.",
      },
      name: { type: "string", help: "The person's name." },
    },
    summary:
      "Makes a person an operator, who signs in to the console by email. Roles: agent, notary, shipper, approver, admin, auditor.",
    run: ([email = ""], values) => {
      const roles = rolesIn(values.role);
      if (!roles) throw new UsageError("operator add needs --role");
      const name = values.name ?? email.trim();
      return withResources(async (resources) => {
        const answer = await addOperator(resources, byCommandLine, { email, name, roles });
        return { json: answer, text: lines(answer) };
      });
    },
  }),
  defineVerb({
    name: "operator list",
    args: [],
    options: {},
    summary: "Lists the operators, active or not, with their roles.",
    run: () =>
      withResources(async (resources) => {
        const operators = await listOperators(resources);
        return { json: { operators }, text: operators.map(readable).join("\n") };
      }),
  }),
  defineVerb({
    name: "operator set",
    args: ["EMAIL|USER_ID"],
    options: {
      role: {
        type: "string",
        value: "ROLE[,ROLE]",
        help: "agent, notary, shipper, approver, admin or auditor; more of them comma-separated.",
      },
      name: { type: "string", help: "The person's name." },
      active: { type: "string", help: "on or off: whether the person may sign in.", values: onOrOff },
    },
    summary: "Sets an operator's roles or name, or ends and restores the access, effective with the next request.",
    run: ([who = ""], values) => {
      const [roles, name, active] = [rolesIn(values.role), values.name, onOff(values, "active")];
      if (roles === undefined && name === undefined && active === undefined)
        throw new UsageError("operator set needs --role, --name or --active");
      const change = {
        ...(roles && { roles }),
        ...(name !== undefined && { name }),
        ...(active !== undefined && { active }),
      };
      return withResources(async (resources) => {
        const answer = await changeOperator(resources, byCommandLine, who, change);
        return { json: answer, text: lines(answer) };
      });
    },
  }),
  defineVerb({
    name: "operator remove",
    args: ["EMAIL|USER_ID"],
    options: {},
    summary:
      "Ends an operator's access and sessions, effective with the next request, even the last admin's. The row stays on record.",
    run: ([who = ""]) =>
      withResources(async (resources) => {
        const answer = await removeOperator(resources, byCommandLine, who);
        return { json: answer, text: lines(answer) };
      }),
  }),
];
