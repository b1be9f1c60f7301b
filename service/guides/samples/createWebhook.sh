curl https://sign.example.com/api/partner/webhooks \
  -H "Authorization: Bearer $SIGNSEALSHIP_KEY" \
  -H "Content-Type: application/json" \
  -d '{"url": "https://hooks.example.com/signing", "topics": ["order.created", "payment.cleared"]}'
