import type { FastifyRequest } from "fastify";
import { icon } from "./icons.ts";
import { type Html, html } from "./render.ts";

/** The messages about a person's own account. Each audience with accounts includes them in its table. */
export const accountMessages = {
  environment: "You switched environments.",
  "session-ended": "That session was signed out.",
  "passkey-added": "The passkey was added.",
  "passkey-removed": "The passkey was removed.",
};

/**
 * The functions that show one audience's messages after a form was accepted. The URL contains the name of a message,
 * never its text.
 * @param messages the audience's messages, by name
 */
export const flashesOf = <Name extends string>(messages: Readonly<Record<Name, string>>) => ({
  /** The redirect after a form was accepted. The target page shows the message about the result. */
  done(path: string, message: Name): { redirect: string } {
    const [before = "", hash] = path.split("#", 2);
    const address = `${before}${before.includes("?") ? "&" : "?"}done=${message}`;
    return { redirect: hash === undefined ? address : `${address}#${hash}` };
  },

  /** The message named in the URL. */
  flashOf({ query }: FastifyRequest): Html | "" {
    const { done: name } = query as { done?: unknown };
    if (typeof name !== "string" || !Object.hasOwn(messages, name)) return "";
    const text = messages[name as Name];
    return html`<div class="notice done flash" role="status">${icon("done")}<div><p>${text}</p></div></div>`;
  },
});
