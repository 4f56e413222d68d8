"""python3 webhook-receiver.py SECRET_FILE [PORT]; the file holds the secret that you were shown."""

import hashlib
import hmac
import json
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

arguments = dict(enumerate(sys.argv))
secret_file, port = arguments.get(1, "webhook-secret"), int(arguments.get(2, "8080"))
with open(secret_file, encoding="utf-8") as file:
    secret = file.read().strip()
# Anybody could sign with an empty key.
if not secret.startswith("whsec_"):
    sys.exit(f"{secret_file} holds no whsec_… secret")

MAX_BODY_BYTES = 64 * 1024
TOLERANCE_SECONDS = 300


def is_genuine(header: str, raw_body: bytes) -> bool:
    """True if the payment service sent exactly these bytes, just now."""
    # A proxy may put spaces after the commas.
    parts = [part.strip().partition("=") for part in header.split(",")]
    timestamp = next((value for name, _, value in parts if name == "t"), "")
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        return False
    # Both sides count: a timestamp in the future is as suspicious as an old one.
    if abs(int(time.time()) - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = timestamp.encode() + b"." + raw_body
    expected = hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest().encode()
    # There are two digests during a rotation of the secret. One match is enough.
    return any(
        name == "v1" and hmac.compare_digest(expected, value.encode()) for name, _, value in parts
    )


# In your database: a table with a unique index, written in the same transaction as the order.
seen = set()
# In your database. "test" is true where you test your shop, and "payment" is the one that changed the order last.
orders = {
    "order-1042": {"status": "pending", "amount": 1250, "currency": "EUR", "test": False, "payment": ""},
}
# In these an order waits for money. All others are your own business: paid, shipped, done, refunded.
WAITING = ("pending", "failed", "cancelled", "expired")
# Each request has a thread of its own.
one_at_a_time = threading.Lock()


def status_after(event: dict):
    """The status that the event gives its order, where the order allows it."""
    if re.fullmatch("payment[.](paid|failed|cancelled|expired)", event["event"]):
        return event["status"]
    is_lost = event["event"] == "dispute.closed" and event["status"] == "lost"
    if event["event"] != "refund.succeeded" and not is_lost:
        return None  # There may be new kinds.
    gone = event["amount_refunded"] + event.get("amount_disputed", 0)
    return "refunded" if gone >= event["payment_amount"] else None


def change(event: dict) -> None:
    print(f"{event['event']} {event['payment_id']} for order {event['order_id']}", flush=True)
    # Before or after the event of the payment that has paid the order. It changes no order.
    if event["failure_code"] == "order_already_paid":
        print(f"Tell the payer of {event['payment_id']}: the order is paid, and this money goes back", flush=True)
        return
    order = orders.get(event["order_id"])
    status = status_after(event)
    # Test events come here, too.
    if not status or not order or order["test"] != event["test"]:
        return
    # In events of refunds and disputes the payment has fields of its own.
    if order["amount"] != event.get("payment_amount", event["amount"]):
        return
    if order["currency"] != event.get("payment_currency", event["currency"]):
        return
    is_same = order["payment"] == event["payment_id"]
    is_allowed = (
        order["status"] in WAITING
        # Its money has gone back, and another payment buys it again.
        or (status == "paid" and order["status"] == "refunded" and not is_same)
        or (status == "refunded" and is_same)
    )
    if not is_allowed:
        return
    order.update(status=status, payment=event["payment_id"])
    print(f"Order {event['order_id']} is {status}", flush=True)


def handle(event: dict) -> None:
    with one_at_a_time:
        if event["event_id"] in seen:
            return  # The same event again.
        change(event)
        # After its work: what breaks off comes again.
        seen.add(event["event_id"])


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60  # A sender that falls silent does not keep its thread.

    def do_POST(self) -> None:
        try:
            raw_body = self.read_body()
        except ValueError:  # A length that is no number.
            return self.answer(400)
        if raw_body is None:
            return self.answer(413)
        if not is_genuine(self.headers.get("X-Service-Signature", ""), raw_body):
            return self.answer(400)
        try:
            handle(json.loads(raw_body))
        except Exception as error:
            print(f"Not accepted, so the service sends it again: {error!r}", file=sys.stderr)
            return self.answer(500)
        self.answer(204)

    def read_body(self):
        """The raw bytes: JSON that was parsed and written again may have other bytes. None if they are too many."""
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            length = int(self.headers.get("Content-Length", 0))
            return self.rfile.read(length) if 0 <= length <= MAX_BODY_BYTES else None
        # A proxy may send the body on in chunks. Frameworks read them for you; this module does not.
        body = b""
        while size := int(self.rfile.readline(1024).partition(b";")[0], 16):
            if not 0 < size <= MAX_BODY_BYTES - len(body):
                return None
            body += self.rfile.read(size)
            self.rfile.readline(1024)
        while self.rfile.readline(1024).strip():
            pass  # Headers after the body.
        return body

    def answer(self, status: int) -> None:
        self.send_response(status)
        if status in (400, 413):
            self.send_header("Connection", "close")
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()
        # Unread bytes are dropped: a sender that is cut off would not see the response.
        while status == 413 and self.rfile.read1(MAX_BODY_BYTES):
            pass

    def log_message(self, *_) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", port), Receiver)
print(f"Listening on port {server.server_port}", flush=True)
server.serve_forever()
