import { limits } from '../../contract/limits.ts';

/** What no single operation says. */
export const guide = `Create a payment, send the payer to its \`checkout_url\`, and learn the outcome from the signed webhook or from the verify operation. The payer's return to the callback URL carries no signature and proves nothing.

**Money** is in integer minor units of the ISO 4217 currency, e.g. cents; IRR in whole rials. **Times** are ISO 8601 in UTC with milliseconds, written \`+00:00\`.

**Tokens.** A live token may use any enabled gateway, one of a test environment too, and sees payments with \`test\` = false, which all of its own have; a test token uses sandbox gateways only and sees payments with \`test\` = true. Another application's payments, and those of the other mode, are not found. Revoking a token or disabling an application holds from the very next request.

**Budget.** ${limits.applicationRequestsPerMinute} requests in a clock minute for each application over all its tokens, unless an admin has set another number; \`X-RateLimit-Limit\` and \`X-RateLimit-Remaining\` tell it. Failed authentication is throttled for each client address: ${limits.addressFailuresPerMinute} failures a minute. Payer pages: 60 requests a minute for each address, unless whoever runs the service has set another number.

**Connections** are cut off where a request takes more than ${limits.requestSeconds} seconds to arrive, where its answer is not taken within ${limits.responseReadSeconds} seconds, and where more than ${limits.pipelinedRequests} requests are sent ahead of their answers. What is no HTTP is answered 400, a head of more than ${limits.requestHeadKb} KB or ${limits.requestHeaders} lines 431 and one that takes more than ${limits.requestHeadSeconds} seconds 408, without a body, and the log has no line of them. A process that has too much to do answers 503 \`SERVICE_UNAVAILABLE\` with \`Retry-After\`.

**Errors** are \`{"error": {code, message, details?, request_id}}\`; act on \`code\`, the message is for people. \`details.fields\` tells everything wrong at once, up to ${limits.reportedProblems} problems. A path that does not exist answers 404 \`NOT_FOUND\`, a method the path does not have 405 \`METHOD_NOT_ALLOWED\` with \`Allow\`; one that HTTP does not know, with all that the service has, whatever the path, and without a line in the log. Every GET operation answers HEAD too.

**Versions.** Within v1 optional fields, announced statuses and endpoints may be added: ignore what you do not know. Anything else comes as v2, with v1 served beside it for at least 12 months and \`Deprecation\` and \`Sunset\` headers.`;

export const tags = {
  Payments: 'For applications, with a bearer token.',
  Gateways: "For payment providers' servers, known by their signature.",
  'Payer pages': "Opened by the payer's browser; whoever holds the link may open it.",
  Contract: 'This document and the page that shows it.',
} as const;
