# shellcheck shell=bash
# The folder legal of a card: license texts, and where the sources are. Sourced by the scripts that make images; it uses their
# fail.

# own_licenses FOLDER: of Tallycam and of everything in it.
own_licenses() {
    mkdir -p "$1"
    cp LICENSE THIRD-PARTY-NOTICES.md "$1/"
    scripts/in-build-root --aarch64 scripts/notices --texts "$1/tallycam.txt"
}

# package_license TREE PACKAGE FOLDER: the copyright file of a Debian package that is unpacked in TREE.
package_license() {
    local path=usr/share/doc/$2/copyright
    cp -L "$1/$path" "$3/$2.txt" 2>/dev/null || fail "the package $2 has no license text: its file $path is missing or cannot be copied"
}

# common_licenses FOLDER: those that its copyright files name instead of repeating them.
common_licenses() {
    local file path
    mkdir -p "$1/common-licenses"
    for file in "$1"/*.txt; do
        for path in $(grep -ohE '/usr/share/common-licenses/[A-Za-z0-9.+-]*[A-Za-z0-9]' "$file" | sort -u); do
            cp -L "$path" "$1/common-licenses/" 2>/dev/null ||
                fail "the license text of the package $(basename "$file" .txt) names $path, which the build root does not have"
        done
    done
}

# buildroot_licenses INFO FOLDER: of the packages that Buildroot puts onto a card. INFO is what `make legal-info` has left.
buildroot_licenses() {
    [ -s "$1/manifest.csv" ] || fail "there is no $1/manifest.csv, which Buildroot's make legal-info writes"
    rm -rf "$2/packages"
    cp -RL "$1/licenses" "$2/packages"
    {
        echo "Package, version, license and source archive of everything on this card that Tallycam's project did not write."
        echo
        # Buildroot quotes each field, and has no quotes inside.
        tail -n +2 "$1/manifest.csv" | awk -F '","' '{ sub(/^"/, "", $1); printf "%s %s, %s: %s/%s\n", $1, $2, $3, $6, $5 }'
    } >"$2/sources.txt"
}
