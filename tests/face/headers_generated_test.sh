#!/usr/bin/env bash
# The headers of the bundled packs and docs/ops.md are what the packs give.
#   headers_generated_test.sh BUILD SOURCE
set -eu
exec bash "$2/tools/generate_headers.sh" "$1" --check
