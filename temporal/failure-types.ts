/** What tells the failures of activities apart in the engine. They are for ever: open workflows hold them. */
export const paymentNotFound = 'PAYMENT_NOT_FOUND';
export const gatewayUnavailable = 'GATEWAY_UNAVAILABLE';
export const gatewayBusy = 'GATEWAY_BUSY';
export const noEvent = 'NO_EVENT';
export const webhookAttemptFailed = 'WebhookAttemptFailed';
export const webhookPostponed = 'WebhookPostponed';
export const webhookExhausted = 'WebhookExhausted';
