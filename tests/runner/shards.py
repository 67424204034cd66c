# SPDX-License-Identifier: MIT
"""Divides test programs into shards, for machines that each run a part of the tests."""


def parse(text):
    """Returns (k, n) of "K/N". Raises ValueError with a message when it is not such a text, or K is not in 1 to N."""
    first, slash, second = text.partition("/")
    if slash and first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second):
        return int(first), int(second)
    raise ValueError("SHARD: '%s': expected K/N, with K from 1 to N, such as 1/4" % text)


def divide(programs, n):
    """Divides programs into @n shards that take about the same time. @programs: {name: seconds}.

    Returns a list of @n lists of names. Each name is in one of them. The longest program comes first, and each
    goes to the shard with the least time so far. The result depends on @programs and @n alone, so all machines
    that run the same tests get the same shards, in whichever order they list them.
    """
    shards = [[] for _ in range(n)]
    times = [0.0] * n
    for name in sorted(programs, key=lambda name: (-programs[name], name)):
        # Of shards with equal times the one with fewer programs: programs that take no time are divided, too.
        k = min(range(n), key=lambda k: (times[k], len(shards[k])))
        shards[k].append(name)
        times[k] += programs[name]
    return shards
