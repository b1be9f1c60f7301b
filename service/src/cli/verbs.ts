import { doctor } from "./doctor/doctor.ts";
import { fillVerbs } from "./fill.ts";
import { keyVerbs } from "./key.ts";
import { memberVerbs } from "./member.ts";
import { operatorVerbs } from "./operator.ts";
import { orderVerbs } from "./order.ts";
import { partnerVerbs } from "./partner.ts";
import { playbookVerbs } from "./playbook.ts";
import { requestVerbs } from "./request.ts";
import type { Verb } from "./verb.ts";
import { verify } from "./verify.ts";

const serve: Verb = {
  name: "serve",
  args: [],
  flags: "",
  options: {},
  summary: "Runs the service until SIGINT or SIGTERM.",
  async run() {
    const { serve: run } = await import("../main.ts");
    await run(process.env);
    return { text: "" };
  },
};

export const verbs: readonly Verb[] = [
  serve,
  ...partnerVerbs,
  ...keyVerbs,
  ...memberVerbs,
  ...requestVerbs,
  ...fillVerbs,
  ...playbookVerbs,
  ...orderVerbs,
  ...operatorVerbs,
  verify,
  doctor,
];
