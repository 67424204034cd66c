# SPDX-License-Identifier: MIT
# java.sh - runs tests/hosts/programs/java/Host.java, which setup/hosts.sh has compiled. The JVM's
# memory is limited and its counter files are disabled, so that all runs are alike.
exec java -Xmx64m -Xss1m -XX:+UseSerialGC -XX:-UsePerfData -cp "$HOSTS_BUILD/hosts" Host "$HOSTS_BUILD/hosts/libhost_jni.so"
