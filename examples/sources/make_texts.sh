#!/usr/bin/env bash
# Pieces of this tree's own sources as texts, a folder for each language: three lines each, of any length.
#   make_texts.sh FOLDER [N]      at most N of each language, default 1000
set -eu
folder=$1 n=${2:-1000}
tree=$(cd "$(dirname "$0")/../.." && pwd)
pieces() {
  local language=$1
  shift
  mkdir -p "$folder/$language"
  find "$tree/core" "$tree/sdk" "$tree/backends" "$tree/plugins" "$tree/tests" "$tree/docs" "$tree/examples" "$tree/tools" \
    -type f \( "$@" \) | LC_ALL=C sort | xargs cat | LC_ALL=C grep -vE '^[[:space:]]*$' | LC_ALL=C tr -cd '\11\12\40-\176' |
    awk -v n="$n" -v to="$folder/$language" '
      { text = text $0 "\n" }
      NR % 3 == 0 { pieces[++count] = text; text = "" }
      END {  # spread over all files
        for (i = 0; i < n && i < count; ++i) {
          file = sprintf("%s/%05d.txt", to, i)
          printf "%s", pieces[int(i * (count > n ? count / n : 1)) + 1] >file
          close(file)
        }
      }'
}
pieces cmake -name CMakeLists.txt -o -name '*.cmake'
pieces cpp -name '*.cpp' -o -name '*.h' -o -name '*.hpp'
pieces markdown -name '*.md'
pieces python -name '*.py'
pieces shell -name '*.sh'
