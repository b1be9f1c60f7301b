curl https://sign.example.com/api/passport/seal \
  -H "Authorization: Bearer $SIGNSEALSHIP_KEY" \
  -F file=@deed.pdf
