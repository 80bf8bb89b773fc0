#!/usr/bin/env bash
# Installs the build into a folder and builds examples/hello_ops against it by find_package, with no path into the sources. The
# header that `tenon header` writes of the plugin is the one that the example keeps beside it.
#   hello_ops_build.sh BUILD SOURCE TARGET
set -eu
build=$1 source=$2 target=$3
rm -rf "$target"
cmake --install "$build" --prefix "$target/install" >/dev/null
cp -r "$source/examples/hello_ops" "$target/source"
cmake -S "$target/source" -B "$target/build" -DCMAKE_PREFIX_PATH="$target/install" >/dev/null
cmake --build "$target/build"
"$target/install/bin/tenon" header "$target/build/libhello_ops.so" -o "$target/hello_ops.hpp"
diff -u "$source/examples/hello_ops/hello_ops.hpp" "$target/hello_ops.hpp" || {
  echo "hello_ops_build: examples/hello_ops/hello_ops.hpp is not what \`tenon header\` writes" >&2
  exit 1
}
# A library that was found by a relative path has its plugins beside it all the same.
(cd "$target/install" && env -u TENON_PLUGIN_PATH LD_LIBRARY_PATH=lib bin/tenon ops --json | grep -q '"matmul"') || {
  echo "hello_ops_build: tenon of a relative LD_LIBRARY_PATH finds no plugins" >&2
  exit 1
}
