#!/bin/bash
# make docs: the book, the handouts and the API as a web site, build/site/index.html.
# make test-docs (--test): makes it, and tests it in a browser where Chromium is installed.
. "$(dirname "$0")/common.sh"
set_up --docs
need_build_folder
"$python" theory/check_book.py || fail "the book does not agree with itself, see above"
step "making the site ..."
"$python" common/docs/make_site.py || exit 2
if [ "${1:-}" = --test ]; then
  "$python" -m unittest discover -s common/docs -p 'test_*.py' -v || exit 1
fi
say "open build/site/index.html in a browser; it needs no network"
