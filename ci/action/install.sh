#!/usr/bin/env bash
# Puts rooflint on the path of a job: the wheel, else the archive of the release, else what cargo builds.
# $INPUT_VERSION: a version, `installed`, or empty for the version of the repository that this file is in.
set -euo pipefail

repository="$(cd "$(dirname "$0")/../.." && pwd)"
releases="${RELEASES_URL:-https://github.com/rooflint/rooflint/releases/download}"
folder="${RUNNER_TEMP:-/tmp}/rooflint-program"

say() { echo "rooflint: $1"; }

# The program in this folder, for the steps that follow.
use() {
    echo "$1" >>"$GITHUB_PATH"
    say "$("$1/rooflint" --version) from $2"
    exit 0
}

by_wheel() {
    local python
    python="$(command -v python3 || command -v python)" || return 1
    "$python" -m venv "$folder" || return 1
    local bin="$folder/bin"
    [ -d "$bin" ] || bin="$folder/Scripts"
    "$bin/python" -m pip install --quiet --disable-pip-version-check --only-binary :all: "rooflint==$version" || return 1
    [ -x "$bin/rooflint" ] || [ -x "$bin/rooflint.exe" ] || return 1
    use "$bin" "the package index of Python"
}

target() {
    case "$(uname -s)-$(uname -m)" in
    Linux-x86_64) echo x86_64-unknown-linux-musl ;;
    Linux-aarch64) echo aarch64-unknown-linux-musl ;;
    Darwin-x86_64) echo x86_64-apple-darwin ;;
    Darwin-arm64) echo aarch64-apple-darwin ;;
    MINGW*-x86_64 | MSYS*-x86_64) echo x86_64-pc-windows-msvc ;;
    *) return 1 ;;
    esac
}

# Whether the file is what its checksum says.
intact() {
    if command -v sha256sum >/dev/null; then
        sha256sum --check --quiet "$1"
    else
        shasum --algorithm 256 --check --quiet "$1"
    fi
}

by_archive() {
    local target name archive
    target="$(target)" || return 1
    name="rooflint-$version-$target"
    case "$target" in
    *windows*) archive="$name.zip" ;;
    *) archive="$name.tar.gz" ;;
    esac
    rm -rf "$folder"
    mkdir -p "$folder"
    cd "$folder"
    for file in "$archive" "$archive.sha256"; do
        curl --fail --silent --show-error --location --retry 3 --output "$file" "$releases/v$version/$file" || return 1
    done
    if ! intact "$archive.sha256"; then
        echo "::error title=rooflint::$archive does not match its checksum"
        exit 1
    fi
    case "$archive" in
    *.zip) unzip -q "$archive" || return 1 ;;
    *) tar -xzf "$archive" || return 1 ;;
    esac
    use "$folder/$name" "the archive of the release"
}

by_cargo() {
    command -v cargo >/dev/null || return 1
    cargo install --locked --root "$folder" --version "$version" rooflint || return 1
    use "$folder/bin" "cargo"
}

version="${INPUT_VERSION:-$(sed -n 's/^version = "\(.*\)"/\1/p' "$repository/Cargo.toml" | head -n 1)}"
at_hand="$(rooflint --version 2>/dev/null || true)"
if [ "$version" = installed ] && [ -n "$at_hand" ] || [ "$at_hand" = "rooflint $version" ]; then
    say "$at_hand, which is on the path"
    exit 0
fi
if [ "$version" = installed ]; then
    echo "::error title=rooflint::no rooflint is on the path"
    exit 1
fi
by_wheel || say "no wheel of $version for this machine: trying the archive of the release"
by_archive || say "no archive of $version for this machine: trying cargo"
by_cargo || echo "::error title=rooflint::rooflint $version could not be installed"
exit 1
