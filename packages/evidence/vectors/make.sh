#!/bin/sh
# Makes x509/, cms/ and rfc3161/ again with the openssl command (3.0 or later). The keys are deleted, so every run makes
# other bytes with the same meaning. The index.json of each folder describes its files; vectors/README.md explains it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
quiet() { "$@" 2>log || { cat log >&2; exit 1; }; }

cat >ca.cnf <<'CNF'
[ca]
default_ca = one
[one]
database = index.txt
new_certs_dir = .
rand_serial = yes
policy = any
default_md = sha256
unique_subject = no
x509_extensions = leaf
[any]
commonName = supplied
[req]
distinguished_name = dn
[dn]
[root]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
[sub]
basicConstraints = critical,CA:TRUE,pathlen:0
keyUsage = critical,keyCertSign,cRLSign
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[deep]
basicConstraints = critical,CA:TRUE
keyUsage = critical,keyCertSign
[nosign]
basicConstraints = critical,CA:TRUE
keyUsage = critical,cRLSign
[leaf]
basicConstraints = CA:FALSE
keyUsage = critical,digitalSignature
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[bare]
keyUsage = critical,digitalSignature
subjectKeyIdentifier = none
authorityKeyIdentifier = none
[encipher]
keyUsage = critical,keyEncipherment
[server]
extendedKeyUsage = serverAuth
[mail]
keyUsage = critical,nonRepudiation
extendedKeyUsage = emailProtection
[unknown]
1.3.6.1.4.1.55555.1 = critical,ASN1:NULL
[tsa]
basicConstraints = CA:FALSE
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[loose]
extendedKeyUsage = timeStamping
[wide]
extendedKeyUsage = critical,timeStamping,emailProtection
CNF

key() { # name kind
  case $2 in
    rsa*) quiet openssl genpkey -algorithm RSA -pkeyopt "rsa_keygen_bits:${2#rsa}" -out "$1.key" ;;
    *) quiet openssl genpkey -algorithm EC -pkeyopt "ec_paramgen_curve:$2" -pkeyopt ec_param_enc:named_curve -out "$1.key" ;;
  esac
}
# name subject-CN issuer extensions [from until [more options]]: a certificate over name.key
issue() {
  name=$1 cn=$2 issuer=$3 section=$4 from=${5:-20240101000000Z} until=${6:-20440101000000Z}
  shift 4; [ $# -gt 0 ] && shift; [ $# -gt 0 ] && shift
  quiet openssl req -new -config ca.cnf -key "$name.key" -subj "/CN=$cn" -out "$name.csr"
  : >index.txt
  if [ "$issuer" = self ]; then by="-selfsign -keyfile $name.key"; else by="-cert $issuer.pem -keyfile $issuer.key"; fi
  # shellcheck disable=SC2086
  quiet openssl ca -batch -notext -config ca.cnf $by -in "$name.csr" -extensions "$section" \
    -startdate "$from" -enddate "$until" -out "$name.pem" "$@"
  openssl x509 -in "$name.pem" -outform DER -out "$name.der"
}

key root P-256; issue root "Vector Root" self root
key other P-256; issue other "Vector Root" self deep
key sub P-384; issue sub "Vector Authority" root sub
key rsa rsa3072; issue rsa "RSA Signer" sub leaf
key p256 P-256; issue p256 "P-256 Signer" sub leaf
key p384 P-384; issue p384 "P-384 Signer" sub leaf
key rsaroot rsa3072; issue rsaroot "RSA Root" self root
key p521 P-521; issue p521 "P-521 Signer" rsaroot leaf
key pss rsa2048; issue pss "PSS Signed" rsaroot leaf 20240101000000Z 20440101000000Z -sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32
key mail P-256; issue mail "Mail Signer" root mail
key alone P-256; issue alone "Self-Signed Seal" self bare
key expired P-256; issue expired "Expired Signer" sub leaf 20200101000000Z 20210101000000Z
key notca P-256; issue notca "Not An Authority" p256 bare
key under P-256; issue under "Authority Under A Limit" sub deep
key toodeep P-256; issue toodeep "Too Deep" under bare
key nosign P-256; issue nosign "No Signing Authority" root nosign
key bynosign P-256; issue bynosign "Signer Of No Signing" nosign bare
key encipher P-256; issue encipher "Enciphering Key" root encipher
key server P-256; issue server "Server" root server
key unknown P-256; issue unknown "Unknown Extension" root unknown
key sha1 P-256; issue sha1 "SHA-1 Signed" root bare 20240101000000Z 20440101000000Z -md sha1
key md5 P-256; issue md5 "MD5 Signed" rsaroot bare 20240101000000Z 20440101000000Z -md md5
key weak rsa1024; issue weak "Short Key" root bare
key impostor P-256; issue impostor "By An Impostor" other bare
key tsa rsa2048; issue tsa "Time Stamp Unit" sub tsa
key tsaec P-256; issue tsaec "Time Stamp Unit P-256" sub tsa
key tsaold P-256; issue tsaold "Expired Time Stamp Unit" sub tsa 20200101000000Z 20210101000000Z
key loose P-256; issue loose "Usage Not Critical" sub loose
key wide P-256; issue wide "Usage Too Wide" sub wide

rm -rf "$here/x509" "$here/cms" "$here/rfc3161"
mkdir "$here/x509" "$here/cms" "$here/rfc3161"
for name in root other sub rsa p256 p384 rsaroot p521 pss mail alone expired notca under toodeep nosign bynosign \
  encipher server unknown sha1 md5 weak impostor tsa tsaec tsaold loose wide; do
  cp "$name.der" "$here/x509/$name.der"
done

# CMS: detached CAdES signatures over message.txt
printf 'What you sign is what you get.\n' >message.txt
printf 'What you sign is what you got.\n' >changed.txt
cp message.txt changed.txt "$here/cms/"
cms() { # out signer options
  out=$1 signer=$2; shift 2
  quiet openssl cms -sign -binary -in message.txt -signer "$signer.pem" -inkey "$signer.key" -certfile sub.pem \
    -outform DER -out "$here/cms/$out.der" "$@"
}
cms rsa3072 rsa -cades -nosmimecap -md sha256
cms p256 p256 -cades -nosmimecap -md sha256
cms p384 p384 -cades -nosmimecap -md sha384
cms p521 p521 -cades -nosmimecap -md sha512
cms pss rsa -cades -nosmimecap -md sha256 -keyopt rsa_padding_mode:pss
cms keyid p256 -cades -nosmimecap -md sha256 -keyid
cms embedded p256 -cades -nosmimecap -md sha256 -nodetach
cms sha1 p256 -cades -nosmimecap -md sha1
cms md5 rsa -nosmimecap -md md5
cms weak weak -cades -nosmimecap -md sha256
cms no-ess p256 -nosmimecap -md sha256
cms no-attributes p256 -noattr -md sha256
cms no-certificate p256 -cades -nosmimecap -md sha256 -nocerts
quiet openssl cms -sign -binary -stream -indef -nodetach -in message.txt -signer p256.pem -inkey p256.key -outform DER -out "$here/cms/ber.der"

# RFC 3161: responses over cms/message.txt, and tokens rebuilt around a good TSTInfo by unfit signers
tsa() { # out signer essdigest signdigest request
  cat >ts.cnf <<CNF
[tsa]
default_tsa = one
[one]
serial = serial
default_policy = 1.3.6.1.4.1.55555.2
digests = sha1, sha256, sha384, sha512
accuracy = secs:1, millisecs:500, microsecs:100
ordering = yes
ess_cert_id_chain = no
ess_cert_id_alg = $3
signer_digest = $4
CNF
  quiet openssl ts -reply -config ts.cnf -section one -queryfile "$5" -signer "$2.pem" -inkey "$2.key" -chain sub.pem -out "$here/rfc3161/$1.tsr"
}
echo 01 >serial
nonce_of() { openssl ts -query -in "$1" -text 2>/dev/null | sed -n 's/^Nonce: 0x//p'; }
quiet openssl ts -query -data message.txt -sha256 -cert -out ask.tsq
quiet openssl ts -query -data message.txt -sha256 -cert -out again.tsq
quiet openssl ts -query -data message.txt -sha512 -cert -out sha512.tsq
quiet openssl ts -query -data message.txt -sha1 -cert -out sha1.tsq
quiet openssl ts -query -data changed.txt -sha256 -cert -out changed.tsq
quiet openssl ts -query -data message.txt -sha256 -cert -no_nonce -out plain.tsq
quiet openssl ts -query -data message.txt -sha256 -out nocert.tsq
quiet openssl ts -query -data message.txt -sha256 -cert -tspolicy 1.2.3 -out policy.tsq
tsa rsa tsa sha256 sha256 ask.tsq
tsa p256 tsaec sha256 sha384 ask.tsq
tsa ess-v1 tsaec sha1 sha256 ask.tsq
tsa sha512 tsaec sha512 sha512 sha512.tsq
tsa sha1-imprint tsaec sha256 sha256 sha1.tsq
tsa sha1-digest tsaec sha256 sha1 ask.tsq
tsa replayed tsaec sha256 sha256 again.tsq
tsa foreign tsaec sha256 sha256 changed.tsq
tsa no-nonce tsaec sha256 sha256 plain.tsq
tsa no-certificate tsaec sha256 sha256 nocert.tsq
tsa rejected tsaec sha256 sha256 policy.tsq
openssl ts -reply -in "$here/rfc3161/p256.tsr" -token_out -out good.tst
quiet openssl cms -verify -noverify -binary -inform DER -in good.tst -out tstinfo.der
token() { # out signer content-type options
  out=$1 signer=$2 type=$3; shift 3
  quiet openssl cms -sign -binary -nodetach -nosmimecap -in tstinfo.der -econtent_type "$type" -md sha256 -signer "$signer.pem" \
    -inkey "$signer.key" -certfile sub.pem -outform DER -out "$here/rfc3161/$out.tst" "$@"
}
tst=1.2.840.113549.1.9.16.1.4
token rebuilt tsaec $tst -cades
token expired tsaold $tst -cades
token no-usage p256 $tst -cades
token usage-not-critical loose $tst -cades
token usage-too-wide wide $tst -cades
token no-ess tsaec $tst
token not-tstinfo tsaec 1.2.840.113549.1.7.1 -cades
cat >nonces.json <<JSON
{ "ask": "$(nonce_of ask.tsq)", "sha512": "$(nonce_of sha512.tsq)", "sha1": "$(nonce_of sha1.tsq)",
  "nocert": "$(nonce_of nocert.tsq)", "changed": "$(nonce_of changed.tsq)" }
JSON
nonce() { sed -n "s/.*\"$1\": \"\([0-9A-F]*\)\".*/\1/p" nonces.json | head -1 | tr A-F a-f; }

# The indexes
{
  echo '['
  chain() { # name leaf intermediates anchors at purpose expect
    printf '%s  { "name": "%s", "leaf": "%s", "intermediates": [%s], "anchors": [%s], "at": "%s", "purpose": "%s", "expect": "%s" }' \
      "$comma" "$1" "$2.der" "$(list $3)" "$(list $4)" "$5" "$6" "$7"
    comma=',
'
  }
  list() { first=; for item in "$@"; do [ "$item" = - ] || { printf '%s"%s.der"' "$first" "$item"; first=', '; }; done; }
  comma=
  now=2030-06-01T00:00:00Z
  chain "RSA-3072 under an intermediate" rsa "sub" "root" $now documentSigning valid
  chain "P-256 under an intermediate" p256 "sub" "root" $now documentSigning valid
  chain "P-384 with certificates that do not matter" p384 "rsa sub p256 rsaroot" "rsaroot root" $now documentSigning valid
  chain "P-521 under an RSA root" p521 - "rsaroot" $now documentSigning valid
  chain "a certificate signed with RSASSA-PSS" pss - "rsaroot" $now documentSigning valid
  chain "contentCommitment and emailProtection" mail - "root" $now documentSigning valid
  chain "self-signed and itself trusted" alone - "alone" $now documentSigning valid
  chain "the intermediate is the anchor" p256 - "sub" $now documentSigning valid
  chain "an anchor of the same name and another key beside the right one" p256 "sub" "other root" $now documentSigning valid
  chain "time-stamping unit" tsa "sub" "root" $now timeStamping valid
  chain "under an authority that was not valid yet" expired "sub" "root" 2020-06-01T00:00:00Z documentSigning not-yet-valid
  chain "its last second" expired - "sub expired" 2021-01-01T00:00:00Z documentSigning valid
  chain "a second past its last" expired - "sub expired" 2021-01-01T00:00:01Z documentSigning expired
  chain "expired" expired "sub" "root" $now documentSigning expired
  chain "not valid yet" p256 "sub" "root" 2023-12-31T23:59:59Z documentSigning not-yet-valid
  chain "no anchors" p256 "sub root" - $now documentSigning no-path
  chain "the intermediate is missing" p256 - "root" $now documentSigning no-path
  chain "self-signed and not trusted" alone "alone" "root" $now documentSigning no-path
  chain "issued by a certificate that is no authority" notca "p256 sub" "root" $now documentSigning not-a-ca
  chain "an authority below a path length of zero" toodeep "under sub" "root" $now documentSigning path-length
  chain "the authority may not sign certificates" bynosign "nosign" "root" $now documentSigning key-usage
  chain "the leaf may not sign" encipher - "root" $now documentSigning key-usage
  chain "a server certificate" server - "root" $now documentSigning extended-key-usage
  chain "an unknown critical extension" unknown - "root" $now documentSigning unknown-critical-extension
  chain "signed with SHA-1" sha1 - "root" $now documentSigning weak-algorithm
  chain "signed with MD5" md5 - "rsaroot" $now documentSigning weak-algorithm
  chain "RSA of 1024 bits" weak - "root" $now documentSigning weak-key
  chain "issued by another key of the same name" impostor - "root" $now documentSigning bad-signature
  chain "a signer without the usage" p256 "sub" "root" $now timeStamping extended-key-usage
  chain "the usage is not critical" loose "sub" "root" $now timeStamping extended-key-usage
  chain "the usage is not alone" wide "sub" "root" $now timeStamping extended-key-usage
  chain "a time-stamping unit signs a document" tsa "sub" "root" $now documentSigning extended-key-usage
  printf '\n]\n'
} >"$here/x509/index.json"

{
  echo '['
  comma=
  signed() { # name file content notholding
    printf '%s  { "name": "%s", "file": "%s.der", "content": "%s", "notHolding": [%s] }' "$comma" "$1" "$2" "$3" "$4"
    comma=',
'
  }
  for name in rsa3072 p256 p384 p521 pss keyid embedded; do signed "a signature by $name" $name message.txt ""; done
  signed "the content was changed" p256 changed.txt '"messageDigest"'
  signed "SHA-1" sha1 message.txt '"algorithms", "messageDigest", "signature"'
  signed "MD5" md5 message.txt '"algorithms", "messageDigest", "signature", "signingCertificate"'
  signed "RSA of 1024 bits" weak message.txt '"algorithms", "signature"'
  signed "no signing-certificate attribute" no-ess message.txt '"signingCertificate"'
  signed "no signed attributes" no-attributes message.txt '"signedAttributes", "contentType", "messageDigest", "signature", "signingCertificate"'
  signed "the certificate is not included" no-certificate message.txt '"signerCertificate", "algorithms", "signature", "signingCertificate"'
  printf ',\n  { "name": "BER with indefinite lengths", "file": "ber.der", "content": "message.txt", "error": "unsupported" }\n]\n'
} >"$here/cms/index.json"

{
  echo '['
  comma=
  stamp() { # name file nonce trusted notholding
    printf '%s  { "name": "%s", "file": "%s", "message": "../cms/message.txt", "nonce": "%s", "anchors": ["../x509/root.der"], "trusted": %s, "notHolding": [%s] }' \
      "$comma" "$1" "$2" "$3" "$4" "$5"
    comma=',
'
  }
  ask=$(nonce ask)
  stamp "an RSA unit" rsa.tsr "$ask" true ""
  stamp "a P-256 unit" p256.tsr "$ask" true ""
  stamp "a certificate named by its SHA-1 (version 1 of the attribute)" ess-v1.tsr "$ask" true ""
  stamp "an imprint by SHA-512" sha512.tsr "$(nonce sha512)" true ""
  stamp "a token alone" rebuilt.tst "$ask" true '"status"'
  stamp "an imprint by SHA-1" sha1-imprint.tsr "$(nonce sha1)" false '"messageImprint"'
  stamp "a signature over SHA-1" sha1-digest.tsr "$ask" false '"messageDigest", "signature"'
  stamp "the answer to an earlier request" replayed.tsr "$ask" false '"nonce"'
  stamp "a token over other bytes" foreign.tsr "$(nonce changed)" false '"messageImprint"'
  stamp "no nonce in the answer" no-nonce.tsr "$ask" false '"nonce"'
  stamp "the certificate is not included" no-certificate.tsr "$(nonce nocert)" false '"signature", "signingCertificate", "chain"'
  stamp "a unit that had expired at genTime" expired.tst "$ask" false '"status", "chain"'
  stamp "a signer without the time-stamping usage" no-usage.tst "$ask" false '"status", "signingCertificate", "chain"'
  stamp "the usage is not critical" usage-not-critical.tst "$ask" false '"status", "signingCertificate", "chain"'
  stamp "the usage is not alone" usage-too-wide.tst "$ask" false '"status", "signingCertificate", "chain"'
  stamp "no signing-certificate attribute" no-ess.tst "$ask" false '"status", "signingCertificate"'
  stamp "another content type" not-tstinfo.tst "$ask" false '"status", "nonce", "messageImprint", "contentType", "chain"'
  printf ',\n  { "name": "a refused request", "file": "rejected.tsr", "status": 2, "failInfo": ["unacceptedPolicy"] }\n]\n'
} >"$here/rfc3161/index.json"
