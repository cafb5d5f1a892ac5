#!/usr/bin/env bash
# Prints what CHANGELOG.md says of a version; fails where it says nothing: ci/release/notes.sh VERSION [CHANGELOG]
set -euo pipefail

version="$1"
changelog="${2:-$(dirname "$0")/../../CHANGELOG.md}"
notes="$(awk -v version="$version" '
    /^## / { found = $2 == version || $2 == "[" version "]"; next }
    found
' "$changelog")"
if [ -z "${notes//[[:space:]]/}" ]; then
    echo "CHANGELOG.md has no section $version" >&2
    exit 1
fi
echo "$notes"
