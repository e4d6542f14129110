"""Fails if top-level modules of a crate import each other in a circle: check_cycles.py CRATE_SRC..."""

import re
import sys
from pathlib import Path


def imports(source):
    """Which top-level modules use which, tests left out."""
    uses = {}
    for path in sorted(source.rglob("*.rs")):
        module = path.relative_to(source).parts[0].removesuffix(".rs")
        if module in ("lib", "main") or "tests" in path.parts:
            continue
        text = path.read_text().split("#[cfg(test)]")[0]
        text = re.sub(r"//.*", "", text)
        found = uses.setdefault(module, set())
        for group in re.findall(r"\bcrate::(\{[^;]*?\}|\w+)", text, re.S):
            if group.startswith("{"):
                found.update(re.findall(r"(?:^\{|,)\s*(\w+)", flat(group)))
            else:
                found.add(group)
    # Errors are everybody's.
    return {m: {n for n in names if n in uses and n not in (m, "error")} for m, names in uses.items()}


def flat(group):
    """A group of imports without what is inside inner braces."""
    out, depth = "", 0
    for letter in group:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth <= 1:
            out += letter
    return out


def cycle(uses):
    """A path of modules that leads back to its start, if there is one."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module) :] + [module]
        if module in done:
            return None
        path.append(module)
        for other in sorted(uses[module]):
            found = visit(other)
            if found:
                return found
        path.pop()
        done.add(module)
        return None

    for module in sorted(uses):
        found = visit(module)
        if found:
            return found
    return None


def main():
    wrong = False
    for source in sys.argv[1:]:
        found = cycle(imports(Path(source)))
        if found:
            print(f"{source}: import cycle {' -> '.join(found)}")
            wrong = True
    print("import cycles" if wrong else "no import cycles")
    sys.exit(wrong)


if __name__ == "__main__":
    main()
