#!/usr/bin/env python3
"""Check the prose of Markdown files: sentences are short, and words are those of the field.

    python scripts/check_prose.py FILE... [--most 30]

Prints file, line and sentence of every fault, and exits with 1 if there is one. Code, tables, headings, HTML comments and
the targets of links are left out; inline code counts as one word. A proper use of a listed word is either one of ALLOWED
below, or allowed for one file by a comment in it: `<!-- check_prose: allow preset, guide -->`.

Its own examples: `python -m doctest scripts/check_prose.py`.
"""

import argparse
import re
import sys
from pathlib import Path

MOST = 30

# What is not to be written, by the name that allows it, and what to say instead.
WORDS = {
    "guide": (r"guid(?:e|es|ed)", "teacher"),
    "student": (r"students?", "distilled MLP"),
    "belief": (r"beliefs?", "class probabilities"),
    "sureness": (r"sureness|surer", "confidence"),
    "goes on from": (r"(?:go|goes|going|went|gone) on from", "resumes"),
    "afresh": (r"afresh", "from scratch"),
    "is asked for": (r"(?:is|are|was|were|be|been) asked for", "enabled"),
    "so many": (r"so many", "n, or the number"),
    "preset": (r"presets?", "defaults or recipe"),
    "reinforced loss": (r"reinforced loss(?:es)?", "REINFORCE loss"),
    "deviation": (r"(?<!standard )deviations?", "standard deviation"),
}

# Proper uses.
ALLOWED = ["user guide", "style guide", "so many that", "PhD student", "Student's t"]

ABBREVIATIONS = ["e.g", "i.e", "et al", "cf", "vs", "etc", "approx", "resp", "Fig", "Eq", "Sec", "No", "Dr"]

# Inline code, as one word that no rule knows.
CODE = "`code`"

ALLOW = re.compile(r"<!--\s*check_prose:\s*allow\s+(.*?)\s*-->", re.DOTALL)
ENDS = re.compile(r"""[.!?]["')\]*_]*(?=\s+["'(\[*_]*(?:[A-Z0-9]|`))""")


def blocks(text):
    """Paragraphs and items of lists, as lists of (line number, text).

    >>> blocks("# Title\\n\\nOne\\ntwo.\\n\\n- three\\n- four\\n\\n| a |\\n|---|\\n\\n```\\ncode\\n```\\n")
    [[(3, 'One'), (4, 'two.')], [(6, 'three')], [(7, 'four')]]
    >>> blocks("Text:\\n\\n    indented code\\n\\n- item\\n\\n    and its second paragraph\\n")
    [[(1, 'Text:')], [(5, 'item')], [(7, 'and its second paragraph')]]
    >>> blocks("Title\\n=====\\n\\n> said\\n\\n[name]: https://example.org\\n")
    [[(4, 'said')]]
    """
    # Comments go, but lines keep their numbers.
    text = re.sub(r"<!--.*?-->", lambda found: "\n" * found.group().count("\n"), text, flags=re.DOTALL)
    found, block, fence, in_list, blank = [], [], None, False, True

    def close():
        if block:
            found.append(block.copy())
            block.clear()

    for number, line in enumerate(text.splitlines(), 1):
        stripped = re.sub(r"^(?:>\s?)+", "", line.strip()).strip()
        opening = re.match(r"(`{3,}|~{3,})", stripped)
        if fence:
            if opening and stripped.startswith(fence) and not stripped.strip(fence[0]):
                fence = None
            continue
        if opening:
            close()
            fence = opening.group()
            continue
        item = re.match(r"(?:[-*+]|\d+[.)])\s+(.*)", stripped)
        indented = re.match(r"(?: {4}|\t)", line) is not None
        if not stripped:
            close()
            blank = True
            continue
        if blank and indented and not in_list:
            continue
        blank = False
        if re.fullmatch(r"(?:=+|-+)", stripped) and block:
            # The line under a heading.
            block.clear()
        elif re.match(r"#{1,6}\s|\||\[[^\]]+\]:\s|<[/a-zA-Z]|(?:[-*_]\s*){3,}$", stripped):
            close()
        elif item:
            close()
            in_list = True
            block.append((number, item.group(1)))
        else:
            in_list = in_list and (indented or bool(block) or line.startswith(" "))
            block.append((number, stripped))
    close()
    return found


def plain(text):
    """Text as it is read: links without their targets, code as one word.

    >>> plain("See [the **long** list](docs/a_b.md), `adjoin train --seeds 2` and <https://example.org>.")
    'See the long list, `code` and .'
    >>> plain("![a picture](x.png) and ``a ` b``")
    'a picture and `code`'
    """
    text = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", CODE, text)
    text = re.sub(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r"<https?://[^>]*>", "", text)
    return re.sub(r"\*\*|__", "", text)


def sentences(block):
    """Sentences of a block with the lines they begin on.

    >>> list(sentences([(1, "It is so, e.g. here."), (2, "Was it 0.5? Yes"), (3, "it was.")]))
    [(1, 'It is so, e.g. here.'), (2, 'Was it 0.5?'), (2, 'Yes it was.')]
    >>> list(sentences([(7, "By Li et al. No end"), (8, "[here](a.b). And [there](c.d)")]))
    [(7, 'By Li et al. No end here.'), (8, 'And there')]
    """
    # A link or code may cross lines: mark where lines begin with a character that no text holds.
    text = plain("".join(f"\0{line}" if at else line for at, (_, line) in enumerate(block)))
    numbers = [number for number, _ in block]
    spaced = text.replace("\0", " ")
    begin = 0
    for end in [*ends(spaced), len(spaced)]:
        sentence = spaced[begin:end].strip()
        if sentence:
            before = text[:end - len(spaced[begin:end].lstrip())]
            yield numbers[min(before.count("\0"), len(numbers) - 1)], re.sub(r"\s+", " ", sentence)
        begin = end


def ends(text):
    """Where sentences end, but for the last."""
    for found in ENDS.finditer(text):
        before = text[:found.start()]
        if not any(re.search(rf"(?<!\w){re.escape(short)}$", before) for short in ABBREVIATIONS):
            yield found.end()


def length(sentence):
    """Words of a sentence; signs alone are none.

    >>> length("82.4 ± 0.5 is `code` - well-known, isn't it?")
    7
    """
    return sum(any(c.isalnum() for c in word) for word in sentence.split())


def faults(sentence, allowed, most=MOST):
    """What is wrong with a sentence.

    >>> faults("The preset is a guide.", {"guide"})
    ['"preset": say defaults or recipe']
    >>> faults("A standard deviation, a deviation and a user guide.", set())
    ['"deviation": say standard deviation']
    >>> faults("One two three.", set(), 2)
    ['3 words, at most 2']
    """
    words = length(sentence)
    found = [f"{words} words, at most {most}"] if words > most else []
    proper = "|".join(re.escape(phrase) for phrase in ALLOWED)
    rest = re.sub(rf"\b(?:{proper})\b", " ", sentence, flags=re.IGNORECASE)
    for name, (pattern, instead) in WORDS.items():
        if name not in allowed:
            uses = re.findall(rf"\b(?:{pattern})\b", rest, re.IGNORECASE)
            found += [f'"{use}": say {instead}' for use in uses]
    return found


def check(path, text, most):
    """Lines that say what is wrong with a file."""
    allowed = {name.strip() for names in ALLOW.findall(text) for name in names.split(",")}
    unknown = sorted(allowed - WORDS.keys())
    found = [f"{path}: allows {name!r}, which is not one of {', '.join(WORDS)}" for name in unknown]
    for block in blocks(text):
        for line, sentence in sentences(block):
            found += [f"{path}:{line}: {fault}: {sentence}" for fault in faults(sentence, allowed, most)]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--most", type=int, default=MOST, metavar="N", help=f"words of a sentence; default {MOST}")
    arguments = parser.parse_args()
    found = []
    for name in arguments.files:
        found += check(name, Path(name).read_text(encoding="utf-8"), arguments.most)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
