# SPDX-License-Identifier: MIT
# push_receiver.py - a server that takes what `sxsprof push` sends and keeps it in files.
# usage: push_receiver.py FOLDER [CERTIFICATE KEY [CLIENTS'-CA]]
#
# Prints its port. Each accepted request becomes FOLDER/NUMBER.KIND, with its line, headers and labels in
# NUMBER.json; KIND is pprof or otlp, and the body is what it was before it was compressed. FOLDER/plan
# says how to answer: a line for each request, of which the first is taken away, if there is any: a status with
# headers "503 Retry-After=1", or slow, cut (no answer, the first after 5 s), cut-after (kept, no answer), partial (OTLP).
import base64, email.parser, email.policy, gzip, http.server, json, os, ssl, sys, threading, time, urllib.parse

folder = sys.argv[1]
lock = threading.Lock()
count = 0


def plan():
    path = os.path.join(folder, "plan")
    with lock:
        lines = open(path).read().splitlines() if os.path.exists(path) else []
        if not lines:
            return "200"
        with open(path + ".new", "w") as to:
            to.write("\n".join(lines[1:]))
        os.replace(path + ".new", path)
        return lines[0]


def form(headers, body):
    head = b"Content-Type: " + headers["Content-Type"].encode() + b"\r\n\r\n"
    message = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(head + body)
    return {p.get_param("name", header="Content-Disposition"): p.get_payload(decode=True) for p in message.iter_parts()}


def profiles(handler, body):
    """The kind, bytes and facts of each profile of a request."""
    url = urllib.parse.urlsplit(handler.path)
    kind = handler.headers["Content-Type"].split(";")[0]
    if handler.headers.get("Content-Encoding") == "gzip":
        body = gzip.decompress(body)
    if url.path.endswith("/push.v1.PusherService/Push") and kind == "application/json":
        for series in json.loads(body)["series"]:
            labels = {pair["name"]: pair["value"] for pair in series["labels"]}
            for sample in series["samples"]:
                yield "pprof", base64.b64decode(sample["rawProfile"], validate=True), {"labels": labels, "id": sample["ID"]}
    elif url.path.endswith("/ingest") and kind == "multipart/form-data":
        query = dict(urllib.parse.parse_qsl(url.query, strict_parsing=True))
        parts = form(handler.headers, body)
        yield "pprof", parts["profile"], {"query": query, "config": json.loads(parts["sample_type_config"])}
    elif url.path.endswith("/v1development/profiles") and kind == "application/x-protobuf":
        yield "otlp", body, {}
    else:
        raise ValueError("404")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def keep(self, body):
        global count
        for kind, data, facts in profiles(self, body):
            with lock:
                count += 1
                name = os.path.join(folder, "%04d" % count)
            with open(name + ".part", "wb") as to:
                to.write(data)
            facts["headers"] = dict(self.headers)
            facts["path"] = self.path
            with open(name + ".json", "w") as to:
                json.dump(facts, to)
            os.rename(name + ".part", name + "." + kind)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        how, *headers = plan().split()
        with lock, open(os.path.join(folder, "log"), "a") as log:
            log.write("%.3f %s %s\n" % (time.monotonic(), how, self.path.split("?")[0]))
        if how == "slow":
            time.sleep(5)
        if how in ("slow", "cut"):
            self.connection.close()
            self.close_connection = True
            return
        if how in ("200", "cut-after", "partial"):
            try:
                self.keep(body)
            except ValueError as e:
                self.answer(404 if str(e) == "404" else 400, repr(e).encode())
                return
            if how == "cut-after":
                self.connection.close()
                self.close_connection = True
            elif how == "partial":  # field 1: a message with the fields 1: 2 and 2: "too old"
                self.answer(200, b"\x0a\x0b\x08\x02\x12\x07too old")
            else:
                self.answer(200)
            return
        self.answer(int(how), b"as planned", [h.split("=", 1) for h in headers])


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
if len(sys.argv) > 3:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    if len(sys.argv) > 4:
        context.load_verify_locations(sys.argv[4])
        context.verify_mode = ssl.CERT_REQUIRED
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(server.server_address[1], flush=True)
server.serve_forever()
