# SPDX-License-Identifier: MIT
"""routes_client.py URL SECONDS - asks the app `routes` for every kind of route, four requests at once, for so many seconds
and at least ROUNDS times each, and then prints "requests N NAME" for each name of an endpoint, in the words of the app's
templates. The requests of the first of the four all belong to one trace."""
import http.client
import sys
import threading
import time
import urllib.parse
import uuid

# What is asked for, and what the endpoint is called.
KINDS = [
    (lambda n: f"/order/{n}", "/order/{id}"),
    (lambda n: f"/hop/{n}", "/hop/{id:int}"),
    (lambda n: f"/orders/x{n}", "/orders/{id}"),
    (lambda n: f"/group/t{n}/user/{uuid.UUID(int=n + 1)}", "/group/{tenant}/user/{id}"),
    (lambda n: f"/child/{n}", "/child/{id}"),
    (lambda n: f"/mvc/shop/item/{n}", "/mvc/Shop/item/{id}"),
    (lambda n: f"/plain/Plain/Show/{n}", "Routes.PlainController.Show (routes)"),
    (lambda n: f"/static/{n}/{uuid.UUID(int=n + 1)}", "/static/{number}/{guid}"),
]
ROUNDS = 10  # a busy machine answers few requests in a time
TRACE = {"traceparent": "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"}


def work(address, until, first, counts):
    connection = http.client.HTTPConnection(address, timeout=60)
    n = first
    while time.monotonic() < until or n < first + ROUNDS * len(KINDS):
        path, name = KINDS[n % len(KINDS)]
        connection.request("GET", path(n), headers=TRACE if first == 0 else {})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 200, (path(n), answer.status)
        counts[name] = counts.get(name, 0) + 1
        n += 1


def main():
    address = urllib.parse.urlsplit(sys.argv[1]).netloc
    until = time.monotonic() + float(sys.argv[2])
    all_counts = [{} for _ in range(4)]
    threads = [threading.Thread(target=work, args=(address, until, 1000 * i + 2 * i, c)) for i, c in enumerate(all_counts)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for _, name in KINDS:
        print("requests", sum(c.get(name, 0) for c in all_counts), name)


main()
