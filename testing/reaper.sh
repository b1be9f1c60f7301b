#!/bin/sh
# Ends the processes that a test process leaves behind. Reads lines `process PID`, `ended PID` and `folder PATH` until the
# process that writes them has ended for any reason. Then ends the listed processes that have not ended and the database
# servers of the folders, and removes the folders.
trap '' INT TERM HUP
processes=' '
folders=
while read -r what value; do
  case $what in
    process) processes="$processes$value " ;;
    ended) processes="${processes%%" $value "*} ${processes#*" $value "}" ;;
    folder)
      folders="$folders
$value"
      ;;
  esac
done
for pid in $processes; do kill -9 "$pid" 2>/dev/null; done
printf '%s\n' "$folders" | while read -r folder; do
  [ -d "$folder" ] || continue
  for file in "$folder"/postgres/cluster/postmaster.pid "$folder"/*/postgres/cluster/postmaster.pid; do
    [ -f "$file" ] || continue
    read -r server <"$file"
    [ ! -d /proc ] || [ "$(cat "/proc/$server/comm" 2>/dev/null)" = postgres ] || continue
    kill -QUIT "$server" 2>/dev/null
    tries=50
    while [ $tries -gt 0 ] && kill -0 "$server" 2>/dev/null; do
      sleep 0.1
      tries=$((tries - 1))
    done
  done
  rm -rf "$folder"
done
