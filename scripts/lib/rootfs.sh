# shellcheck shell=bash
# What the scripts share that make root file systems. Sourced by them, in the build root; what they keep by its recipe has
# this file in the recipe.

# words FILE: what it lists, without its comments.
words() { sed 's/#.*//' "$1"; }

# configure_apt FOLDER ARCHITECTURE ARCHIVES: writes FOLDER/apt.conf, with which apt takes packages of that architecture with
# all that they need, whatever is installed here, and keeps their files in ARCHIVES. FOLDER/no-status has none of them.
configure_apt() {
    mkdir -p "$1/no-status" "$3/partial"
    : > "$1/no-status/status"
    cat > "$1/apt.conf" <<CONF
APT::Architecture "$2";
#clear APT::Architectures;
APT::Architectures { "$2"; };
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Retries "5";
Dir::State::status "$1/no-status/status";
Dir::Cache::archives "$3";
Dir::Cache::pkgcache "";
Dir::Cache::srcpkgcache "";
CONF
}

# check_file PATH SHA256: removes a damaged file and fails. For a file in its cache, apt compares only the size.
check_file() {
    echo "$2  $1" | sha256sum --check --status && return
    rm -f "$1"
    fail "$1 was damaged and is removed; run this again"
}

# download_packages CONFIG NOWHERE PACKAGE...: Debian's packages and all that they need, into the folder that apt's
# configuration names. Prints the names of all their files; NOWHERE is a folder that has none of them.
download_packages() {
    local config=$1 nowhere=$2 archives name hash
    shift 2
    APT_CONFIG=$config apt-get install -yqq --download-only "$@" >&2
    archives=$(APT_CONFIG=$config apt-config dump --format '%v%n' Dir::Cache::archives)
    APT_CONFIG=$config apt-get install -yqq --print-uris -o Acquire::ForceHash=SHA256 -o Dir::Cache::archives="$nowhere" "$@" | while read -r _ name _ hash; do
        check_file "$archives/$name" "${hash#SHA256:}"
        echo "$name"
    done
}

# unpack_packages ARCHIVES ROOT: those whose file names are read from standard input; nothing of them is configured.
unpack_packages() {
    local name
    while read -r name; do
        dpkg-deb --fsys-tarfile "$1/$name" | tar -x -C "$2" --keep-directory-symlink
    done
}

# link_busybox ROOT: its commands as links, where no package brought the full one.
link_busybox() {
    local name
    for name in $(qemu-aarch64 "$1/usr/bin/busybox" --list); do
        [ -e "$1/usr/bin/$name" ] || [ -e "$1/usr/sbin/$name" ] || ln -s busybox "$1/usr/bin/$name"
    done
}

# needed_modules FOLDER RELEASE NAME...: modules of that kernel and what they depend on, in the order of loading, as paths
# within FOLDER/lib/modules/RELEASE.
needed_modules() {
    local folder=$1 running=$2
    shift 2
    modprobe -d "$folder" -S "$running" --show-depends --ignore-install -a "$@" |
        sed -n "s|^insmod .*/lib/modules/$running/\([^ ]*\).*|\1|p" | awk '!seen[$0]++'
}

# pack_initramfs ROOT RELEASE INIT RESULT MODULE...: the root file system's busybox, a script that it runs, and the modules
# that are loaded, listed in their order, before there is a disk.
pack_initramfs() {
    local root=$1 running=$2 init=$3 result=$4 early=$4.files name
    shift 4
    mkdir -p "$early"/{bin,proc,sys,dev,run,root,modules}
    cp "$root/usr/bin/busybox" "$early/bin/"
    install -m 755 "$init" "$early/init"
    needed_modules "$root/usr" "$running" "$@" >"$early/modules/list"
    while read -r name; do cp "$root/usr/lib/modules/$running/$name" "$early/modules/"; done <"$early/modules/list"
    (cd "$early" && find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 | gzip -1) >"$result"
    rm -r "$early"
}

# unpacked_tool PACKAGE: a folder with a program of the build root's architecture that only images and their tests use, and that
# needs nothing beyond the build root. It is kept in the cache.
unpacked_tool() {
    local folder=$cache/tools/$1
    if [ ! -e "$folder/.complete" ]; then
        rm -rf "$folder"
        mkdir -p "$folder"
        (cd "$folder" && apt-get download -qq "$1" && dpkg-deb -x "$1"_*.deb . && rm "$1"_*.deb) >&2 ||
            { echo "the package $1 could not be downloaded; check the network" >&2; return 1; }
        touch "$folder/.complete"
    fi
    echo "$folder"
}
