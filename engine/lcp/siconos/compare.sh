#!/bin/sh
# Side by side with Siconos, in one run: compare.sh [rounds [files]]
# Needs a C compiler and Debian's libsiconos-numerics-dev. files is a pattern of problem files as hil lcp takes them.
set -e
cd "$(dirname "$0")/.."
case "$2" in
'' | /*) files=$2 ;;
*) files=$OLDPWD/$2 ;;
esac
exec go test -count=1 -run '^TestSiconos$' -v . -siconos.rounds "${1:-9}" -siconos.files "$files"
