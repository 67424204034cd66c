# SPDX-License-Identifier: MIT
"""sigsafe_ast.py - finds functions, marks and calls in clang's syntax tree, in which macros are
expanded and types are known."""
import json
import subprocess

from sigsafe_rules import Function

WRAPPERS = {"ImplicitCastExpr", "ParenExpr", "CStyleCastExpr", "UnaryOperator"}


def tree(path, flags):
    command = ["clang", "-fsyntax-only", "-w", "-Xclang", "-ast-dump=json", *flags, path]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{path}: clang does not compile it:\n{done.stderr.decode()}")
    return json.loads(done.stdout)


def offset(node):
    begin = node["range"]["begin"]
    return begin.get("expansionLoc", begin).get("offset", 0)


def callee_text(node):
    """Returns the callee as "fn", "table.member" or "pointer->member"; "?" for anything else."""
    while node["kind"] in WRAPPERS and node.get("inner"):
        node = node["inner"][0]
    if node["kind"] == "DeclRefExpr":
        return node["referencedDecl"]["name"]
    if node["kind"] == "MemberExpr":
        dot = "->" if node.get("isArrow") else "."
        text = callee_text(node["inner"][0]) + dot + node["name"]
        return text.replace(".__sigaction_handler.", ".")  # sa_handler is a macro
    return "?"


def calls(node):
    """Yields (text, offset) of each call below a node."""
    todo = [node]
    while todo:
        at = todo.pop()
        if at.get("kind") == "CallExpr":
            yield callee_text(at["inner"][0]), offset(at)
        todo.extend(child for child in at.get("inner", ()) if child)


def is_marked(node):
    return any(child.get("kind") == "AnnotateAttr" for child in node.get("inner", ()))


def read_functions(path, flags):
    """Returns the functions that the file `path` defines, and the marked names in its headers."""
    with open(path, "rb") as f:
        text = f.read()
    functions, marked = [], set()
    for node in tree(path, flags)["inner"]:
        if node.get("kind") != "FunctionDecl":
            continue
        if is_marked(node):
            marked.add(node["name"])
        loc = node["loc"].get("expansionLoc", node["loc"])
        body = [c for c in node.get("inner", ()) if c.get("kind") == "CompoundStmt"]
        if body and "includedFrom" not in loc:
            functions.append(Function(
                path, node["name"], text.count(b"\n", 0, offset(node)) + 1, is_marked(node),
                [(name, text.count(b"\n", 0, at) + 1) for name, at in calls(body[0])]))
    static = {f.name for f in functions if f.marked}
    return functions, marked - static


def read_all(paths, flags):
    functions, marked = [], set()
    for path in paths:
        found, names = read_functions(path, flags)
        functions += found
        marked |= names
    return functions, marked
