#!/bin/sh
cat >/dev/null
echo '{"agent":"broken","findings":['
