# shellcheck shell=bash
# What a prebuilt kernel's card has of its packages: modules, Wi-Fi firmware, kernel, device trees, the board's firmware.
# Sourced by scripts/image-prebuilt, which sets board, kernel, recipe, work and fail.

: "${board:?}" "${kernel:?}" "${recipe:?}"

# modules_of KIND FOLDER RELEASE: the names that the lists of the board have for that kind and this kernel
# (board/common/modules). Those with a question mark only if the kernel has them.
modules_of() {
    local name
    for name in $(cat board/common/modules "$recipe/modules" | sed 's/#.*//' | awk -v kind="$1" -v kernel="$kernel" '
        $1 == kind || $1 == kind ":" kernel { for (i = 2; i <= NF; i++) print $i }'); do
        if has_module "$2" "$3" "${name%\?}"; then
            echo "${name%\?}"
        elif [ "$name" = "${name%\?}" ]; then
            fail "the kernel $3 has no module $name, which board/common/modules or $recipe/modules names"
        fi
    done
}

# has_module FOLDER RELEASE NAME: as a module or built in.
has_module() { modprobe -d "$1" -S "$2" --show-depends --ignore-install "$3" >/dev/null 2>&1; }

# copy_modules FROM TO RELEASE NAME...: these and what they need, uncompressed, since the file system compresses them.
copy_modules() {
    local from=$1 to=$2 release=$3 name folder=lib/modules/$3
    shift 3
    mkdir -p "$to/$folder"
    needed_modules "$from" "$release" "$@" | while read -r name; do
        mkdir -p "$to/$folder/$(dirname "$name")"
        case $name in
            *.xz) xz -dc "$from/$folder/$name" >"$to/$folder/${name%.xz}" ;;
            *.zst) zstd -qdc "$from/$folder/$name" >"$to/$folder/${name%.zst}" ;;
            *) cp "$from/$folder/$name" "$to/$folder/$name" ;;
        esac
    done
    # The root file system is not signed, so a module's signature protects nothing, but the kernel hashes the whole file and
    # checks it each time. BTF describes types to tracers.
    find "$to/$folder" -name '*.ko' -exec aarch64-linux-gnu-objcopy --strip-debug --remove-section=.BTF {} ';'
    cp "$from/$folder"/modules.{builtin,builtin.modinfo,order} "$to/$folder/"
    depmod -b "$to" "$release"
}

# copy_wifi_firmware FROM TO CHIPS: the files that brcmfmac asks for, of the chips in that list and of Raspberry Pi's boards.
copy_wifi_firmware() {
    local path chips
    chips=$(words "$3" | xargs | tr ' ' '|')
    mkdir -p "$2/brcm"
    find "$1/brcm" -regextype posix-extended -regex ".*/brcmfmac($chips)-sdio(\.raspberrypi,[^./]*)?\.(bin|clm_blob|txt)" |
        while read -r path; do
            # Raspberry Pi's package leaves the choice between two variants to its installation.
            if [ ! -e "$path" ]; then ln -sf "$(readlink "$path" | sed 's/\.bin$/-standard.bin/')" "$path"; fi
            cp -L "$path" "$2/brcm/" || fail "the package of the Wi-Fi firmware lacks what ${path##*/} points to"
        done
    compgen -G "$2/brcm/*.bin" >/dev/null || fail "the archive's packages have no Wi-Fi firmware for $chips"
}

# pack_kernel FILE RESULT: compressed, which the boards' firmware accepts for 64-bit kernels, and which takes half a second less
# to read from a card than it takes to unpack.
pack_kernel() {
    if gzip -t "$1" 2>/dev/null; then cp "$1" "$2"; else gzip -9 -n <"$1" >"$2"; fi
}

# take_device_trees FROM TO: of this board's models, and the overlays that config.txt names.
take_device_trees() {
    local name names
    names=$(words "$recipe/device-trees" | awk -v kernel="$kernel" '$1 == kernel { for (i = 2; i <= NF; i++) print $i }')
    [ -n "$names" ] || fail "$recipe/device-trees names no device tree of the kernel $kernel"
    for name in $names; do
        [ -e "$1/broadcom/$name.dtb" ] ||
            fail "the kernel's package has no device tree broadcom/$name.dtb, which $recipe/device-trees names"
        boot_files+="$name.dtb "
        take_tree "$1/broadcom/$name.dtb" "$2/$name.dtb"
    done
    mkdir -p "$2/overlays"
    if [ "${overlays:?}" = own ]; then
        cp board/common/overlays/README "$2/overlays/"
        for name in $(own_overlays); do
            dtc -q -@ -I dts -O dtb -o "$2/overlays/$name.dtbo" "$(own_file "overlays/$name.dtso")"
        done
    else
        # The firmware loads those of sensors and of hats on its own, by name.
        cp "$1"/overlays/* "$2/overlays/"
    fi
}

# take_tree FILE RESULT: with our addition, where the kernel's package is not Raspberry Pi's.
take_tree() {
    if [ "$overlays" = own ]; then
        dtc -q -@ -I dts -O dtb -o "$work/tree.dtbo" "$(own_file tree.dtso)"
        fdtoverlay -i "$1" -o "$2" "$work/tree.dtbo"
    else
        cp "$1" "$2"
    fi
}

own_overlays() { sed -n 's/^dtoverlay=\([^,]*\).*/\1/p' "$recipe/config.txt"; }

# own_file PATH: of the board, or of all boards.
own_file() { if [ -e "$recipe/$1" ]; then echo "$recipe/$1"; else echo "board/common/$1"; fi; }

# take_firmware TREE: the files that config.txt names, and what the boot ROM of older boards looks for.
take_firmware() {
    local folder name
    folder=$(dirname "$(find "$1" -name start.elf | head -n 1)")
    for name in $(sed -n 's/^\(start_file\|fixup_file\)=//p' "$recipe/config.txt"); do
        [ -e "$folder/$name" ] || fail "the package raspi-firmware has no $name"
        cp "$folder/$name" "$work/"
        boot_files+="$name "
    done
    case $board in
        rpi0_2w|rpi3) cp "$folder/bootcode.bin" "$work/"; boot_files+="bootcode.bin " ;;
    esac
}
