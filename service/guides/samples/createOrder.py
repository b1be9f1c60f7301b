import os
from signsealship import SignSealShip

client = SignSealShip("https://sign.example.com", os.environ["SIGNSEALSHIP_KEY"])
order = client.orders.create(
    "deed.pdf",
    email="signer@example.com",
    name="Jane Doe",
    svc_sign=True,
    byod_confirmed=True,
    external_reference="FILE-2207",
)
print(order.order_code, order.total_cents)
