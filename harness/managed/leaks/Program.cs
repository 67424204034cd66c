// SPDX-License-Identifier: MIT
using System;

internal static class Program
{
    private static int Main() => 0;
}
