#!/usr/bin/env bash
# Packs a built program for a release: ci/release/package.sh PROGRAM TARGET OUT [EXTRA FILE...]
# The archive OUT/rooflint-VERSION-TARGET.tar.gz (.zip for Windows) has the program, completions, man pages, documents
# and licenses; beside it lies its checksum. Its name is the one that [package.metadata.binstall] of Cargo.toml has.
set -euo pipefail

program="$1" target="$2"
mkdir -p "$3"
out="$(cd "$3" && pwd)"
shift 3

root="$(cd "$(dirname "$0")/../.." && pwd)"
version="$("$program" --version | cut -d ' ' -f 2)"
name="rooflint-$version-$target"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
folder="$work/$name"

mkdir -p "$folder/completions" "$folder/man"
cp "$program" "$folder/"
for shell in bash elvish fish powershell zsh; do
    case "$shell" in
    bash) file=rooflint.bash ;;
    elvish) file=rooflint.elv ;;
    fish) file=rooflint.fish ;;
    powershell) file=_rooflint.ps1 ;;
    zsh) file=_rooflint ;;
    esac
    "$program" completions "$shell" >"$folder/completions/$file"
done
"$program" man -o "$folder/man"
cp -R "$root/docs" "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE-APACHE" "$root/LICENSE-MIT" "$folder/"
for file in "$@"; do
    cp "$file" "$folder/"
done

cd "$work"
case "$target" in
*windows*)
    archive="$name.zip"
    7z a -bso0 "$archive" "$name"
    ;;
*)
    archive="$name.tar.gz"
    tar -czf "$archive" "$name"
    ;;
esac
if command -v sha256sum >/dev/null; then
    sha256sum "$archive" >"$archive.sha256"
else
    shasum --algorithm 256 "$archive" >"$archive.sha256"
fi
mv "$archive" "$archive.sha256" "$out/"
