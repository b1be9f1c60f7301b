import { nameFirstOwner } from "../../firms/access-requests/access-requests.ts";
import * as partners from "../../firms/partners/partners.ts";
import { defineVerb, lines, onOff, onOrOff, UsageError, type Verb } from "../verb.ts";
import { withResources } from "../with-resources.ts";

const brief = ({ partnerId, name, tier, liveEnabled }: partners.Partner) => ({ partnerId, name, tier, liveEnabled });

export const partnerVerbs: Verb[] = [
  defineVerb({
    name: "partner create",
    args: ["NAME"],
    options: {
      tier: {
        type: "string",
        help: "What it may take up and pays: trial (default), PartnerLink, ProOffice or ClosingDesk.",
        values: partners.tiers,
      },
      live: { type: "boolean", help: "Live orders are allowed from the start." },
      owner: {
        type: "string",
        value: "ADDRESS",
        help: "The person who signs in with this email address may open the firm without a key, as its first owner, and with live access if --live is given.",
      },
    },
    summary: "Adds a partner firm.",
    run: ([name = ""], values) =>
      withResources(async (resources) => {
        const { tier = "trial", live = false, owner } = values;
        const partner = await partners.createPartner(resources, { name, tier, live }, async (tx, created) => {
          if (owner !== undefined) await nameFirstOwner(tx, resources, created, owner);
        });
        const answer = brief(partner);
        return { json: answer, text: lines(answer) };
      }),
  }),
  defineVerb({
    name: "partner list",
    args: [],
    options: {},
    summary: "Lists all partner firms.",
    run: () =>
      withResources(async (resources) => {
        const all = await partners.listPartners(resources);
        const text = all.map(
          ({ partnerId, name, tier, liveEnabled }) =>
            `${partnerId}  ${tier}  ${liveEnabled ? "live" : "test"}  ${name}`,
        );
        return { json: { partners: all }, text: text.join("\n") };
      }),
  }),
  defineVerb({
    name: "partner set",
    args: ["PARTNER_ID"],
    options: {
      tier: { type: "string", help: "trial, PartnerLink, ProOffice or ClosingDesk.", values: partners.tiers },
      live: { type: "string", help: "on or off: whether live orders are allowed.", values: onOrOff },
      "brand-name": { type: "string", value: "NAME", help: "The name that clients see." },
      accent: { type: "string", value: "#rrggbb", help: "The color of rooms, as #1a2b3c." },
      logo: { type: "string", value: "URL", help: "An https address of a picture." },
      "contact-email": { type: "string", value: "ADDRESS", help: "Where clients' answers to mails go." },
    },
    summary: "Changes a partner's tier, live access or branding. An empty value clears a branding field.",
    run: ([partnerId = ""], values) => {
      const settings = {
        tier: values.tier,
        live: onOff(values, "live"),
        brandName: values["brand-name"],
        accentColor: values.accent,
        logoUrl: values.logo,
        contactEmail: values["contact-email"],
      };
      if (Object.values(settings).every((value) => value === undefined))
        throw new UsageError("partner set needs at least one option");
      return withResources(async (resources) => {
        const partner = await partners.setPartner(resources, partnerId, settings);
        return { json: partner, text: lines(partner) };
      });
    },
  }),
];
