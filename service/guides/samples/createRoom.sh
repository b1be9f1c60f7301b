curl https://sign.example.com/api/rooms \
  -H "Authorization: Bearer $SIGNSEALSHIP_KEY" \
  -H "Content-Type: application/json" \
  -d '{"name": "12 Elm Street", "reference": "FILE-2207"}'
