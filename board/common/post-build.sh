#!/bin/sh
# Called by Buildroot with the root file system's directory and the board's name: what the overlay cannot do.
set -eu
target=$1
board=$2
here=$(cd "$(dirname "$0")" && pwd)

# Only the overlay's start scripts run: no program of Buildroot's packages is started behind Tallycam's back.
for script in "$target"/etc/init.d/S*; do
    [ -e "$here/../../rootfs-overlay/etc/init.d/${script##*/}" ] || rm -f "$script"
done
mkdir -p "$target/boot" "$target/state"

# Nobody logs in: no password, no shell on any terminal.
sed -i 's/^root:[^:]*:/root:*:/' "$target/etc/shadow"
# The name server's address comes by DHCP.
ln -sf /run/resolv.conf "$target/etc/resolv.conf"
# The wiring that holds when board.json on the card is broken: light and console must be able to say so.
install -D -m 644 "$here/../$board/board.json" "$target/etc/tallycam/board.json"

# The clock starts here, not in 1970.
date +%s >"$target/etc/build-date"
