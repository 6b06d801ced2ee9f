"""The front end without its shortcuts: the whole module through Lark, every statement bound from its tree."""

from __future__ import annotations

from ptx2amd.ptx import grammar
from ptx2amd.ptx.ast import BranchTargets, Label, Loc, Module, Proto, Scope
from ptx2amd.ptx.body import BodyParser
from ptx2amd.ptx.build import Builder
from ptx2amd.ptx.fragment import Block, Head, Statement
from ptx2amd.ptx.scope import Names


def bodies(module: Module, text: str) -> dict[str, Scope]:
    """Function name -> its Scope, made from the tree of `text`; names are looked up in `module`."""
    tree = Builder().transform(grammar.parse(text.rstrip("\0"), "module"))
    found = {}
    for node in tree.children:
        if getattr(node, "data", "") == "function" and len(node.children) == 2:
            head, block = node.children
            assert isinstance(head, Head)
            parser = BodyParser(module, module.functions[head.proto.name])
            for var in (*head.proto.results, *head.proto.params):
                parser.names.declare(var)
            _fill(parser, block)
            found[head.proto.name] = parser.scope
    return found


def _fill(parser: BodyParser, block: Block) -> None:
    for item in block.items:
        if isinstance(item, Statement):
            parser.line = item.line
            parser._parsed(item)
        elif isinstance(item, Label):
            parser.names.declare_label(item.name)
            parser.scope.items.append(item)
        elif isinstance(item, list):
            for var in item:
                parser.names.declare(var)
                parser.scope.items.append(var)
        elif isinstance(item, Block):
            outer, scope = parser.names, parser.scope
            parser.names, parser.scope = Names(parser.module, outer), Scope([])
            scope.items.append(parser.scope)
            _fill(parser, item)
            parser.names, parser.scope = outer, scope
        elif isinstance(item, Proto | BranchTargets):
            parser.names.declare_symbol(item.name, "&proto" if isinstance(item, Proto) else "&targets", item)
            parser.scope.items.append(item)
        elif isinstance(item, Loc):
            parser.scope.items.append(item)
