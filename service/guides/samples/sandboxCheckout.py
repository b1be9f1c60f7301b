import os
from signsealship import SignSealShip

client = SignSealShip("https://sign.example.com", os.environ["SIGNSEALSHIP_KEY"])
paid = client.sandbox.checkout(os.environ["ORDER_CODE"], "success")
print(paid.status, paid.fired_events)
