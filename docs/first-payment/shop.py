"""A whole small shop with Flask: python3 shop.py [serve | catch-up | refund ORDER]

The files `token` and `webhook-secret` are beside it. PAYMENTS_URL and PORT have the defaults of `npm start`.
"""

import hashlib
import hmac
import html
import http.client
import json
import os
import re
import secrets
import sqlite3
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from flask import Flask, redirect, request

BASE_URL = os.environ.get("PAYMENTS_URL", "http://127.0.0.1:3000")
PORT = int(os.environ.get("PORT", "8080"))


def read(file: str) -> str:
    with open(file, encoding="utf-8") as opened:
        return opened.read().strip()


SECRET = read("webhook-secret")
# Anybody could sign with an empty key.
if not SECRET.startswith("whsec_"):
    sys.exit("webhook-secret holds no whsec_… secret")
TOKEN = read("token")
IS_TEST = TOKEN.startswith("svc_test_")
AMOUNT, CURRENCY = 1250, "EUR"  # 12.50 euros, in cents
TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 64 * 1024

# The database.

TABLES = """
create table if not exists orders (
  id text primary key,
  status text not null,
  amount integer not null,
  currency text not null,
  test boolean not null,
  locale text not null default 'en',
  payment_id text not null default '' -- that changed it last
);
create table if not exists payment_events (event_id text primary key);
create table if not exists payment_feed (only_row integer primary key check (only_row = 1), cursor text not null);
"""


class Database:
    """A transaction: with Database() as database. Without effect if an error ends it."""

    def __enter__(self) -> sqlite3.Connection:
        self.connection = sqlite3.connect("shop.sqlite", timeout=30, isolation_level=None)
        self.connection.row_factory = sqlite3.Row
        self.connection.execute("begin immediate")
        return self.connection

    def __exit__(self, error, *_) -> None:
        self.connection.execute("rollback" if error else "commit")
        self.connection.close()


def find_order(order_id: str):
    with Database() as database:
        return database.execute("select * from orders where id = ?", [order_id]).fetchone()


# In these an order can be paid. All others are your own business: paid, shipped, done.
OPEN = ("pending", "failed", "cancelled", "expired", "refunded")

# The API.


class ApiError(Exception):
    """The service has refused the call, or after three tries it has not answered: status 0."""

    def __init__(self, status: int, error: dict):
        super().__init__(f"{status} {error.get('code', '')}: {error.get('message', '')}")
        self.status, self.code = status, error.get("code")


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # With the token a redirect goes nowhere.


opener = urllib.request.build_opener(NoRedirects)


def call(method: str, path: str, body=None, key=None) -> dict:
    """Tries three times within 45 s. A create needs a key: then all tries make one payment or one refund."""
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": "application/json"}
    if key:
        headers["Idempotency-Key"] = key
    if body is not None:
        headers["Content-Type"] = "application/json"
    data = None if body is None else json.dumps(body).encode()
    for attempt in range(3):
        wait = 0.5 * 2**attempt
        sent = urllib.request.Request(f"{BASE_URL}/api/v1{path}", data, headers, method=method)
        try:
            with opener.open(sent, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            try:
                error = json.load(refused)["error"]
            except (ValueError, KeyError, TypeError):
                error = {"message": "The answer is not from the payment service."}
            failure = ApiError(refused.code, error)
            after = refused.headers.get("Retry-After", "")
            wait += int(after) if after.isdigit() else 0
            # All others would be refused again.
            if refused.code not in (429, 500, 502, 503, 504) or wait > 7:
                raise failure from None
        except (OSError, http.client.HTTPException, ValueError) as broken:
            # No complete answer. The call may have had its effect, which the same key does not repeat.
            failure = ApiError(0, {"message": repr(broken)})
        if attempt < 2:
            time.sleep(wait)
    raise failure


# Events: from the webhook or, where none came, from the feed.


def problem_of(header: str, raw_body: bytes):
    """None if the payment service sent exactly these bytes, just now. Otherwise what is wrong with them."""
    # A proxy may put spaces after the commas.
    parts = [part.strip().partition("=") for part in header.split(",")]
    timestamp = next((value for name, _, value in parts if name == "t"), "")
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        return "The request has no signature."
    # Both sides count: a timestamp in the future is as suspicious as an old one.
    if abs(int(time.time()) - int(timestamp)) > TOLERANCE_SECONDS:
        return "The time of the signature is too far away."
    signed = timestamp.encode() + b"." + raw_body
    expected = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest().encode()
    # There are two digests during a rotation of the secret. One match is enough.
    if any(name == "v1" and hmac.compare_digest(expected, value.encode()) for name, _, value in parts):
        return None
    return (
        "No signature matches. Is it the secret of this application? Is the body the bytes that arrived? "
        "JSON that was parsed and written again has other bytes."
    )


def take(event: dict) -> bool:
    """Lets an event change the shop once. False: it came before."""
    # One transaction: a process that is killed has stored both, or neither.
    with Database() as database:
        inserted = database.execute(
            "insert into payment_events (event_id) values (?) on conflict do nothing", [event["event_id"]]
        )
        if inserted.rowcount == 0:
            return False
        change(database, event)
        return True


def change(database: sqlite3.Connection, event: dict) -> None:
    print(f"{event['event']} {event['payment_id']} for order {event['order_id']}", flush=True)
    # Before or after the event of the payment that has paid the order. It changes no order.
    if event["failure_code"] == "order_already_paid":
        print(f"Tell the payer of {event['payment_id']}: the order is paid, and this money goes back", flush=True)
        return
    status = status_after(event)
    if status is None:
        return
    # Test events come here, too.
    changed = database.execute(
        """update orders set status = :status, payment_id = :payment
           where id = :id and amount = :amount and currency = :currency and test = :test
             and (status in ('pending', 'failed', 'cancelled', 'expired')
               or (:status = 'paid' and status = 'refunded' and payment_id <> :payment)
               or (:status = 'refunded' and payment_id = :payment))""",
        {
            "status": status,
            "payment": event["payment_id"],
            "id": event["order_id"],
            # In events of refunds and disputes the payment has fields of its own.
            "amount": event.get("payment_amount", event["amount"]),
            "currency": event.get("payment_currency", event["currency"]),
            "test": event["test"],
        },
    )
    if changed.rowcount == 1:
        print(f"Order {event['order_id']} is {status}", flush=True)


def status_after(event: dict):
    """The status that the event gives its order, where the order allows it."""
    if re.fullmatch("payment[.](paid|failed|cancelled|expired)", event["event"]):
        return event["status"]
    is_lost = event["event"] == "dispute.closed" and event["status"] == "lost"
    if event["event"] != "refund.succeeded" and not is_lost:
        return None  # There may be new kinds.
    gone = event["amount_refunded"] + event.get("amount_disputed", 0)
    return "refunded" if gone >= event["payment_amount"] else None


def catch_up() -> None:
    """Takes every event of the feed that no webhook has brought, oldest first, and goes on where it ended."""
    taken = 0
    with Database() as database:
        row = database.execute("select cursor from payment_feed").fetchone()
    cursor = row["cursor"] if row else None
    while True:
        query = {"order": "asc", "include": "payload", "per_page": 100, **({"cursor": cursor} if cursor else {})}
        page = call("GET", f"/events?{urllib.parse.urlencode(query)}")
        for entry in page["data"]:
            # The body of the webhook as an object: it is verified, because the answer came from the service.
            taken += take(entry["payload"])
        cursor = page["pagination"]["next_cursor"] or cursor
        if cursor:
            with Database() as database:
                database.execute(
                    "insert into payment_feed values (1, ?) on conflict (only_row) do update set cursor = excluded.cursor",
                    [cursor],
                )
        if not page["pagination"]["has_more"]:
            break
        time.sleep(1)  # Half of the budget of 120 requests a minute stays for the payers.
    print(f"Caught up: {taken}", flush=True)


def catch_up_every_hour() -> None:
    while True:
        try:
            catch_up()
        except Exception as error:
            print(f"Could not catch up, and tries again in an hour: {error}", file=sys.stderr, flush=True)
        time.sleep(60 * 60)


def refund(order_id: str) -> None:
    """Gives all of an order's money back. The event refund.succeeded makes the order refunded."""
    order = find_order(order_id)
    if not order or order["status"] != "paid":
        sys.exit(f"{order_id} is no paid order")
    # The same key again and again: one refund.
    payment_id = order["payment_id"]
    made = call("POST", f"/payments/{payment_id}/refunds", {"reason": "requested_by_customer"}, f"{payment_id}-whole")
    print(f"Refund {made['refund_id']} of {order_id}: {made['status']}", flush=True)


# Pages.

WORDS = {
    "en": {
        "buy": "Buy for 12.50 EUR",
        "again": "Pay",
        "orders": "Your orders",
        "paid": "Your order is paid. Thank you.",
        "pending": "The payment is not finished. You can continue it.",
        "processing": "The outcome of your payment is not certain yet. Please do not pay again: this page shows it by itself.",
        "failed": "The payment did not go through. Money that has left your account comes back by itself. You can try again.",
        "cancelled": "The payment was cancelled. You can pay again.",
        "expired": "The time for this payment is over. You can pay again.",
        "order_already_paid": "Your order is paid already. The money of your second payment goes back to you by itself.",
        "unavailable": "Paying is not possible at the moment. Please try again in a few minutes.",
        "unknown": "We do not know this payment.",
    },
    "fa": {
        "buy": "خرید به مبلغ ۱۲٫۵۰ یورو",
        "again": "پرداخت",
        "orders": "سفارش‌های شما",
        "paid": "سفارش شما پرداخت شد. سپاسگزاریم.",
        "pending": "پرداخت کامل نشده است. می‌توانید آن را ادامه دهید.",
        "processing": "نتیجهٔ پرداخت شما هنوز مشخص نیست. لطفاً دوباره پرداخت نکنید: این صفحه نتیجه را خودبه‌خود نشان می‌دهد.",
        "failed": "پرداخت انجام نشد. پولی که از حساب شما کم شده باشد خودبه‌خود برمی‌گردد. می‌توانید دوباره تلاش کنید.",
        "cancelled": "پرداخت لغو شد. می‌توانید دوباره پرداخت کنید.",
        "expired": "مهلت این پرداخت گذشته است. می‌توانید دوباره پرداخت کنید.",
        "order_already_paid": "سفارش شما پیش‌تر پرداخت شده است. پول پرداخت دوم خودبه‌خود به شما برمی‌گردد.",
        "unavailable": "اکنون نمی‌توان پرداخت کرد. لطفاً چند دقیقهٔ دیگر دوباره تلاش کنید.",
        "unknown": "این پرداخت را نمی‌شناسیم.",
    },
}


def pay_form(locale: str, label: str, order=None, attempt=None) -> str:
    """The form has the idempotency key: a double click, and a reload after a crash, make one payment."""
    order = order or f"order-{secrets.token_hex(8)}"
    attempt = attempt or secrets.token_hex(8)
    return f"""<form method="post" action="/pay"><input type="hidden" name="order" value="{html.escape(order)}">
<input type="hidden" name="try" value="{attempt}"><input type="hidden" name="locale" value="{locale}">
<button>{label}</button></form>"""


def page(locale: str, body: str, reloads=False) -> str:
    return f"""<!doctype html><html lang="{locale}" dir="{'rtl' if locale == 'fa' else 'ltr'}">
<meta charset="utf-8"><meta name="viewport" content="width=device-width">
{'<meta http-equiv="refresh" content="5">' if reloads else ''}<title>Shop</title>{body}</html>"""


def say(locale: str, word: str, more="") -> str:
    return page(locale, f"<p>{WORDS[locale][word]}</p>{more}", reloads=word == "processing")


def locale_of(text) -> str:
    return "fa" if text == "fa" else "en"


app = Flask(__name__)
app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES + 1


@app.get("/")
def home():
    locale = locale_of(request.args.get("locale"))
    words = WORDS[locale]
    with Database() as database:
        orders = database.execute("select * from orders").fetchall()
    items = [
        f"<li>{html.escape(order['id'])}: {html.escape(order['status'])} "
        f"{pay_form(locale, words['again'], order['id']) if order['status'] in OPEN else ''}</li>"
        for order in orders
    ]
    return page(locale, f"{pay_form(locale, words['buy'])}<h1>{words['orders']}</h1><ul>{''.join(items)}</ul>")


@app.post("/pay")
def pay():
    """A shop with logins also asks whether the order is the payer's own."""
    order_id, attempt = request.form.get("order", ""), request.form.get("try", "")
    locale = locale_of(request.form.get("locale"))
    if not re.fullmatch("order-[0-9a-f]{16}", order_id) or not re.fullmatch("[0-9a-f]{16}", attempt):
        return say(locale, "unknown"), 400
    with Database() as database:
        database.execute(
            """insert into orders (id, status, amount, currency, test, locale) values (?, 'pending', ?, ?, ?, ?)
               on conflict do nothing""",
            [order_id, AMOUNT, CURRENCY, IS_TEST, locale],
        )
    if find_order(order_id)["status"] not in OPEN:
        return say(locale, "paid")
    try:
        body = {"order_id": order_id, "amount": AMOUNT, "currency": CURRENCY, "payer": {"locale": locale}}
        payment = call("POST", "/payments", body, f"{order_id}-{attempt}")
    except ApiError as error:
        if error.code == "ORDER_ALREADY_PAID":
            return say(locale, "paid")
        print(error, file=sys.stderr, flush=True)
        # The same key again: what the service has made meanwhile is not made twice.
        return say(locale, "unavailable", pay_form(locale, WORDS[locale]["again"], order_id, attempt)), 503
    return redirect(payment["checkout_url"], 303)


@app.get("/return")
def come_back():
    """The payer is back, which proves nothing: the service says how the payment stands."""
    payment_id = request.args.get("payment_id", "")
    if not re.fullmatch("PAY_[0-9A-Z]{26}", payment_id):
        return say("en", "unknown"), 404
    try:
        payment = call("GET", f"/payments/{payment_id}")
    except ApiError as error:
        if 400 <= error.status < 500:
            return say("en", "unknown"), 404
        print(error, file=sys.stderr, flush=True)
        return say("en", "processing")
    order = find_order(payment["order_id"])
    if not order:
        return say("en", "unknown"), 404
    locale, status = order["locale"], payment["status"]
    again = WORDS[locale]["again"]
    if payment["failure_code"] == "order_already_paid":
        return say(locale, "order_already_paid")
    if status == "pending" and payment["checkout_url"]:
        return say(locale, "pending", f'<a href="{html.escape(payment["checkout_url"])}">{again}</a>')
    if status == "paid":
        return say(locale, "paid")
    if status not in ("failed", "cancelled", "expired"):
        return say(locale, "processing")  # A status of a later version is no outcome either.
    return say(locale, status, pay_form(locale, again, order["id"]) if order["status"] in OPEN else "")


@app.post("/webhook")
def webhook():
    # The raw bytes, before request.form or request.json: JSON that was parsed and written again may have others.
    raw_body = request.get_data(cache=False)
    # A body in chunks that is too long ends at MAX_CONTENT_LENGTH, without an error.
    if len(raw_body) > MAX_BODY_BYTES:
        return "", 413
    problem = problem_of(request.headers.get("X-Service-Signature", ""), raw_body)
    if problem:
        # GET /api/v1/events/ID shows this answer, too.
        print(problem, file=sys.stderr, flush=True)
        return problem, 400, {"Content-Type": "text/plain"}
    # An error is a 500: not accepted, so the service sends it again.
    take(json.loads(raw_body))
    return "", 204


connection = sqlite3.connect("shop.sqlite", timeout=30)
connection.executescript(TABLES)
connection.close()

if __name__ == "__main__":
    command = sys.argv[1] if len(sys.argv) > 1 else "serve"
    if command == "serve":
        # What came while the shop was down.
        threading.Thread(target=catch_up_every_hour, daemon=True).start()
        app.run("127.0.0.1", PORT)
    elif command == "catch-up":
        catch_up()
    elif command == "refund" and len(sys.argv) == 3:
        refund(sys.argv[2])
    else:
        sys.exit("python3 shop.py [serve | catch-up | refund ORDER]")
