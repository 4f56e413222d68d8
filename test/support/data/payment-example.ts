import type { Payment } from '../../../contract/payment.ts';

/** A pending payment with fixed values. */
export const examplePayment = (changes: Partial<Payment> = {}): Payment => ({
  id: 'PAY_01K9Z5W6X7Y8ZABCDEFGHJKMNP',
  application: 'shop',
  orderId: 'order "1"',
  status: 'pending',
  amount: 999_999_999_999,
  currency: 'EUR',
  gateway: 'sandbox',
  description: null,
  callbackUrl: 'https://shop.example/return',
  metadata: '{}',
  test: true,
  trackingCode: null,
  cardPanMasked: null,
  paidAt: null,
  failureCode: null,
  expiresAt: new Date('2026-11-20T11:11:37.120Z'),
  createdAt: new Date('2026-11-20T10:41:37.123Z'),
  updatedAt: new Date('2026-11-20T10:41:37.000Z'),
  ...changes,
});
export const paidPayment = examplePayment({
  status: 'paid',
  trackingCode: 'T-77',
  cardPanMasked: '411111******1111',
  paidAt: new Date('2026-11-20T10:45:00.001Z'),
});
