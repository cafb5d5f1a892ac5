#!/usr/bin/env bash
# Gates profiles in a job of GitHub Actions and says what the steps after it upload.
# Reads the inputs of action.yml as $INPUT_*; writes reports to a folder, appends to $GITHUB_STEP_SUMMARY, sets
# outputs. It exits with 0: `status` is what the job is to exit with.
set -euo pipefail

folder="${RUNNER_TEMP:-/tmp}/rooflint-reports"
rm -rf "$folder"
mkdir -p "$folder"

output() { echo "$1=$2" >>"$GITHUB_OUTPUT"; }

# As the data of a workflow command wants it.
escaped() {
    local text="${1//'%'/%25}"
    text="${text//$'\r'/%0D}"
    echo "${text//$'\n'/%0A}"
}

arguments=(gate)
# Adds the lines of a text that are not blank, each as one argument.
add_lines() {
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        line="${line#"${line%%[![:space:]]*}"}"
        line="${line%"${line##*[![:space:]]}"}"
        if [ -n "$line" ]; then
            arguments+=("$line")
        fi
    done <<<"$1"
}

finish() {
    output verdict "$1"
    output status "$2"
    output folder "$folder"
    local file
    for file in report=rooflint.json page=rooflint.html sarif=rooflint.sarif; do
        if [ -s "$folder/${file#*=}" ]; then
            output "${file%=*}" "$folder/${file#*=}"
        fi
    done
    exit 0
}

fail_on="${INPUT_FAIL_ON:-inconclusive}"
case "$fail_on" in
inconclusive | failed | never) ;;
*)
    echo "::error title=rooflint::fail-on is inconclusive, failed or never; not $(escaped "$fail_on")"
    finish error 2
    ;;
esac

if [ -n "${INPUT_BASELINE:-}" ]; then
    arguments+=(--baseline)
    add_lines "$INPUT_BASELINE"
fi
for option in merge-base device policy; do
    variable="INPUT_$(tr 'a-z-' 'A-Z_' <<<"$option")"
    if [ -n "${!variable:-}" ]; then
        arguments+=("--$option=${!variable}")
    fi
done
add_lines "${INPUT_ARGS:-}"
arguments+=("--output=text=$folder/rooflint.txt" --output=github=-)
for ending in json html sarif; do
    arguments+=("--output=$folder/rooflint.$ending")
done
arguments+=("--output=markdown=$GITHUB_STEP_SUMMARY" --)
add_lines "${INPUT_PROFILES:-}"

summary_before="$(wc -c <"$GITHUB_STEP_SUMMARY")"
status=0
rooflint "${arguments[@]}" 2>"$folder/errors.txt" || status=$?
errors="$(cat "$folder/errors.txt")"
rm "$folder/errors.txt"

# What is printed holds names of kernels: no line of it is a command.
token="rooflint-$RANDOM$RANDOM$RANDOM"
echo "::stop-commands::$token"
if [ -s "$folder/rooflint.txt" ]; then
    cat "$folder/rooflint.txt"
fi
if [ -n "$errors" ]; then
    echo "$errors"
fi
echo "::$token::"

case "$status" in
0) verdict=passed ;;
1) verdict=failed ;;
4) verdict=inconclusive ;;
*)
    echo "::error title=rooflint::$(escaped "${errors:-rooflint exited with $status}")"
    # Without a report the summary says at least why.
    if [ "$(wc -c <"$GITHUB_STEP_SUMMARY")" -eq "$summary_before" ]; then
        printf '**rooflint** exited with %s\n\n~~~text\n%s\n~~~\n' "$status" "$errors" >>"$GITHUB_STEP_SUMMARY"
    fi
    finish error "$status"
    ;;
esac
case "$fail_on-$verdict" in
never-* | failed-inconclusive)
    if [ "$status" -ne 0 ]; then
        echo "::warning title=rooflint::$verdict, which does not fail this job (fail-on: $fail_on)"
    fi
    status=0
    ;;
esac
finish "$verdict" "$status"
