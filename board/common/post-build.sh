#!/bin/sh
# Called by Buildroot with the root file system's directory and the board's name, for changes that the overlay cannot make.
set -eu
target=$1
board=$2
here=$(cd "$(dirname "$0")" && pwd)

# Only the overlay's start scripts may run, so those of Buildroot's packages are removed.
for script in "$target"/etc/init.d/S*; do
    [ -e "$here/../../rootfs-overlay/etc/init.d/${script##*/}" ] || rm -f "$script"
done
mkdir -p "$target/boot" "$target/state"

# No login is possible: there is no password, and no shell on any terminal.
sed -i 's/^root:[^:]*:/root:*:/' "$target/etc/shadow"
# The name server's address comes from DHCP.
ln -sf /run/resolv.conf "$target/etc/resolv.conf"
# The wiring to use if board.json on the card is faulty: light and console must be able to report the fault.
install -D -m 644 "$here/../$board/board.json" "$target/etc/tallycam/board.json"

# The clock starts here, not in 1970.
date +%s >"$target/etc/build-date"
