curl -X POST https://sign.example.com/api/rooms/$ROOM_CODE/passport \
  -H "Authorization: Bearer $SIGNSEALSHIP_KEY"
