import type { Principal } from "../../../kernel/identity/identity.ts";
import type {
  LeftOrder,
  OpenLoss,
  PaymentMethod,
  PaymentOfFirm,
  Spender,
  Waiting,
} from "../../../orders/payments/payments.ts";
import type { FormValues } from "../../ui/forms/form-body.ts";

export const billingPath = "/dashboard/billing";

export type BillingView = {
  principal: Principal;
  /** True if firms can have a card or bank account charged in the member's current environment (live or test). */
  isPaidHere: boolean;
  /** The firm's cards and bank accounts; null if the record of one was altered in the database. */
  methods: readonly PaymentMethod[] | null;
  spenders: readonly Spender[];
  /**
   * How many cents each member or key with a limit has spent this month. Null if a record that is needed to know this
   * was altered in the database.
   */
  used: ReadonlyMap<string, number | null>;
  payments: readonly PaymentOfFirm[];
  /**
   * The firm's payments that banks took back, in whole or in part; null if a record about one was altered in the
   * database.
   */
  losses: readonly OpenLoss[] | null;
  /** The orders that wait for the firm's payment, without those that `waitingOrders` leaves out. */
  waiting: Waiting;
  now: Date;
  /** The time zone of the dates on this page, and of the months to which spending limits apply. */
  zone: string;
  /** True if the record of the firm's time zone was altered in the database, so that `zone` is the default one. */
  isZoneAltered: boolean;
  error?: string;
  typed?: FormValues;
  /** True if an owner has just come back here from the payment processor's page. */
  hasReturned?: boolean;
  /** The orders that were not charged when somebody charged several orders at once. */
  left?: readonly LeftOrder[];
};

export const isOwner = ({ principal }: BillingView): boolean => principal.member?.role === "owner";
