import { maxLengths, recaptchaAction } from "../../firms/access-requests/access-requests.ts";
import { isEmail } from "../../kernel/platform/mail/email.ts";
import type { Assets } from "../ui/assets/assets.ts";
import { errorSummary, field, textArea } from "../ui/forms/fields.ts";
import type { FormValues } from "../ui/forms/form-body.ts";
import { layout } from "../ui/layout.ts";
import { type Html, html } from "../ui/render.ts";

/** The page's data for reCAPTCHA: the site key, and the origin of the script. */
export type RecaptchaSite = { siteKey: string; apiBase: string };

/** A rejected form: the typed values, and the server's message. */
export type Refused = { values: FormValues; message: string };

const labels = {
  firmName: "Firm",
  contactName: "Your name",
  workEmail: "Work email",
  role: "Your role",
  expectedVolume: "Documents per month",
  useCase: "What you plan to use it for",
} as const;

type Name = keyof typeof labels;
const names = Object.keys(labels) as Name[];

const needed: Partial<Readonly<Record<Name, string>>> = {
  firmName: "Enter your firm’s name.",
  contactName: "Enter your name.",
  workEmail: "Enter your work email, like name@firm.com.",
};

/** Replaces the API's field names in a message of the server with the labels on the page. */
const inLabels = (message: string): string =>
  names.reduce((text, name) => text.replace(new RegExp(`\\b${name}\\b`), `“${labels[name]}”`), message);

/** The error of each field, derived from the server's message and the typed values. */
function errorsOf({ values, message }: Refused): Partial<Record<Name, string>> {
  const named = names.find((name) => message.startsWith(`${name} `));
  if (named) return { [named]: inLabels(message) };
  const isMissing = (name: Name) => {
    const value = (values[name] ?? "").trim();
    return name === "workEmail" ? !isEmail(value) : value === "";
  };
  return Object.fromEntries(Object.entries(needed).filter(([name]) => isMissing(name as Name)));
}

function fields(values: FormValues, errors: Partial<Record<Name, string>>): Html {
  const part = (name: Name) => ({
    name,
    label: labels[name],
    value: values[name],
    maxLength: maxLengths[name],
    error: errors[name],
  });
  return html`${field({ ...part("firmName"), required: true, autocomplete: "organization" })}
${field({ ...part("contactName"), required: true, autocomplete: "name" })}
${field({ ...part("workEmail"), type: "email", required: true, autocomplete: "email", hint: "An address at your firm’s own domain. We send the key there." })}
${field({ ...part("role"), autocomplete: "organization-title" })}
${field({ ...part("expectedVolume"), hint: "A rough estimate is fine." })}
${textArea({ ...part("useCase"), hint: "A few sentences: which documents, who signs them, and what should happen to them. If you leave this empty, someone reviews your request first." })}`;
}

const recaptchaParts = html`<input type="hidden" name="recaptchaToken" value="">
<p class="form-note">This site is protected by reCAPTCHA and the Google <a href="https://policies.google.com/privacy">Privacy Policy</a> and <a href="https://policies.google.com/terms">Terms of Service</a> apply.</p>`;

/** The form, empty or with its errors; `site` is set when reCAPTCHA is configured. */
export function requestAccessPage(assets: Pick<Assets, "url">, site: RecaptchaSite | null, refused?: Refused): string {
  const script = site && `${site.apiBase}/api.js?render=${encodeURIComponent(site.siteKey)}`;
  return layout(assets, {
    title: refused ? "Please check the form: partner access" : "Request partner access",
    description: "Test keys for title, escrow, lending, and law firms, to place orders from their own systems.",
    scripts: site ? ["recaptcha.js"] : [],
    body: html`<h1>Request partner access</h1>
<p class="lead">For title, escrow, lending, and law firms. A test key lets your own system place orders, open rooms, and receive webhooks. Nothing about them is real.</p>
${errorSummary(refused && inLabels(refused.message))}
<form class="form card" method="post" action="/request-access"${site && html` data-recaptcha-key="${site.siteKey}" data-recaptcha-action="${recaptchaAction}"`}>
${fields(refused?.values ?? {}, refused ? errorsOf(refused) : {})}
${site && recaptchaParts}
<div class="form-actions"><button type="submit">Send request</button></div>
</form>
${script && html`<script src="${script}" data-recaptcha-api defer></script>`}`,
  });
}

const steps = {
  issued: {
    title: "Your test key is on its way",
    lead: "We are sending it to your work email.",
    next: [
      html`Open the email and keep the key safe, like a password. It is sent only once: an address that already has a key does not get another.`,
      html`<a href="/sign-in">Sign in</a> with the same address, and paste the key once to connect to your firm.`,
      html`Place your first test order, in the dashboard or from your own system. The <a href="/docs/quickstart">quickstart</a> shows how.`,
    ],
  },
  pending: {
    title: "Thank you. We will review your request",
    lead: "You don’t need to do anything else right now.",
    next: [
      html`Someone on our team reads your request. If it is a good fit, we send a test key to your work email.`,
      html`You can then <a href="/sign-in">sign in</a> with the same address and connect to your firm.`,
      html`In the meantime, you can read the <a href="/docs">developer docs</a>.`,
    ],
  },
} as const;

/** The next steps, shown after a request was accepted. */
export function requestReceivedPage(assets: Pick<Assets, "url">, status: keyof typeof steps): string {
  const { title, lead, next } = steps[status];
  return layout(assets, {
    title,
    credential: true,
    body: html`<section class="card status-card ${status === "issued" ? "done" : "waiting"}" aria-labelledby="taken-title">
<h1 id="taken-title">${title}</h1>
<p class="lead">${lead}</p>
<h2>What happens next</h2>
<ol class="next">${next.map((line) => html`<li>${line}</li>`)}</ol>
</section>`,
  });
}
