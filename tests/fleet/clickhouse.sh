#!/bin/sh
# SPDX-License-Identifier: MIT
# clickhouse.sh - runs a command beside a ClickHouse server of its own: Debian's package, not as a
# service, on the loopback address, with all its data in one folder.
# usage: clickhouse.sh DIR COMMAND [ARGUMENT...]
# The command finds the server's port for HTTP in CLICKHOUSE_PORT, its process in CLICKHOUSE_PID. The server ends with the command;
# DIR stays. CLICKHOUSE_COMPRESSION=zstd: its data compressed by ZSTD in place of LZ4.
# Exit status: that of the command; 127 when there is no server; 126 when it does not start.
set -u
server=$(PATH=$PATH:/usr/sbin:/sbin command -v clickhouse-server) || exit 127
folder=$1
shift
mkdir -p "$folder/data/tmp" || exit 126
ports=$(python3 -c 'import socket
s = [socket.socket() for _ in range(3)]
[x.bind(("127.0.0.1", 0)) for x in s]
print(*[x.getsockname()[1] for x in s])') || exit 126
read -r http tcp inter <<P
$ports
P
compression=
[ -z "${CLICKHOUSE_COMPRESSION:-}" ] || compression="<compression><case><min_part_size>0</min_part_size>
<min_part_size_ratio>0</min_part_size_ratio><method>$CLICKHOUSE_COMPRESSION</method></case></compression>"
cat >"$folder/config.xml" <<C
<?xml version="1.0"?>
<yandex>
    <logger><level>warning</level><log>$folder/server.log</log><errorlog>$folder/error.log</errorlog></logger>
    <listen_host>127.0.0.1</listen_host>
    <http_port>$http</http_port>
    <tcp_port>$tcp</tcp_port>
    <interserver_http_port>$inter</interserver_http_port>
    <interserver_http_host>127.0.0.1</interserver_http_host>
    <path>$folder/data/</path>
    <tmp_path>$folder/data/tmp/</tmp_path>
    <mark_cache_size>1073741824</mark_cache_size>
    <users_config>users.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
    <timezone>UTC</timezone>
    $compression
</yandex>
C
user() { # NAME PASSWORD PROFILE
    echo "<$1><password>$2</password><networks><ip>127.0.0.1</ip></networks><profile>$3</profile><quota>default</quota></$1>"
}
cat >"$folder/users.xml" <<C
<?xml version="1.0"?>
<yandex>
    <profiles>
        <default><max_memory_usage>6000000000</max_memory_usage></default>
        <readonly><readonly>1</readonly></readonly>
    </profiles>
    <users>
        $(user default '' default)
        $(user writer "it's \"so\"&amp;\\#" default)
        $(user reader r readonly)
    </users>
    <quotas><default/></quotas>
</yandex>
C
setsid "$server" --config-file="$folder/config.xml" >"$folder/output" 2>&1 &
pid=$!
stop() {
    kill "$pid" 2>/dev/null
    for _ in $(seq 300); do
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null
    wait "$pid" 2>/dev/null
}
trap stop EXIT
trap 'exit 130' INT TERM HUP
for _ in $(seq 600); do
    python3 - "$http" <<'P' 2>/dev/null && break
import sys, urllib.request
sys.exit(urllib.request.urlopen("http://127.0.0.1:%s/" % sys.argv[1], timeout=5).read() != b"Ok.\n")
P
    kill -0 "$pid" 2>/dev/null || exit 126
    sleep 0.1
done
CLICKHOUSE_PORT=$http CLICKHOUSE_PID=$pid "$@"
