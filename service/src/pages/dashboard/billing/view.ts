import type { Principal } from "../../../kernel/identity/identity.ts";
import type {
  LeftOrder,
  PaymentMethod,
  PaymentOfFirm,
  Spender,
  WaitingOrder,
} from "../../../orders/payments/payments.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";

export const billingPath = "/dashboard/billing";

export type BillingView = {
  principal: Principal;
  /** True if this installation accepts payments in the member's current environment (live or test). */
  isPaidHere: boolean;
  methods: readonly PaymentMethod[];
  spenders: readonly Spender[];
  /** The cents that each spender has spent this month. */
  used: ReadonlyMap<string, number>;
  payments: readonly PaymentOfFirm[];
  /** The orders that wait for the firm's payment, and are not charged automatically. */
  waiting: readonly WaitingOrder[];
  now: Date;
  /** The time zone of the dates on this page, and of the months to which spending limits apply. */
  zone: string;
  error?: string;
  typed?: FormValues;
  /** True if the processor's page has just redirected an owner back here. */
  hasReturned?: boolean;
  /** The orders that a request to charge several of them left out. */
  left?: readonly LeftOrder[];
};

export const isOwner = ({ principal }: BillingView): boolean => principal.member?.role === "owner";
