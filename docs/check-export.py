"""Calculates the hashes of closed days from an export. It needs Python 3.7 or later, and nothing of the service.

    python3 check-export.py movements.csv days.json
"""

import csv
import hashlib
import json
import re
import sys
from datetime import datetime, timedelta, timezone

MOVEMENTS_AT_ONCE = 10_000
EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def sha256(data):
    return hashlib.sha256(data).digest()


def text(cell):
    """Takes away the apostrophes that keep a spreadsheet from executing a cell. Empty: there is none."""
    return re.sub(r"(^|[;\t\r\n])'", r"\1", cell) or None


def seconds(time):
    """Since 1970, with six decimals. Times have milliseconds."""
    milliseconds = (datetime.fromisoformat(time) - EPOCH) // timedelta(milliseconds=1)
    return f"{milliseconds // 1000}.{milliseconds % 1000:03}000"


def hash_of_movement(row):
    values = [
        *(text(row[name]) for name in ("movement_id", "kind", "payment_id", "refund_id", "application")),
        row["test"] == "yes",
        text(row["order_id"]),
        int(row["amount_minor"]),
        row["currency"],
        text(row["reference"]),
    ]
    members = [json.dumps(value, ensure_ascii=False) for value in values]
    members += [seconds(row["occurred_at"]), seconds(row["recorded_at"])]
    return sha256(f"[{', '.join(members)}]".encode())


def hash_of_day(before, day, movements):
    value = sha256(before + f"{day['gateway']} {day['day']}".encode())
    for first in range(0, len(movements), MOVEMENTS_AT_ONCE):
        value = sha256(value + b"".join(movements[first : first + MOVEMENTS_AT_ONCE]))
    return value.hex()


def main(movements_file, days_file):
    movements = {}
    with open(movements_file, encoding="utf-8-sig", newline="") as file:
        for row in csv.DictReader(file):
            movements.setdefault((row["gateway"], row["day"]), []).append(hash_of_movement(row))
    with open(days_file, encoding="utf-8") as file:
        days = [day for day in json.load(file) if day["closed_at"]]

    before = {}
    differs = False
    for day in sorted(days, key=lambda each: (each["gateway"], each["day"])):
        gateway = day["gateway"]
        of_day = movements.get((gateway, day["day"]), [])
        is_whole = (
            hash_of_day(before.get(gateway, b""), day, of_day) == day["hash"]
            and len(of_day) == day["movements"]
        )
        # The day before the first one is not there, so that its hash is taken as it is.
        result = "whole" if is_whole else "DIFFERS" if gateway in before else "begins"
        differs = differs or result == "DIFFERS"
        print(gateway, day["day"], result, day["hash"])
        before[gateway] = bytes.fromhex(day["hash"])
    return 1 if differs or not days else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
