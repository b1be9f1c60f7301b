curl https://sign.example.com/api/partner/orders \
  -H "Authorization: Bearer $SIGNSEALSHIP_KEY" \
  -H "Idempotency-Key: FILE-2212-deed" \
  -F document=@deed.pdf \
  -F email=signer@example.com \
  -F name="Jane Doe" \
  -F svc_sign=true \
  -F byod_confirmed=true \
  -F external_reference=FILE-2212
