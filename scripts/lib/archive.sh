# shellcheck shell=bash
# The package archive with a card's kernel and firmware (board/archives). Sourced by scripts/image-prebuilt, in the build root,
# after rootfs.sh; it sets cache and fail.

: "${cache:?}"
. scripts/lib/turns.sh

# locked COMMAND...: while no other run changes the cache's packages and tools.
locked() { (take_turn 9 "waiting for another run, which changes $cache"; "$@") 9>"$cache/lock"; }

# key_fingerprints FILE: of all keys of a keyring, armored or not, one a line.
key_fingerprints() {
    python3 - "$1" <<'PYTHON'
import base64, hashlib, re, sys

data = open(sys.argv[1], "rb").read()
if blocks := re.findall(rb"-----BEGIN PGP PUBLIC KEY BLOCK-----(.*?)-----END", data.replace(b"\r", b""), re.DOTALL):
    bodies = [block.split(b"\n\n", 1)[1].split(b"\n") for block in blocks]
    data = b"".join(base64.b64decode(b"".join(line for line in body if not line.startswith(b"="))) for body in bodies)


def packets(data):
    """Tags and bodies of the packets: RFC 4880, 4.2."""
    at = 0
    while at < len(data):
        head, first = data[at], data[at + 1]
        if not head & 0x80:
            sys.exit(f"{sys.argv[1]} is not a keyring")
        if head & 0x40:
            tag, at = head & 0x3F, at + 2
            if first == 255:
                length, at = int.from_bytes(data[at : at + 4], "big"), at + 4
            elif first >= 224:
                sys.exit(f"{sys.argv[1]} has a packet in parts")
            elif first >= 192:
                length, at = ((first - 192) << 8) + data[at] + 192, at + 1
            else:
                length = first
        else:
            tag, size = head >> 2 & 0xF, 1 << (head & 3)
            if size == 8:
                sys.exit(f"{sys.argv[1]} has a packet without a length")
            length, at = int.from_bytes(data[at + 1 : at + 1 + size], "big"), at + 1 + size
        yield tag, data[at : at + length]
        at += length


# Tag 6 is a public key with subkeys of its own after it. Its fingerprint: RFC 4880, 12.2.
for tag, body in packets(data):
    if tag == 6:
        print(hashlib.sha1(b"\x99" + len(body).to_bytes(2, "big") + body).hexdigest().upper())
PYTHON
}

# read_archive FILE: sets the variables that board/archives/debian has, and lists: a folder for the lists of the build root's own
# mirror, which are kept for an hour.
read_archive() {
    lists=
    # shellcheck disable=SC1090
    . "$1"
    if [ -z "$uri" ]; then
        # shellcheck disable=SC2016  # apt-get fills this in
        uri=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
        [ -n "$uri" ] || fail "the build root's apt knows no mirror; run scripts/in-build-root apt-get update"
        lists=$cache/lists-$suite
    fi
    [ -z "$fingerprint" ] || [ "$(key_fingerprints "$keyring")" = "$fingerprint" ] ||
        fail "$keyring is not the key $fingerprint that $1 names, and that alone; use the key with that fingerprint"
}

# open_archive FOLDER PINS: writes FOLDER/apt.conf, with which apt sees this archive only, and reads its lists. PINS is a
# manifest whose versions are preferred, or empty.
open_archive() {
    configure_apt "$1" arm64 "$cache/archives"
    lists=${lists:-$1/lists}
    mkdir -p "$lists/partial" "$1/none"
    cat >>"$1/apt.conf" <<CONF
Acquire::Languages "none";
Dir::Cache::pkgcache "$1/pkgcache.bin";
Dir::State::lists "$lists";
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "$1/none";
Dir::Etc::preferences "$1/preferences";
Dir::Etc::preferencesparts "$1/none";
CONF
    # A path in a list of sources has no spaces.
    cp "$keyring" "$1/keyring.${keyring##*.}"
    echo "deb [signed-by=$1/keyring.${keyring##*.}] $uri $suite $components" >"$1/sources.list"
    write_preferences "$2" >"$1/preferences"
    read_lists "$1" 7>"$lists.lock"
}

# read_lists FOLDER: unless they were read within an hour. Two runs at the same time may want the same lists.
read_lists() {
    take_turn 7 "waiting for another run, which reads the package lists"
    [ -z "$(find "$lists/.read" -mmin -60 2>/dev/null)" ] || [ "$(cat "$lists/.read")" != "$uri" ] || return 0
    APT_CONFIG=$1/apt.conf apt-get update -q -o APT::Update::Error-Mode=any >"$1/update.log" 2>&1 || {
        grep -E '^(E|W|Err|Error|Warning)' "$1/update.log" >&2 || true
        fail "the package archive could not be read, or its signature is not valid; check the network and try again"
    }
    echo "$uri" >"$lists/.read"
}

# write_preferences PINS: apt's preferences for the versions of a manifest.
write_preferences() {
    [ -z "$1" ] || sed 's/#.*//' "$1" | while read -r package version _; do
        [ -z "$package" ] || printf 'Package: %s\nPin: version %s\nPin-Priority: 1001\n\n' "$package" "$version"
    done
}

# kernel_package FOLDER NAME: the package with the kernel itself, which the meta package NAME depends on.
kernel_package() {
    local found
    found=$(APT_CONFIG=$1/apt.conf apt-cache depends --no-recommends --no-suggests "$2" 2>/dev/null |
        sed -n 's/^ *Depends: \(linux-image-[^ :]*\).*/\1/p' | head -n 1)
    [ -n "$found" ] || fail "the archive has no package $2, or it names no kernel"
    echo "$found"
}

# fetch_packages FOLDER PACKAGE...: these alone; prints the paths of their files.
fetch_packages() {
    local folder=$1 package version path
    shift
    for package in "$@"; do
        version=$(APT_CONFIG=$folder/apt.conf apt-cache show --no-all-versions "$package" 2>/dev/null | sed -n 's/^Version: //p')
        [ -n "$version" ] || fail "the archive has no package $package"
        (cd "$cache/archives" && APT_CONFIG=$folder/apt.conf apt-get download -qq "$package=$version") >&2 ||
            # The mirror may have a newer version than the kept lists.
            { rm -f "$lists/.read"; fail "$package could not be downloaded whole; run this again, or check the network"; }
        # apt writes the colon of an epoch as %3a.
        path=$(ls "$cache/archives/${package}_${version//:/%3a}"_*.deb)
        check_file "$path" "$(APT_CONFIG=$folder/apt.conf apt-cache show "$package=$version" | sed -n 's/^SHA256: //p' | head -n 1)"
        echo "$path"
    done
}

# describe_packages: a manifest's lines for the package files that are read from standard input.
describe_packages() {
    local path
    while read -r path; do
        # shellcheck disable=SC2016  # dpkg-deb fills this in
        printf '%s %s\n' "$(dpkg-deb -W --showformat '${Package} ${Version}' "$path")" "$(sha256sum "$path" | cut -d' ' -f1)"
    done | sort
}
