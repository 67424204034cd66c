# SPDX-License-Identifier: MIT
# java.sh - runs tests/hosts/java/Host.java, compiled by setup/hosts.sh. The JVM's memory is limited, and its
# files of counters are left out, so that runs are alike.
exec java -Xmx64m -Xss1m -XX:+UseSerialGC -XX:-UsePerfData -cp "$HOSTS_BUILD/hosts" Host "$HOSTS_BUILD/hosts/libhost_jni.so"
