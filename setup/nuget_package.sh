# SPDX-License-Identifier: MIT
# Sourced: how a package comes through NuGet. dotnet_env.sh comes first.

# restore_package WORK PACKAGE VERSION [OPTION]... - into WORK/packages. A project without code or
# references: NuGet downloads the package it names, and that is all.
restore_package() {
    work=$1 package=$2 version=$3
    shift 3
    mkdir -p "$work" || return 1
    cat >"$work/fetch.csproj" <<PROJECT
<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <TargetFramework>netstandard2.0</TargetFramework>
    <DisableImplicitFrameworkReferences>true</DisableImplicitFrameworkReferences>
    <RestorePackagesPath>$work/packages</RestorePackagesPath>
    <NuGetAudit>false</NuGetAudit>
  </PropertyGroup>
  <ItemGroup>
    <PackageDownload Include="$package" Version="[$version]" />
  </ItemGroup>
</Project>
PROJECT
    # Files above must not have their say in this project.
    echo '<Project />' >"$work/Directory.Build.props"
    echo '<Project />' >"$work/Directory.Build.targets"
    (cd "$work" && dotnet restore fetch.csproj --disable-build-servers "$@") 9>&-
}
