import { makeOperatorLink } from "../members/members.ts";
import { lines, type Verb, withResources } from "./verb.ts";

export const operatorVerbs: Verb[] = [
  {
    name: "operator link",
    args: [],
    flags: "",
    options: {},
    summary: "Prints a link that signs in a browser as the operator. It works once, within 10 minutes.",
    run: () =>
      withResources(async (resources) => {
        const { path, expiresAt } = await makeOperatorLink(resources);
        const answer = { url: resources.config.baseUrl + path, expiresAt };
        return { json: answer, text: lines(answer) };
      }),
  },
];
