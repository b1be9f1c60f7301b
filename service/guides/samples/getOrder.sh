curl https://sign.example.com/api/partner/orders/$ORDER_CODE \
  -H "Authorization: Bearer $SIGNSEALSHIP_KEY"
