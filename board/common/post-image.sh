#!/usr/bin/env bash
# Called by Buildroot with the images' directory and the board's name: the boot partition's files, and the card. Beside that
# directory is legal, which scripts/image-buildroot has filled.
set -euo pipefail
images=$(cd "$1" && pwd)
board=$2
cd "$(dirname "$0")/../.."
fail() { echo "image: $*" >&2; exit 1; }
. scripts/lib/card.sh

[ -s "$images/../legal/sources.txt" ] || fail "there are no license texts in ${images%/*}/legal; run make image KERNEL=buildroot, which collects them"
copy_person_files "$board" "$images"
rm -rf "$images"/{legal,empty,tmp}
cp -R "$images/../legal" "$images/legal"
# Device trees, kernel, firmware with its overlays, and what is for people.
mapfile -t files < <(cd "$images" && ls -d -- *.dtb Image rpi-firmware/*)
# shellcheck disable=SC2086  # a list of names
pack_card "$images" "${files[@]}" $person_files legal
