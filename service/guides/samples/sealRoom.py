import os
from signsealship import SignSealShip

client = SignSealShip("https://sign.example.com", os.environ["SIGNSEALSHIP_KEY"])
passport = client.rooms.seal(os.environ["ROOM_CODE"])
print(passport.version, passport.verify_code)
