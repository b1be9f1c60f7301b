curl https://sign.example.com/api/rooms/$ROOM_CODE/orders \
  -H "Authorization: Bearer $SIGNSEALSHIP_KEY" \
  -H "Content-Type: application/json" \
  -d "{\"orderCode\": \"$ORDER_CODE\", \"label\": \"Warranty deed\"}"
