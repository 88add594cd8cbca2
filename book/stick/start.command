#!/bin/sh
# macOS: double-click, or `sh start.command` in this folder.
exec sh "$(dirname "$0")/start.sh" "$@"
