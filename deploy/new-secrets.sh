#!/bin/sh
# Writes deploy/.env for compose.yaml: the domain, and a new password for each part. deploy/new-secrets.sh DOMAIN
set -eu
file=$(dirname -- "$0")/.env
domain=${1-}
[ -n "$domain" ] || { echo "usage: deploy/new-secrets.sh DOMAIN (that the service is reached by)" >&2; exit 2; }
[ ! -e "$file" ] || { echo "new-secrets: $file is there; its passwords are those of the data" >&2; exit 1; }
umask 077
echo "DOMAIN=$domain" >"$file"
for name in POSTGRES_PASSWORD OWNER_PASSWORD SERVICE_PASSWORD REDIS_PASSWORD S3_PASSWORD; do
  echo "$name=$(od -An -N 24 -tx1 /dev/urandom | tr -d ' \n')" >>"$file"
done
