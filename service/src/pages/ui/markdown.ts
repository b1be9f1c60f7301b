import { Marked, type Token, type Tokens } from "marked";
import { type Html, html, raw } from "./render.ts";

/** The display names of the samples' languages. */
const languages: Readonly<Record<string, string>> = {
  sh: "curl",
  ts: "TypeScript",
  js: "Node",
  py: "Python",
  python: "Python, plain",
  php: "PHP",
  go: "Go",
};

const codeOf = (sample: Tokens.Code): Html =>
  html`<div class="sample"><pre tabindex="0"><code>${sample.text}</code></pre><button type="button" class="copy with-script" data-copy="Copied" aria-label="Copy this sample">Copy</button></div>`;

/**
 * One code sample in several programming languages, of which one is shown. The choice of a language works without
 * JavaScript.
 */
function tabs(samples: readonly Tokens.Code[], group: number): Html {
  const tab = (sample: Tokens.Code, index: number) => {
    const lang = sample.lang?.split(" ")[0] ?? "";
    const id = `sample-${group}-${lang}`;
    return html`<input type="radio" class="visually-hidden" name="sample-${group}" id="${id}" value="${lang}"${index === 0 ? html` checked` : ""}><label for="${id}">${languages[lang] ?? lang}</label>`;
  };
  return html`<fieldset class="tabs"><legend class="visually-hidden">Language of the sample</legend>${samples.map(tab)}${samples.map(codeOf)}</fieldset>`;
}

const slug = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

const marked = new Marked({
  renderer: {
    // Omits HTML comments. The tool that generates the tables of the guides puts such comments around them.
    html: () => "",
    heading({ tokens, depth, text }) {
      return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      // In the repository, a guide links to another guide's file. On the site, the link needs that guide's URL.
      const to = href.replace(/^([a-z-]+)\.md/, "/docs/$1");
      return `<a href="${to}">${this.parser.parseInline(tokens)}</a>`;
    },
    table(token) {
      const cell = (kind: "td" | "th") => (each: Tokens.TableCell) =>
        `<${kind}${kind === "th" ? ' scope="col"' : ""}>${this.parser.parseInline(each.tokens)}</${kind}>`;
      const rows = token.rows.map((row) => `<tr>${row.map(cell("td")).join("")}</tr>`).join("\n");
      return `<div class="table" tabindex="0"><table><thead><tr>${token.header.map(cell("th")).join("")}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
    },
  },
});

const isCode = (token: Token | undefined): token is Tokens.Code => token?.type === "code";

/**
 * Renders a guide as a part of a page. Code samples that follow each other directly become one block with a choice of
 * language.
 */
export function guideHtml(markdown: string): Html {
  const tokens = marked.lexer(markdown);
  const isNothing = (token: Token) => token.type === "space";
  const parts: Html[] = [];
  let samples: Tokens.Code[] = [];
  const endSamples = () => {
    const [only] = samples;
    if (only) parts.push(samples.length > 1 ? tabs(samples, parts.length) : codeOf(only));
    samples = [];
  };
  for (const token of tokens.filter((each) => !isNothing(each))) {
    // True for code in no listed language, such as output, or commands that are run only once. Such code stays a block
    // of its own.
    const standsAlone = isCode(token) && !Object.hasOwn(languages, token.lang?.split(" ")[0] ?? "");
    if (!isCode(token) || standsAlone) endSamples();
    if (!isCode(token)) parts.push(html`${raw(marked.parser([token]))}`);
    else if (standsAlone) parts.push(codeOf(token));
    else samples.push(token);
  }
  endSamples();
  return html`${parts}`;
}

/** Renders a sentence of a guide as a part of a page. */
export const guideSentence = (markdown: string): Html => html`${raw(marked.parseInline(markdown, { async: false }))}`;
