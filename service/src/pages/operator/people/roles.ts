import { type OperatorRole, operatorRoles } from "../../../firms/operators/operators.ts";
import { checkbox } from "../../ui/forms/fields.ts";
import { type Html, html } from "../../ui/render.ts";

const hints: Readonly<Record<OperatorRole, string>> = {
  agent: "Prices, holds and cancels orders, helps signers, asks for refunds.",
  notary: "Works on notarizations that the person has claimed.",
  shipper: "Works on labels, packets and faxes.",
  approver: "Decides on refunds that others asked for, and on payments that fit no order.",
  admin: "Changes operators, firms, keys and commissions.",
  auditor: "Sees everything, changes nothing.",
};

/** The name of the checkbox for a role. */
export const roleField = (role: OperatorRole): string => `role_${role}`;

/** A checkbox for each role. */
export const roleBoxes = (isTicked: (role: OperatorRole) => boolean): Html =>
  html`<fieldset><legend>Roles</legend>${operatorRoles.map((role) =>
    checkbox({
      name: roleField(role),
      label: role.charAt(0).toUpperCase() + role.slice(1),
      hint: hints[role],
      checked: isTicked(role),
    }),
  )}</fieldset>`;
