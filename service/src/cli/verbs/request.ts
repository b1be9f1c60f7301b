import {
  approveRequest,
  declineRequest,
  type ListedRequest,
  listRequests,
} from "../../firms/access-requests/access-requests.ts";
import { defineVerb, lines, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const readable = ({ useCase, reasons, ...request }: ListedRequest): string =>
  lines({ ...request, reasons: reasons.join(", ") || null, useCase: useCase?.replaceAll(/\s+/g, " ") });

export const requestVerbs: Verb[] = [
  defineVerb({
    name: "request list",
    args: [],
    options: {},
    summary: "Lists access requests: pending ones first, oldest first, then decided ones.",
    run: () =>
      withResources(async (resources) => {
        const requests = await listRequests(resources);
        return { json: { requests }, text: requests.map(readable).join("\n\n") };
      }),
  }),
  defineVerb({
    name: "request approve",
    args: ["ID"],
    options: {},
    summary: "Makes the firm a trial partner and emails a test key to its contact, once.",
    run: ([id = ""]) =>
      withResources(async (resources) => {
        const answer = await approveRequest(resources, id);
        return { json: answer, text: lines(answer) };
      }),
  }),
  defineVerb({
    name: "request decline",
    args: ["ID"],
    options: {},
    summary: "Declines a request. Nothing is sent.",
    run: ([id = ""]) =>
      withResources(async (resources) => {
        const answer = await declineRequest(resources, id);
        return { json: answer, text: lines(answer) };
      }),
  }),
];
