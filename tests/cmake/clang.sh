#!/usr/bin/env bash
# A compiler launcher: clang.sh COMPILER COMMAND... runs the command with clang++ in the place of COMPILER. CMake knows one compiler
# of C++ in a project, and GCC instantiates in each source what the headers of a precompiled header use, which is half of the time of
# most tests; clang does it once. CMake's command is one for GCC: what clang does not know of it is left out.
set -eu
replaced=$1
shift

command=()
for word; do
  case $word in
    "$replaced") command+=(clang++) ;;
    -fno-gnu-unique | -fpch-preprocess | --param=* | -Winvalid-pch) ;;
    # A header to precompile. The file of before would be read in its place, and its time say that it is another one. It names the
    # headers by their whole paths, by which clang knows that it has read one, so a compiler cache must not bring that of another folder.
    *.gch)
      rm -f "$word"
      export CCACHE_DISABLE=1
      command+=("$word" -fpch-instantiate-templates -fpch-codegen -Xclang -fno-pch-timestamp)
      ;;
    *) command+=("$word") ;;
  esac
done
exec "${command[@]}"
