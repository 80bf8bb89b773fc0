#!/usr/bin/env bash
# Files of tokenizers that libFuzzer makes of those in corpus/tokenizers, for a minute, with AddressSanitizer and
# UndefinedBehaviorSanitizer. Only in the long form (TENON_TEST_LONG=1), and where clang++ is there: it compiles the plugin anew.
#   tokenizer_fuzz_test.sh SOURCE [SECONDS]
set -eu
source=$1 seconds=${2:-60}
if [ "${TENON_TEST_LONG:-0}" = 0 ] || ! command -v clang++ >/dev/null; then
  echo "tokenizer_fuzz_test: nothing is done without TENON_TEST_LONG=1 and clang++"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export flags="-std=c++20 -O1 -g1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -DFMT_HEADER_ONLY
  -I$source/sdk/include -I$source/plugins/files -I$source/plugins/tokenizers" work
compile() {
  # shellcheck disable=SC2086
  clang++ $flags -c "$1" -o "$work/$(basename "$1" .cpp).o"
}
export -f compile
find "$source"/plugins/tokenizers/*.cpp "$source/tests/fuzz/tokenizer_fuzz.cpp" ! -name tokenizers.cpp -print0 |
  xargs -0 -P 2 -I '{}' bash -c 'compile "$1"' - '{}'
clang++ -fsanitize=fuzzer,address,undefined "$work"/*.o -licui18n -licuuc -o "$work/fuzz"

# Words of the format, as libFuzzer's dictionary has them.
grep -aohE '"[A-Za-z_]{3,}"' "$source"/plugins/tokenizers/*.cpp "$source"/tests/fuzz/corpus/tokenizers/* | sort -u |
  sed 's/^"\(.*\)"$/"\\"\1\\""/' >"$work/words"
mkdir "$work/corpus"
"$work/fuzz" -dict="$work/words" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=4096 -verbosity=0 -print_final_stats=1 \
  -artifact_prefix="${TMPDIR:-/tmp}/tokenizer_fuzz." "$work/corpus" "$source/tests/fuzz/corpus/tokenizers"
