import os
from signsealship import SignSealShip

client = SignSealShip("https://sign.example.com", os.environ["SIGNSEALSHIP_KEY"])
for order in client.orders.all(status="QuoteReady"):
    print(order.order_code, order.total_cents)
