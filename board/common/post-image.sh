#!/bin/sh
# Called by Buildroot with the images' directory and the board's name: the boot partition's files, and the card.
set -eu
images=$1
board=$2
here=$(cd "$(dirname "$0")" && pwd)

cp "$here/../$board/board.json" "$here/device.json" "$here/network.json" "$here/stream.json" "$here/README.txt" "$images/"

# Device trees, kernel, firmware with its overlays, and the files for people to edit.
files=$(cd "$images" && ls ./*.dtb Image rpi-firmware/* -d board.json device.json network.json stream.json README.txt)
list=$(for name in $files; do printf '\t\t\t"%s",\\n' "${name#./}"; done)
sed "s|#BOOT_FILES#|$list|" "$here/genimage.cfg" >"$images/genimage.cfg"

empty=$(mktemp -d)
trap 'rm -rf "$empty"' EXIT
genimage --rootpath "$empty" --tmppath "$empty/tmp" --inputpath "$images" --outputpath "$images" \
    --config "$images/genimage.cfg"
