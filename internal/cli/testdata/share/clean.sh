#!/bin/sh
cat >/dev/null
echo '{"agent":"clean","prNumber":7,"conclusion":"approve","issues":{"p0_blocking":0,"p1_critical":0,"p2_important":0,"p3_suggestion":0},"findings":[],"fullReport":"Fine."}'
