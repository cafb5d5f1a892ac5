#!/usr/bin/env bash
# Checks what forges and hooks read: YAML against the published schemas, workflows for what can be attacked, scripts.
# Needs Python and the packages of ci/requirements.txt, which it installs into a folder of the target directory.
set -euo pipefail
cd "$(dirname "$0")/.."

if command -v shellcheck >/dev/null; then
    shellcheck ci/*.sh ci/*/*.sh .ci/run fuzz/run
else
    echo "shellcheck is not installed: scripts are not checked"
fi

tools="$(mkdir -p "${CARGO_TARGET_DIR:-target}" && cd "${CARGO_TARGET_DIR:-target}" && pwd)/ci-tools"
if ! python3 -m venv "$tools" >/dev/null 2>&1 ||
    ! "$tools/bin/pip" install --quiet --disable-pip-version-check -r ci/requirements.txt >/dev/null 2>&1; then
    echo "the packages of ci/requirements.txt could not be installed: YAML is not checked"
    exit
fi

schema() {
    local name="$1"
    shift
    "$tools/bin/check-jsonschema" --quiet --builtin-schema "$name" "$@"
}
schema vendor.github-actions action.yml
schema vendor.github-workflows .github/workflows/*.yml
schema custom.github-workflows-require-timeout .github/workflows/*.yml
schema vendor.dependabot .github/dependabot.yml
schema vendor.github-issue-config .github/ISSUE_TEMPLATE/config.yml
schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
schema vendor.citation-file-format CITATION.cff

# The inputs and the job are two documents of one file.
parts="$(mktemp -d)"
trap 'rm -rf "$parts"' EXIT
awk -v folder="$parts" 'BEGIN { part = "inputs" } /^---$/ { part = "job"; next } { print > (folder "/" part ".yml") }' ci/gitlab.yml
schema vendor.gitlab-ci --data-transform gitlab-ci "$parts/inputs.yml" "$parts/job.yml"

# What people copy.
awk -v folder="$parts" '
    /^```yaml$/ { block = folder "/" ++number ".doc.yml"; next }
    /^```/ { block = "" }
    block { print > block }
' docs/pipelines.md
for block in "$parts"/*.doc.yml; do
    case "$(grep --max-count 1 --only-matching --extended-regexp '^(jobs|include|steps|repos):' "$block" || true)" in
    jobs:) schema vendor.github-workflows "$block" ;;
    include:) schema vendor.gitlab-ci --data-transform gitlab-ci "$block" ;;
    steps:) schema vendor.buildkite "$block" ;;
    repos:) "$tools/bin/pre-commit" validate-config "$block" ;;
    *)
        echo "docs/pipelines.md: a block of YAML that nothing checks:" >&2
        cat "$block" >&2
        exit 1
        ;;
    esac
done

"$tools/bin/pre-commit" validate-manifest .pre-commit-hooks.yaml
"$tools/bin/zizmor" --offline --quiet --no-progress .
