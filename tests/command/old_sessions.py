#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""old_sessions.py - the numbers that a report has of a session, from its JSON, whatever the keys were called at the time.
usage: old_sessions.py JSON...              prints them, by the name of the file without its ending
       old_sessions.py --compare NUMBERS JSON...     compares them with those that the command of the time printed; prints
                                            each difference, status 1 if there are any"""
import collections
import json
import os
import sys


def first(row, *keys):
    """The value of the first of these keys that the row has."""
    return next(row[k] for k in keys if k in row)


def sums(rows, name, *values):
    """By name: the sums of the values, each of which may have had several keys."""
    out = collections.defaultdict(lambda: [0] * len(values))
    for row in rows:
        for i, keys in enumerate(values):
            out[name(row)][i] += first(row, *keys)
    return dict(sorted(out.items()))


def text(*keys):
    return lambda row: ' '.join(str(row[k]) for k in keys)


def numbers(d):
    out = {'runtimes': [[r['version'], r['state'], r['modules'], r['methods'], first(r, 'threads_created', 'threads'), r['gcs'],
                         first(r, 'exceptions_thrown', 'exceptions')] for r in d['runtimes']]}
    profile = d.get('profile', d.get('samples'))
    if profile:
        out['samples'] = sum(first(p, 'samples_recorded', 'recorded') for p in profile['processes'])
        # Names of native functions come from the files of the machine that reads.
        managed = [f for f in d.get('profile_functions', d.get('sampled_functions')) if f['runtime'] and f['total_samples']]
        out['sampled functions'] = sums(managed, text('version', 'name'), ['self_samples'], ['total_samples'])
    out['exceptions'] = sums(d.get('exceptions', []), text('version', 'type', 'thrown', 'caught', 'fate'), ['count'])
    out['events'] = dict(sorted(collections.Counter(e['kind'] for e in d.get('events', [])).items()))
    out['collections'] = [[c['version'], c['generation'], c['reason'], c['pause_ns'], first(c, 'freed_bytes', 'freed')]
                          for c in d.get('collections', d.get('gcs', []))]
    for key in ('allocations', 'live', 'native', 'native_live', 'locks'):
        out[key] = sums(d.get(key, []), text('version', 'type'), ['objects', 'blocks', 'waits'], ['bytes', 'wait_ns'])
    out['heap'] = sums(d.get('heap', []), text('runtime', 'type'), ['objects'], ['bytes'])
    out['functions'] = sums(d.get('functions', []), text('signature'), ['calls'], ['self_ns'])
    out['call tree'] = sum(n['calls'] for n in d.get('calltree', []))
    out['values'] = sums(d.get('values', []), text('name'), ['duration_ns'])
    out['instrument'] = sums(d.get('instrument', []), text('name'), ['calls'], ['calls_ended', 'ended'], ['calls_traced', 'traced'])
    out['segments'] = len(d.get('segments', []))
    return {k: v for k, v in out.items() if v}


def main(arguments):
    compare = arguments[:1] == ['--compare']
    known = json.load(open(arguments[1])) if compare else None
    found = {os.path.splitext(os.path.basename(f))[0]: numbers(json.load(open(f))) for f in arguments[2 if compare else 0:]}
    if not compare:
        lines = ['"%s": {\n%s}' % (name, ',\n'.join('  "%s": %s' % (k, json.dumps(v)) for k, v in session.items()))
                 for name, session in found.items()]
        print('{%s}' % ',\n'.join(lines))
        return 0
    wrong = 0
    for session, then in known.items():
        now = json.loads(json.dumps(found.get(session, {})))
        for key in sorted(then.keys() | now.keys()):
            if then.get(key) != now.get(key):
                wrong = 1
                print('%s: %s: %.400s, was %.400s' % (session, key, json.dumps(now.get(key)), json.dumps(then.get(key))))
    return wrong


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
