# shellcheck shell=bash
# What all cards have in common, whatever their kernel. Sourced by the scripts that make images, in the build root, after
# rootfs.sh; it uses their fail.

# check_program: whether there is something to put onto a card.
check_program() {
    local name
    for name in tallycam share/libcamera/ipa; do
        [ -e "out/aarch64/$name" ] || fail "out/aarch64/$name is missing: make build"
    done
}

# program_key FILE...: of Tallycam's part of the card, and of these files and folders of the recipe.
program_key() {
    tar -cP --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner out/aarch64/tallycam out/aarch64/share/libcamera/ipa \
        rootfs-overlay board/common scripts/lib/rootfs.sh scripts/lib/card.sh "$@" | sha256sum | cut -c1-16
}

# What people edit and read on the boot partition. A card for people also has legal.
readonly person_files='board.json device.json network.json stream.json README.txt firmware'

# copy_person_files BOARD FOLDER
copy_person_files() {
    cp "board/$1/board.json" board/common/{device,network,stream}.json board/common/README.txt "$2/"
    install -D -m 644 board/common/firmware-README.txt "$2/firmware/README.txt"
}

# install_program ROOT BOARD: Tallycam, the start scripts, and the accounts, into a root file system that has its programs.
install_program() {
    local root=$1
    cp -a rootfs-overlay/. "$root/"
    install -D -m 755 out/aarch64/tallycam "$root/usr/bin/tallycam"
    mkdir -p "$root/usr/share/libcamera"
    cp -r out/aarch64/share/libcamera/ipa "$root/usr/share/libcamera/"
    echo 'root:*:0:0:root:/:/bin/false' >"$root/etc/passwd"
    echo 'root:x:0:' >"$root/etc/group"
    echo 'root::::::::' >"$root/etc/shadow"
    ln -sf ../bin/busybox "$root/usr/sbin/init"
    board/common/post-build.sh "$root" "$2"
}

# Raspberry Pi's kernels cannot read lz4.
readonly root_compression=zstd

# pack_root ROOT RESULT
pack_root() { mksquashfs "$1" "$2" -comp $root_compression -all-root -noappend -no-progress -quiet; }

# check_kernel CONFIG: whether a kernel of that configuration reads the root file system.
check_kernel() {
    grep -qx "CONFIG_SQUASHFS_${root_compression^^}=y" "$1" ||
        fail "the kernel cannot read a root file system that is compressed with $root_compression (${1##*/})"
}

# pack_card FOLDER FILE...: makes FOLDER/images/sdcard.img with FOLDER/rootfs.squashfs and these files and folders of FOLDER
# on the boot partition.
pack_card() {
    local folder=$1 list
    shift
    list=$(printf '\\t\\t\\t"%s",\\n' "$@")
    sed "s|#BOOT_FILES#|$list|" board/common/genimage.cfg >"$folder/genimage.cfg"
    mkdir -p "$folder/empty"
    genimage --rootpath "$folder/empty" --tmppath "$folder/tmp" --inputpath "$folder" --outputpath "$folder/images" \
        --config "$folder/genimage.cfg" >"$folder/genimage.log" 2>&1 ||
        { tail -n 20 "$folder/genimage.log" >&2; fail "genimage could not make the card"; }
}

# fill_partitions IMAGE FOLDER: stores zeros inside the file systems as data, so that a block map of the image has them, too:
# a used card has something else there. The offsets are those of genimage.cfg, in MB.
fill_partitions() {
    local image=$1 folder=$2 name offset size file
    while read -r name offset size file; do
        [ "$file" = - ] || size=$((($(stat -c %s "$folder/$file") + 1048575) / 1048576))
        dd if="$image" of="$image" bs=1M skip="$offset" seek="$offset" count="$size" conv=notrunc status=none ||
            fail "the partition $name of $image cannot be read and written"
    done < <(awk '
        $1 == "partition" { name = $2 }
        name && $1 == "image" { gsub(/"/, "", $3); file = $3 }
        name && $1 == "offset" { offset = $3 + 0 }
        name && $1 == "size" { size = $3 + 0 }
        name && $1 == "}" { if (file) print name, offset, size, file ~ /squashfs/ ? file : "-"; name = file = "" }
    ' board/common/genimage.cfg)
}

# hand_over FILE RESULT: replaces RESULT in one step, so that a program that reads the previous one keeps reading it.
hand_over() {
    # The caller's lock keeps this name for one run, and the next run replaces what an interrupted one has left.
    cp --sparse=always "$1" "$2.new"
    chmod 644 "$2.new"
    mv "$2.new" "$2"
}

megabytes() { du -m --apparent-size "$1" | cut -f1; }

# describe_card OUTPUT TEXT: what is there, how to flash it, and what to edit.
describe_card() {
    cat <<TEXT

$1/sdcard.img: $2, $(megabytes "$1/sdcard.img") MB
  sdcard.img.xz $(megabytes "$1/sdcard.img.xz") MB, sdcard.img.xz.sha256, sdcard.bmap$([ ! -e "$1/manifest" ] || echo ", manifest (the packages' versions)")
Flash it, with any of:
  Raspberry Pi Imager: Use custom, $1/sdcard.img.xz, and no settings of its own
  sudo bmaptool copy --bmap $1/sdcard.bmap $1/sdcard.img.xz /dev/sdX
  xz -dc $1/sdcard.img.xz | sudo dd of=/dev/sdX bs=4M conv=fsync status=progress
Then edit stream.json on the partition TALLYCAM, and network.json for Wi-Fi (docs/start/card.md).
TEXT
}

# board_name BOARD
board_name() { sed -n 's/.*"name": "\([^"]*\)".*/\1/p' "board/$1/board.json"; }
