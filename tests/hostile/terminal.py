# SPDX-License-Identifier: MIT
"""terminal.py - the other side of tests/hostile/terminal.sh: a process, a server, and a file with texts that control
a terminal, forge a line, or hide what they are.

    terminal.py text                   prints the text, for arguments and names of files; it has no '/'
    terminal.py process A B READY      maps the files A and B; answers on the control socket of its process with such texts
    terminal.py server READY           an HTTP server whose answers are refusals with such texts
    terminal.py spoil FOLDER NAME...   replaces the names in all files of FOLDER by such texts of the same size
    terminal.py clean NAME FILE...     says what in the files would reach a terminal; status 1 if anything would"""
import ctypes
import http.server
import mmap
import os
import socket
import sys
import threading
import unicodedata

TEXT = ('a\x1b]0;own\x07\x1b[2J\u009b1m\nFORGED\r\t\x7f\u202eb\u2066c\u200bd\u2028e\ufefff\U000e0041\u061c').encode() + b'\x9b0m\xff'
VALUE = TEXT.replace(b'\n', b'\\n').replace(b'\r', b'')
SMALL = b'\x1b[m\n\x9bm\xc2\x9b1\xe2\x80\xae'


def play_control(error):
    with open('/proc/self/stat', encoding='utf-8', errors='replace') as stat:
        start = stat.read().rsplit(')', 1)[1].split()[19]
    listener = socket.socket(socket.AF_UNIX)
    listener.bind('\0sxsprof/%d/%s' % (os.getpid(), start))
    listener.listen(8)
    fields = [b'why', b'version', b'id', b'tools', b'out', b'ring', b'waits_for']
    answer = b''.join(name + b'=' + VALUE + b'\n' for name in fields)
    answer += b'phase=on\nnumber=1\nstarted_ns=1\npid=1\n'
    answer += b'runtime=1 %s %s live /%s\n\n' % (VALUE.replace(b' ', b''), VALUE, VALUE)
    while True:
        one, _ = listener.accept()
        one.recv(16384)
        try:
            one.sendall((b'error\n' if os.path.exists(error) else b'ok\n') + answer)
        except OSError:
            pass
        one.close()


def play_process(paths, ready):
    mapped = []
    for path in paths:
        with open(path, 'rb') as file:
            mapped.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
    ctypes.CDLL(None).prctl(15, SMALL, 0, 0, 0)
    threading.Thread(target=play_control, args=(ready + '.error',), daemon=True).start()
    open(ready, 'w', encoding='utf-8').close()
    threading.Event().wait(600)
    del mapped


class Refusal(http.server.BaseHTTPRequestHandler):
    def refuse(self):
        self.rfile.read(int(self.headers.get('Content-Length', 0)))
        self.wfile.write(b'HTTP/1.1 400 ' + TEXT.replace(b'\n', b'').replace(b'\r', b'') + b'\r\nContent-Length: %d\r\n'
                         b'Connection: close\r\n\r\n' % len(TEXT) + TEXT)
        self.close_connection = True

    do_GET = do_POST = do_PUT = refuse

    def log_message(self, *_):
        pass


def play_server(ready):
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Refusal)
    with open(ready + '.new', 'w', encoding='utf-8') as to:
        print(server.server_address[1], file=to)
    os.rename(ready + '.new', ready)
    server.serve_forever()


def spoil(folder, names):
    done = 0
    for where, _, files in os.walk(folder):
        for name in files:
            path = os.path.join(where, name)
            with open(path, 'rb') as file:
                data = file.read()
            changed = data
            for text in names:
                text = text.encode()
                changed = changed.replace(text, (SMALL + b'FORGED' * 20)[:len(text)])
            if changed != data:
                done += 1
                with open(path, 'r+b') as file:
                    file.write(changed)
    return 0 if done else 1


def is_bad(c):
    return (c != '\n' and unicodedata.category(c) in ('Cc', 'Cf', 'Zl', 'Zp', 'Cs')) or 0xe0000 <= ord(c) < 0xe1000


def clean(name, paths):
    bad, name = 0, ascii(name)
    for path in paths:
        with open(path, 'rb') as file:
            data = file.read()
        try:
            text = data.decode()
        except UnicodeDecodeError as error:
            print('%s: %s: not UTF-8: %r' % (name, path, data[max(0, error.start - 40):error.start + 10]))
            bad, text = 1, data.decode(errors='replace')
        for line in text.split('\n'):
            if line.startswith('FORGED') or any(map(is_bad, line)):
                print('%s: %s: %r' % (name, os.path.basename(path), line[:200]))
                bad = 1
                break
    return bad


if __name__ == '__main__':
    what, rest = sys.argv[1], [os.fsencode(a).decode(errors='surrogateescape') for a in sys.argv[2:]]
    if what == 'text':
        sys.stdout.buffer.write(TEXT)
    elif what == 'process':
        play_process(rest[:2], rest[2])
    elif what == 'server':
        play_server(rest[0])
    elif what == 'spoil':
        sys.exit(spoil(rest[0], rest[1:]))
    else:
        sys.exit(clean(rest[0], rest[1:]))
