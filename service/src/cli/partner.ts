import * as partners from "../partners/partners.ts";
import { lines, onOff, textOption, UsageError, type Verb, withResources } from "./verb.ts";

const brief = ({ partnerId, name, tier, liveEnabled }: partners.Partner) => ({ partnerId, name, tier, liveEnabled });

export const partnerVerbs: Verb[] = [
  {
    name: "partner create",
    args: ["NAME"],
    flags: "[--tier trial|PartnerLink|ProOffice|ClosingDesk] [--live]",
    options: { tier: { type: "string" }, live: { type: "boolean" } },
    summary: "Adds a partner firm.",
    run: ([name = ""], values) =>
      withResources(async (resources) => {
        const tier = textOption(values, "tier") ?? "trial";
        const answer = brief(await partners.createPartner(resources, { name, tier, live: values["live"] === true }));
        return { json: answer, text: lines(answer) };
      }),
  },
  {
    name: "partner list",
    args: [],
    flags: "",
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
  },
  {
    name: "partner set",
    args: ["PARTNER_ID"],
    flags: "[--tier T] [--live on|off] [--brand-name N] [--accent #rrggbb] [--logo URL] [--contact-email ADDRESS]",
    options: {
      tier: { type: "string" },
      live: { type: "string" },
      "brand-name": { type: "string" },
      accent: { type: "string" },
      logo: { type: "string" },
      "contact-email": { type: "string" },
    },
    summary: "Changes a partner's tier, live access or branding. An empty value clears a branding field.",
    run: ([partnerId = ""], values) => {
      const settings = {
        tier: textOption(values, "tier"),
        live: onOff(values, "live"),
        brandName: textOption(values, "brand-name"),
        accentColor: textOption(values, "accent"),
        logoUrl: textOption(values, "logo"),
        contactEmail: textOption(values, "contact-email"),
      };
      if (Object.values(settings).every((value) => value === undefined))
        throw new UsageError("partner set needs at least one option");
      return withResources(async (resources) => {
        const partner = await partners.setPartner(resources, partnerId, settings);
        return { json: partner, text: lines(partner) };
      });
    },
  },
];
