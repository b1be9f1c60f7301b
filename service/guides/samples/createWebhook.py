import os
from signsealship import SignSealShip

client = SignSealShip("https://sign.example.com", os.environ["SIGNSEALSHIP_KEY"])
webhook = client.webhooks.create("https://hooks.example.com/python", ["order.created", "payment.cleared"])
print(webhook.id, webhook.secret)
