import os
from signsealship import SignSealShip

client = SignSealShip("https://sign.example.com", os.environ["SIGNSEALSHIP_KEY"])
passport = client.passports.seal("deed.pdf")
print(passport.verify_url)
