#!/usr/bin/env bash
# Files of each format that libFuzzer makes of a few, for a minute each, with AddressSanitizer and UndefinedBehaviorSanitizer.
# Only in the long form (TENON_TEST_LONG=1), and where clang++ is there: it compiles the readers anew.
#   file_fuzz_test.sh SOURCE BUILD [SECONDS [FORMAT...]]
# shellcheck disable=SC2016
set -eu
source=$1 build=$2 seconds=${3:-60}
formats=("${@:4}")
if [ "${TENON_TEST_LONG:-0}" = 0 ] || ! command -v clang++ >/dev/null; then
  echo "file_fuzz_test: nothing is done without TENON_TEST_LONG=1 and clang++"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export flags="-std=c++20 -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -DFMT_HEADER_ONLY
  -DTENON_FILES_ZLIB -DTENON_FUZZ_IMAGES -I$source/sdk/include -I$source/plugins/files -I$source/plugins/images -I$source/sdk/cli
  -I$source/tests/fuzz -I$source/tests/support" work
compile() {
  # shellcheck disable=SC2086
  clang++ $flags -c "$1" -o "$work/$(basename "$1" .cpp).$(dirname "$1" | md5sum | head -c 6).o"
}
export -f compile
# Of the plugins what knows no tensors, and of the command what reads the files of trainings.
{
  find "$source/plugins/files" "$source/plugins/images" -name '*.cpp' ! -name files.cpp ! -name arrays.cpp ! -name images.cpp
  printf "$source/sdk/cli/%s.cpp\n" config description formula_schedule json schedules augment text
  printf "$source/tests/fuzz/%s.cpp\n" file_fuzz file_formats file_corpus picture_corpus
} | xargs -P 2 -I '{}' bash -c 'compile "$1"' - '{}'
clang++ -fsanitize=fuzzer,address,undefined "$work"/*.o -L"$build/lib" -ltenon -Wl,-rpath,"$build/lib" -lspng -ljpeg -lz -o "$work/fuzz"

TENON_FUZZ_CORPUS=$work/corpus "$work/fuzz" >"$work/formats"
[ ${#formats[@]} -gt 0 ] || mapfile -t formats <"$work/formats"
# Words of the formats, as libFuzzer's dictionary has them.
grep -ohE '"[A-Za-z_]{3,}"' "$source"/plugins/files/{npy,safetensors*}.cpp "$source"/sdk/cli/{config,formula_schedule,schedules,augment,description}.cpp |
  sort -u | sed 's/^"\(.*\)"$/"\\"\1\\""/' >"$work/words"
try() {
  local format=$1 options="-max_len=4096"
  [ "$format" != cifar ] || options="-max_len=16384"
  case $format in safetensors | training | npy) options="$options -dict=$work/words" ;; esac
  mkdir "$work/found.$format"
  # shellcheck disable=SC2086
  TENON_FUZZ_FORMAT=$format "$work/fuzz" $options -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="${TMPDIR:-/tmp}/file_fuzz.$format." "$work/found.$format" "$work/corpus/$format" \
    >"$work/$format.log" 2>&1 && code=0 || code=$?
  echo "$format: $(grep -o 'number_of_executed_units:.*' "$work/$format.log") (code $code)"
  [ "$code" = 0 ] || tail -60 "$work/$format.log"
  return "$code"
}
export -f try
export seconds
printf '%s\n' "${formats[@]}" | xargs -P 2 -I '{}' bash -c 'try "$1"' - '{}'
