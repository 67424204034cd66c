# SPDX-License-Identifier: MIT
# plain_dotnet.sh - runs `dotnet app.dll` and `dotnet build` under sxsprof run: both work and are counted.
. "$(dirname "$0")/lib.sh"
need_real 3
command -v dotnet >/dev/null || skip_all "plain dotnet" "there is no dotnet command"
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 MSBUILDDISABLENODEREUSE=1 DOTNET_CLI_HOME="$tmp"
export NUGET_PACKAGES="${NUGET_PACKAGES:-$HOME/.nuget/packages}"

dotnet "$BUILD/managed/stress/stress.dll" nre=50 div=50 gcs=10 loops=1 pool=50 >"$tmp/plain" 2>&1
"$sxsprof" run -o "$tmp/app" -- dotnet "$BUILD/managed/stress/stress.dll" nre=50 div=50 gcs=10 loops=1 pool=50 >"$tmp/under" 2>"$tmp/err"
s=$?
if [ $s -eq 0 ] && cmp -s "$tmp/plain" "$tmp/under"; then ok "dotnet app.dll prints under sxsprof run what it prints alone"
else cat "$tmp/err" >>"$tmp/under"; not_ok "dotnet app.dll under sxsprof run: status $s" "$tmp/under"; fi
"$sxsprof" report --format json "$tmp/app" >"$tmp/json"
if [ "$(jsonq "$tmp/json" 'len(r)==1 and r[0]["state"]=="picked" and r[0]["methods"]>0 and r[0]["gcs"]>=10 and r[0]["signals"]>0')" = True ]
then ok "the session of dotnet app.dll has its methods, collections and signals"
else not_ok "the counts of dotnet app.dll" "$tmp/json"; fi
"$sxsprof" run --quiet -- dotnet "$BUILD/managed/hello/hello.dll" 7 >/dev/null 2>&1
[ $? -eq 7 ]; check "sxsprof run ends with the exit status of dotnet app.dll" $?

mkdir "$tmp/project"
cat >"$tmp/project/a.csproj" <<'E2'
<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType>
<TargetFramework>net8.0</TargetFramework><RollForward>LatestMajor</RollForward><UseAppHost>false</UseAppHost>
<NuGetAudit>false</NuGetAudit><DisableTransitiveFrameworkReferenceDownloads>true</DisableTransitiveFrameworkReferenceDownloads>
</PropertyGroup></Project>
E2
echo 'System.Console.WriteLine("built and run");' >"$tmp/project/a.cs"
( cd "$tmp/project" && timeout -k 5 300 "$OLDPWD/$sxsprof" run -o "$tmp/build" -- dotnet build -c Release \
    --disable-build-servers -p:UseSharedCompilation=false -o "$tmp/project/out" ) >"$tmp/log" 2>&1
check "dotnet build succeeds under sxsprof run" $? "$tmp/log"
[ "$(dotnet "$tmp/project/out/a.dll" 2>&1)" = "built and run" ]
check "the program built under sxsprof run works" $? "$tmp/log"
"$sxsprof" report --format json "$tmp/build" >"$tmp/json"
[ "$(jsonq "$tmp/json" 'len(set(x["pid"] for x in r))>=2 and sum(x["methods"] for x in r)>1000')" = True ]
check "the compiler of dotnet build, a process of its own, is in the session too" $? "$tmp/json"
finish
