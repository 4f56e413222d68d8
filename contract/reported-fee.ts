/** The fee that a gateway reports for one payment, in minor units of the payment's currency. */
export interface ReportedFee {
  amount: number;
  /** `payer`: the gateway takes it from the payer, on top of the payment. */
  paidBy: 'merchant' | 'payer';
}
