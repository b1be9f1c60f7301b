import os
from signsealship import SignSealShip

client = SignSealShip("https://sign.example.com", os.environ["SIGNSEALSHIP_KEY"])
room = client.rooms.create("12 Elm Street", reference="FILE-2207")
print(room.room_code)
