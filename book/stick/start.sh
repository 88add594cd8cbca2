#!/bin/sh
# Linux: `sh start.sh` in this folder.
cd "$(dirname "$0")" || exit 1
for python in python3 python; do
  command -v "$python" >/dev/null 2>&1 && exec "$python" serve.py "$@"
done
echo "tile-by-tile: no Python is here: install python3, or open site/index.html in a browser to read without running anything" >&2
exit 1
