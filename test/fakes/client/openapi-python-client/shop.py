"""A shop in Python with the client that openapi-python-client makes. It prints what it was told, as JSON."""

import hashlib
import hmac
import json
import os
import queue
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

from payments_client import AuthenticatedClient
from payments_client.api.payments import cancel_payment, create_payment, get_payment
from payments_client.api.refunds import create_refund
from payments_client.models import (
    CancelPayment,
    CreatePayment,
    CreatePaymentCurrency,
    CreateRefund,
    ErrorVALIDATIONFAILED,
    Event,
    Payment,
    Refund,
    SandboxPlan,
    SandboxPlanOutcome,
)

secret = os.environ["WEBHOOK_SECRET"].encode()
events = queue.Queue()


def verified(header: str, body: bytes) -> Event:
    timestamp, *digests = [part.partition("=")[2] for part in header.split(",")]
    expected = hmac.new(secret, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    assert abs(time.time() - int(timestamp)) <= 300
    assert any(hmac.compare_digest(expected, digest) for digest in digests)
    return Event.from_dict(json.loads(body))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        event = verified(self.headers["X-Service-Signature"], body)
        self.send_response(204)
        self.end_headers()
        events.put(event)


server = HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver)
Thread(target=server.serve_forever, daemon=True).start()

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["TOKEN"], timeout=120)


def make(**fields):
    order = CreatePayment(
        order_id="python-1", amount=1250, currency=CreatePaymentCurrency.EUR, **fields
    )
    return create_payment.sync(
        client=client, body=order, idempotency_key=f"python-{len(fields)}-{time.time_ns()}"
    )


paid = make(sandbox=SandboxPlan(outcome=SandboxPlanOutcome.PAID))
assert isinstance(paid, Payment), paid
event = events.get()
assert event.payment_id == paid.payment_id
read = get_payment.sync(paid.payment_id, client=client)
assert isinstance(read, Payment), read
refund = create_refund.sync(
    paid.payment_id, client=client, body=CreateRefund(amount=50), idempotency_key="python-refund"
)
assert isinstance(refund, Refund), refund

open_payment = make()
assert isinstance(open_payment, Payment), open_payment
cancelled = cancel_payment.sync(
    open_payment.payment_id, client=client, body=CancelPayment(reason="sold out")
)
assert isinstance(cancelled, Payment), cancelled
refused = make(gateway="no-such-gateway")

print(
    json.dumps(
        {
            "created": paid.status,
            "event": event.event,
            "status": event.status,
            "order_id": event.order_id,
            "amount": event.amount,
            "read": read.status,
            "cancelled_by": [read.cancelled_by, cancelled.cancelled_by],
            "refund": [refund.amount, refund.reason],
            "refused": refused.error.code if isinstance(refused, ErrorVALIDATIONFAILED) else refused.error.code,
        }
    )
)
