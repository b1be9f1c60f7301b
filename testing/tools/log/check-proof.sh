#!/bin/bash
# Checks a log proof with only coreutils, xxd and openssl: check-proof.sh LINE PROOF KEY
# LINE is a file with the line, KEY the log's key (NAME+ID+BASE64). Works in its own folder. Exits with 0 when inclusion
# and signature hold.
set -eu
line=$(realpath "$1") proof=$(realpath "$2") key=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
digest() { sha256sum | cut -c1-64; }
[ "$(head -1 "$proof")" = c2sp.org/tlog-proof@v1 ]
hash=$({ printf '\0'; cat "$line"; } | digest)
index=$(sed -n 's/^index //p' "$proof")
sed '1,/^$/d' "$proof" > checkpoint
head -3 checkpoint > text
size=$(sed -n 2p text)
[ "$index" -lt "$size" ]
# RFC 9162, section 2.1.3.2.
last=$((size - 1))
for sibling in $(sed -n '/^index /,/^$/p' "$proof" | sed '1d;$d'); do
  sibling=$(printf %s "$sibling" | base64 -d | xxd -p -c 64)
  [ $last -gt 0 ]
  if [ $((index & 1)) = 1 ] || [ "$index" = $last ]; then
    hash=$(printf '01%s%s' "$sibling" "$hash" | xxd -r -p | digest)
    while [ $((index & 1)) = 0 ] && [ $last -gt 0 ]; do
      index=$((index >> 1)) last=$((last >> 1))
    done
  else
    hash=$(printf '01%s%s' "$hash" "$sibling" | xxd -r -p | digest)
  fi
  index=$((index >> 1)) last=$((last >> 1))
done
if [ $last != 0 ] || [ "$hash" != "$(sed -n 3p text | base64 -d | xxd -p -c 64)" ]; then
  echo "inclusion: FAILS"
  exit 1
fi
echo "inclusion: OK"
name=${key%%+*} rest=${key#*+}
[ "$name" = "$(head -1 text)" ]
{ printf 302a300506032b6570032100 | xxd -r -p; printf %s "${rest#*+}" | base64 -d | tail -c 32; } > public.der
grep "^— $name " checkpoint | head -1 | cut -d' ' -f3 | base64 -d | tail -c 64 > signature
openssl pkeyutl -verify -pubin -keyform DER -inkey public.der -rawin -in text -sigfile signature
