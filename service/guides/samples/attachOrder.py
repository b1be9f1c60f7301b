import os
from signsealship import SignSealShip

client = SignSealShip("https://sign.example.com", os.environ["SIGNSEALSHIP_KEY"])
client.rooms.attach(os.environ["ROOM_CODE"], os.environ["ORDER_CODE"], label="Warranty deed")
