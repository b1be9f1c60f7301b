#!/usr/bin/env bash
# Makes every file of the zoo again, with Debian's tools: qpdf ghostscript img2pdf poppler-utils mupdf-tools chromium
# texlive-latex-base openssl libnss3-tools python3. Without img2pdf, pdftex, chromium or certutil, the script says so and
# leaves that tool's files unchanged.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
out=$here/pdfs
mkdir -p "$out"
export PYTHONDONTWRITEBYTECODE=1 SOURCE_DATE_EPOCH=1700000000

have() { command -v "$1" >/dev/null || { echo "no $1: its files stay as they are" >&2; return 1; }; }

openssl req -x509 -newkey rsa:2048 -noenc -days 36500 -subj "/CN=Zoo signer" \
  -addext keyUsage=critical,digitalSignature,nonRepudiation -keyout key.pem -out certificate.pem 2>/dev/null
openssl pkcs12 -export -inkey key.pem -in certificate.pem -passout pass: -out signer.p12

python3 "$here/by-hand.py" "$out"
python3 "$here/signed.py" "$out" "$work"

cat >page.ps <<'PS'
/Helvetica findfont 24 scalefont setfont
1 1 3 { 72 700 moveto (Page ) show 3 string cvs show showpage } for
PS
gs -q -sDEVICE=pdfwrite -o "$out/gs.pdf" page.ps
gs -q -sDEVICE=pdfwrite -dCompatibilityLevel=1.3 -o "$out/gs-1.3.pdf" page.ps
gs -q -sDEVICE=pdfwrite -dFastWebView=true -o "$out/gs-fast-web-view.pdf" page.ps >/dev/null 2>&1
gs -q -sDEVICE=pdfimage8 -r20 -o "$out/gs-images.pdf" page.ps
seed=$out/gs.pdf

q() { qpdf --static-id "$@"; }
q --qdf "$seed" "$out/qpdf-qdf.pdf"
q --object-streams=generate "$seed" "$out/qpdf-object-streams.pdf"
q --linearize "$seed" "$out/qpdf-linearized.pdf"
q --linearize --object-streams=generate "$seed" "$out/qpdf-linearized-object-streams.pdf"
q --stream-data=uncompress "$seed" "$out/qpdf-uncompressed.pdf"
q --object-streams=generate --newline-before-endstream --force-version=2.0 "$seed" "$out/qpdf-version-2.pdf"
q --object-streams=generate "$out/form-indirect-arrays.pdf" "$out/qpdf-form-object-streams.pdf"
q --object-streams=generate --linearize "$out/form-direct.pdf" "$out/qpdf-form-linearized.pdf"
q --allow-weak-crypto --encrypt "" owner 40 -- "$seed" "$out/encrypted-rc4-40.pdf"
q --allow-weak-crypto --encrypt user owner 128 --use-aes=y -- "$seed" "$out/encrypted-aes-128.pdf"
q --encrypt user owner 256 -- "$seed" "$out/encrypted-aes-256.pdf"
q --object-streams=generate --encrypt "" owner 256 -- "$seed" "$out/encrypted-object-streams.pdf"

# A file that the empty password opens: encrypt NAME INPUT KEY-LENGTH [OPTION ...]
encrypt() {
  local name=$1 input=$2 bits=$3
  shift 3
  q --allow-weak-crypto --static-aes-iv --object-streams="${streams:-preserve}" \
    --encrypt "" owner "$bits" "$@" -- "$input" "$out/encrypted-open-$name.pdf"
}
form=$out/form-direct.pdf
encrypt rc4-40 "$form" 40
encrypt rc4-128 "$form" 128 --use-aes=n
encrypt rc4-crypt-filter "$form" 128 --use-aes=n --force-V4
encrypt aes-128 "$form" 128 --use-aes=y
encrypt plain-metadata "$form" 128 --use-aes=y --cleartext-metadata
encrypt aes-256 "$form" 256
encrypt aes-256-r5 "$form" 256 --force-R5
streams=generate encrypt rc4-object-streams "$out/form-odd-strings.pdf" 128 --use-aes=n
streams=generate encrypt aes-128-object-streams "$out/form-odd-strings.pdf" 128 --use-aes=y
streams=generate encrypt aes-256-object-streams "$out/form-odd-strings.pdf" 256
encrypt forbids-all "$form" 256 --modify=none
encrypt forbids-new-fields "$form" 256 --modify=form
encrypt forbids-other-changes "$form" 128 --use-aes=y --modify=annotate
encrypt forbids-rc4-40 "$form" 40 --modify=n
q --static-aes-iv --encrypt "" "" 256 --modify=none -- "$form" "$out/encrypted-open-to-owner.pdf" 2>/dev/null ||
  q --static-aes-iv --allow-insecure --encrypt "" "" 256 --modify=none -- "$form" "$out/encrypted-open-to-owner.pdf"
python3 "$here/encrypted.py" "$out"

pdfunite "$seed" "$out/form-direct.pdf" "$out/poppler-pdfunite.pdf"
pdfseparate -f 2 -l 2 "$seed" "$out/poppler-pdfseparate.pdf"
pdftocairo -pdf "$seed" "$out/poppler-cairo.pdf"

mutool clean "$seed" "$out/mutool-clean.pdf"
mutool clean -gggg -z "$seed" "$out/mutool-clean-compressed.pdf"
mutool clean -a -d "$seed" "$out/mutool-clean-ascii.pdf"
mutool merge -o "$out/mutool-merge.pdf" "$seed" "$out/form-indirect.pdf"
printf '%%%%MediaBox 0 0 200 100\n%%%%Font F Helvetica\nBT /F 12 Tf 20 50 Td (Created) Tj ET\n' >page.txt
mutool create -o "$out/mutool-create.pdf" page.txt
cat >incremental.js <<'JS'
var doc = new PDFDocument(scriptArgs[0]);
doc.loadPage(0).createAnnotation("Square");
doc.save(scriptArgs[1], "incremental");
JS
for kind in object-streams linearized qdf; do
  mutool run incremental.js "$out/qpdf-$kind.pdf" "$out/mutool-incremental-$kind.pdf" >/dev/null
done
mutool sign -s signer.p12 -P "" -o "$out/mutool-signed.pdf" "$out/form-hierarchy.pdf" 6 >/dev/null

python3 - <<'PY'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
head = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
rows = b"".join(b"\0" + bytes(range(row, row + 8)) for row in range(8))
open("image.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
PY
have img2pdf && img2pdf --nodate image.png -o "$out/img2pdf.pdf"
have pdftex && {
  printf 'A page by TeX.\\vfill\\eject Another.\\bye\n' >tex.tex
  pdftex -interaction=batchmode tex.tex >/dev/null && cp tex.pdf "$out/pdftex.pdf"
  pdftex -interaction=batchmode '\pdfobjcompresslevel=0 \pdfminorversion=4 \input tex' >/dev/null && cp tex.pdf "$out/pdftex-1.4.pdf"
}
have chromium && {
  echo '<h1>A page by a browser</h1><form><input value="Ada"></form>' >page.html
  chromium --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --no-pdf-header-footer \
    --print-to-pdf="$out/chromium.pdf" "file://$work/page.html" >/dev/null 2>&1 || echo "chromium failed" >&2
}
have certutil && {
  mkdir nss
  certutil -N -d sql:nss --empty-password
  pk12util -i signer.p12 -d sql:nss -W "" >/dev/null 2>&1 || true
  nickname=$(certutil -L -d sql:nss | awk '/u,u,u/ { sub(/ +u,u,u.*/, ""); print; exit }')
  pdfsig -nssdir sql:nss -nick "$nickname" -add-signature "$seed" "$out/poppler-signed.pdf" >/dev/null 2>&1 || echo "pdfsig did not sign" >&2
}
ls "$out" | wc -l
