/** The gateway gave no usable answer: a timeout, a 5xx, an unknown format, or it could not be called. */
export class GatewayUnavailable extends Error {}

/** The account is misconfigured, e.g. test credentials in a live account. The message holds no secret. */
export class AccountProblem extends GatewayUnavailable {}
