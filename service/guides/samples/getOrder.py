import os
from signsealship import SignSealShip

client = SignSealShip("https://sign.example.com", os.environ["SIGNSEALSHIP_KEY"])
order = client.orders.get(os.environ["ORDER_CODE"])
print(order.status)
