#!/usr/bin/env bash
# What is shipped is linked with its symbols bound at the start and its tables read-only, its stack guarded, and the C library's checked
# functions where the compiler knows a buffer's size.
#   hardening_test.sh BUILD
set -eu
build=$1
bad=0
complain() {
  echo "hardening_test: $1" >&2
  bad=1
}
for file in "$build"/lib/libtenon.so "$build"/lib/tenon/plugins/*.so "$build"/lib/tenon/plugins/*/*.so "$build"/bin/tenon; do
  dynamic=$(readelf -dW "$file")
  [[ $dynamic == *BIND_NOW* || $dynamic == *"Flags: NOW"* ]] || complain "$file is not bound at the start (-z now)"
  headers=$(readelf -lW "$file")
  [[ $headers == *GNU_RELRO* ]] || complain "$file has no read-only relocations (-z relro)"
  grep -q 'GNU_STACK.* RW ' <<<"$headers" || complain "$file has a stack that may be executed"
  [[ $(readelf -sW "$file") == *__stack_chk_fail* ]] || complain "$file has no guard on its stack"
done
# Not each file has a buffer that is worth a check.
[[ $(readelf -sW "$build/lib/libtenon.so") == *_chk@* ]] || complain "libtenon.so was built without _FORTIFY_SOURCE"
exit $bad
