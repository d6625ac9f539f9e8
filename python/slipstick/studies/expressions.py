"""Outputs of a case: expressions over the report of its run. Numbers, comparisons, paths and a few functions; nothing else
of Python can be reached from them."""
from __future__ import annotations

import ast
import math
import operator
import warnings
from typing import Any, Callable, Mapping, Union

from .._errors import hint

Value = Union[float, int, bool, str]

_MAX_TEXT = 2000
_MAX_POWER = 1e4
_UNARY: dict[type, Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg, ast.Not: operator.not_}
_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Mod: operator.mod,
    ast.Pow: operator.pow}
_COMPARE: dict[type, Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
    ast.NotEq: operator.ne}


def _norm(values: list[float]) -> float:
    return math.sqrt(sum(x * x for x in values))


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "abs": abs, "min": min, "max": max, "sum": sum, "len": len, "sqrt": math.sqrt, "exp": math.exp, "log": math.log,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "atan2": math.atan2, "hypot": math.hypot, "floor": math.floor, "ceil": math.ceil, "norm": _norm}
CONSTANTS: dict[str, Any] = {"pi": math.pi, "deg": math.pi / 180, "true": True, "false": False}
FUNCTIONS = frozenset(_FUNCTIONS)


class ExpressionError(ValueError):
    """An expression that cannot be read, or has no value. `missing`: a name or key that is not there, whatever the run does."""

    def __init__(self, message: str, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


class Expression:
    """A text read once and evaluated over the names of a case."""

    def __init__(self, text: str) -> None:
        self.text = text
        if len(text) > _MAX_TEXT:
            raise ExpressionError(f"longer than {_MAX_TEXT} characters")
        try:
            # `^` is a power in scenes; here it would be a bitwise operation.
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of Python's grammar: what is wrong is said below
                self._tree = ast.parse(text.replace("^", "**").strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise ExpressionError(f"cannot be read as an expression: '{text}'") from None
        try:
            _check(self._tree)
        except RecursionError:
            raise ExpressionError("too deeply nested") from None

    def value(self, names: Mapping[str, Any]) -> Value:
        """The value; lists and objects are refused, since a table has none."""
        try:
            found = _evaluate(self._tree, names)
        except RecursionError:
            raise ExpressionError("too deeply nested") from None
        except (ZeroDivisionError, OverflowError, TypeError, ValueError) as error:
            if isinstance(error, ExpressionError):
                raise
            raise ExpressionError(f"'{self.text}' has no value: {error}") from None
        if not isinstance(found, (bool, int, float, str)):
            kind = "a list" if isinstance(found, list) else "an object with " + ", ".join(list(found)[:4])
            raise ExpressionError(f"'{self.text}' is {kind}, not a number; name one entry of it", missing=True)
        return found


def _check(node: ast.AST) -> None:
    allowed = (ast.Constant, ast.Name, ast.Attribute, ast.Subscript, ast.UnaryOp, ast.BinOp, ast.Compare, ast.BoolOp,
               ast.IfExp, ast.Call, ast.Load, ast.operator, ast.unaryop, ast.cmpop, ast.boolop)
    for child in ast.walk(node):
        if not isinstance(child, allowed):
            raise ExpressionError(f"an expression cannot hold '{ast.unparse(child)}'")
        if isinstance(child, (ast.operator, ast.unaryop, ast.cmpop)) and type(child) not in (*_UNARY, *_BINARY, *_COMPARE):
            raise ExpressionError(f"an expression cannot hold the operator {type(child).__name__}")
        if isinstance(child, ast.Constant) and not isinstance(child.value, (bool, int, float, str)):
            raise ExpressionError(f"an expression cannot hold '{ast.unparse(child)}'")
        if isinstance(child, ast.Call):
            if not isinstance(child.func, ast.Name) or child.keywords:
                raise ExpressionError(f"'{ast.unparse(child)}' is no function of expressions")
            if child.func.id not in _FUNCTIONS:
                raise ExpressionError(f"unknown function '{child.func.id}'" + hint(child.func.id, _FUNCTIONS))


def _entry(container: Any, key: Any, text: str) -> Any:
    if isinstance(container, Mapping):
        if key in container:
            return container[key]
        raise ExpressionError(f"'{text}' has no '{key}'" + hint(str(key), container), missing=True)
    if isinstance(container, list):
        if not isinstance(key, int):
            raise ExpressionError(f"'{text}' is a list: its entries are {text}[0] to {text}[{len(container) - 1}]", missing=True)
        if -len(container) <= key < len(container):
            return container[key]
        raise ExpressionError(f"'{text}' has {len(container)} entries, not one number {key}")
    raise ExpressionError(f"'{text}' is a number and has no '{key}'", missing=True)


def _evaluate(node: ast.AST, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        if node.id in names:
            return names[node.id]
        if node.id in CONSTANTS:
            return CONSTANTS[node.id]
        raise ExpressionError(f"unknown name '{node.id}'" + hint(node.id, [*names, *CONSTANTS]), missing=True)
    if isinstance(node, ast.Attribute):
        return _entry(_evaluate(node.value, names), node.attr, ast.unparse(node.value))
    if isinstance(node, ast.Subscript):
        return _entry(_evaluate(node.value, names), _evaluate(node.slice, names), ast.unparse(node.value))
    if isinstance(node, ast.UnaryOp):
        return _UNARY[type(node.op)](_evaluate(node.operand, names))
    if isinstance(node, ast.BinOp):
        return _binary(node, names)
    if isinstance(node, ast.Compare):
        left = _evaluate(node.left, names)
        for op, right_node in zip(node.ops, node.comparators):
            right = _evaluate(right_node, names)
            if not _COMPARE[type(op)](left, right):
                return False
            left = right
        return True
    if isinstance(node, ast.BoolOp):
        values = (bool(_evaluate(v, names)) for v in node.values)
        return all(values) if isinstance(node.op, ast.And) else any(values)
    if isinstance(node, ast.IfExp):
        return _evaluate(node.body if _evaluate(node.test, names) else node.orelse, names)
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    return _FUNCTIONS[node.func.id](*(_evaluate(a, names) for a in node.args))


def _binary(node: ast.BinOp, names: Mapping[str, Any]) -> Any:
    left, right = _evaluate(node.left, names), _evaluate(node.right, names)
    if not all(isinstance(x, (int, float)) for x in (left, right)):
        raise ExpressionError(f"'{ast.unparse(node)}' needs two numbers", missing=True)
    if isinstance(node.op, ast.Pow):
        if abs(right) > _MAX_POWER:
            raise ExpressionError(f"the power in '{ast.unparse(node)}' is too large")
        left = float(left)  # whole numbers to a power can fill the memory
    found = _BINARY[type(node.op)](left, right)
    if isinstance(found, complex):
        raise ExpressionError(f"'{ast.unparse(node)}' is not a real number")
    return found
