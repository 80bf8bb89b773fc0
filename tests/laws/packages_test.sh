#!/usr/bin/env bash
# How quickstart and test install packages: only what is missing, as root or through sudo, without a question. dpkg-query, apt-get,
# id and sudo are played by functions that note how they were called.
set -eu
. "$(dirname "$0")/../../.ci/packages.sh"

notes=$(mktemp)
trap 'rm -f "$notes" "$notes.out"' EXIT
user=0 sudo_works=yes
# shellcheck disable=SC2317
{
  dpkg-query() { case "${!#}" in present*) printf installed ;; removed*) printf config-files ;; *) return 1 ;; esac; }
  apt-get() { echo "apt-get $* [${DEBIAN_FRONTEND-}]" >>"$notes"; }
  env() { local "$1"; shift; export DEBIAN_FRONTEND; "$@"; }
  id() { echo $user; }
  sudo() {
    [ "$sudo_works" = yes ] || return 1
    echo "sudo $*" >>"$notes"
    shift
    "$@"
  }
}

fail() {
  echo "packages_test: $1" >&2
  cat "$notes" >&2
  exit 1
}

install_packages present-a present-b >"$notes.out"
if [ -s "$notes" ] || [ -s "$notes.out" ]; then fail "does something where all are present"; fi

install_packages present-a absent-b removed-c >"$notes.out"
grep -q ': absent-b removed-c$' "$notes.out" || fail "does not say what it installs"
grep -q '^apt-get .*update' "$notes" || fail "does not update the lists first"
grep -q '^apt-get .*install -y --no-install-recommends .* absent-b removed-c \[noninteractive\]$' "$notes" ||
  fail "does not install without questions"
! grep -q present-a "$notes" || fail "installs what is there"
! grep -q sudo "$notes" || fail "asks sudo as root"

: >"$notes"
user=1000
install_packages absent-b >/dev/null
grep -q '^sudo -n apt-get' "$notes" || fail "does not use sudo as a user"

sudo_works=no
if message=$(install_packages absent-b 2>&1); then fail "goes on without root"; fi
case $message in *"apt-get install --no-install-recommends absent-b"*) ;; *) fail "does not say what to do: $message" ;; esac
