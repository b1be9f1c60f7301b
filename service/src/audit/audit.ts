/** A line of the audit log; written in the statement or transaction of the change it tells of. */
export type AuditRow = {
  occurredAt: Date;
  action: string;
  /** Who did it: `key:ID`, `operator`, `processor`, `system`. */
  actor: string;
  partnerId: string | null;
  orderId: number | null;
  fromStatus: string | null;
  toStatus: string | null;
  detail?: object;
};
