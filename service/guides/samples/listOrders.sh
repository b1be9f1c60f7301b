curl "https://sign.example.com/api/partner/orders?status=QuoteReady&limit=20" \
  -H "Authorization: Bearer $SIGNSEALSHIP_KEY"
