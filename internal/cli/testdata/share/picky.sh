#!/bin/sh
cat >/dev/null
cat "$(dirname "$0")/picky.json"
