curl -X POST https://sign.example.com/api/partner/sandbox/orders/$ORDER_CODE/checkout \
  -H "Authorization: Bearer $SIGNSEALSHIP_KEY" \
  -H "Content-Type: application/json" \
  -d '{"outcome": "success"}'
