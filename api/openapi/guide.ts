import { limits } from '../../contract/limits.ts';

/** The general part of the contract: everything that does not belong to one operation. */
export const guide = `Create a payment, send the payer to its \`checkout_url\`, and learn the outcome from the signed webhook or from the verify operation. The payer's return to the callback URL is not signed and proves nothing.

**Money** is in integer minor units of the ISO 4217 currency, e.g. cents; IRR in whole rials. **Times** are ISO 8601 in UTC with milliseconds, written \`+00:00\`.

**Tokens.** A live token may use any enabled gateway, sandbox gateways included; its payments have \`test\` = false, and it sees only such payments. A test token may use sandbox gateways only; its payments have \`test\` = true, and it sees only such payments. The events of both modes come to the application's one webhook URL, signed with the same secrets: \`test\` tells them apart. The payments of another application, or of the other mode, respond \`404\`. Revoking a token or disabling an application takes effect on the next request.

**Budget.** An application may make ${limits.applicationRequestsPerMinute} requests in a clock minute over all its tokens, unless an admin has set another number; \`X-RateLimit-Limit\` and \`X-RateLimit-Remaining\` show it. A client address may fail to authenticate ${limits.addressFailuresPerMinute} times a minute; further failures get \`429\`. Payer pages: ${limits.payerPagesPerMinute} requests a minute for each payment and address, unless the operator has set another number.

**Connections.** A request must arrive within ${limits.requestSeconds} seconds; a connection is closed when nothing of a response is taken for ${limits.responseIdleSeconds} seconds. Malformed HTTP gets \`400\`, a request head over ${limits.requestHeadKb} KB or ${limits.requestHeaders} lines \`431\`, and one that takes longer than ${limits.requestHeadSeconds} seconds \`408\`; these responses have no body and are not logged. An overloaded process responds \`503\` \`SERVICE_UNAVAILABLE\` with \`Retry-After\`.

**Errors** are \`{"error": {code, message, details?, request_id}}\`. Act on \`code\`; the message is for people. \`details.fields\` lists everything wrong at once, up to ${limits.reportedProblems} problems. An unknown path gets 404 \`NOT_FOUND\`. A method that a path does not support gets 405 \`METHOD_NOT_ALLOWED\` with \`Allow\`. An unknown HTTP method gets 405 on any path, with every method of the service in \`Allow\`; it is not logged. Every GET operation also supports HEAD.

**Versions.** Within v1, optional fields, announced statuses and endpoints may be added: ignore what you do not know. Every other change comes as v2, with v1 served beside it for at least 12 months and \`Deprecation\` and \`Sunset\` headers.`;

export const tags = {
  Payments: 'For applications, with a bearer token.',
  Refunds: 'Money that goes back to a payer. With a bearer token.',
  Disputes: "What payers' banks ask for, or take back. With a bearer token.",
  Links: 'Addresses that whoever has them may pay once. With a bearer token.',
  Movements: "What moved the money of gateways' accounts. With a bearer token.",
  Events:
    'What an application was told of its payments: the log, the feed, replay. With a bearer token.',
  Gateways: "For payment providers' servers, authenticated by their signature.",
  'Notice pages':
    'Opened by the links in mails to the people of an application; each link has a token.',
  'Payer pages': "Opened by the payer's browser; anyone who has the link may open it.",
  Contract: 'This document and the page that shows it.',
} as const;
