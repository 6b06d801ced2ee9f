"""How values of settings are written: the same rules as in settings.c, without the locale."""

from __future__ import annotations

SWITCH = {"0": 0.0, "off": 0.0, "no": 0.0, "false": 0.0, "1": 1.0, "on": 1.0, "yes": 1.0, "true": 1.0}

#: Units, by kind. Those of sizes are powers of 1024, whichever way they are written.
UNITS: dict[str, dict[str, float]] = {
    "count": {"": 1},
    "bytes": {"": 1, "B": 1, **{k + end: 2.0 ** (10 * n) for n, k in enumerate("KMGT", 1) for end in ("", "B", "iB")}},
    "seconds": {"": 1, "ms": 1e-3, "s": 1, "m": 60, "h": 3600},
}

#: What is allowed, in words; "" where the setting says it.
EXPECTED = {
    "text": "a text",
    "path": "a path",
    "switch": "0 or 1 (off or on, no or yes, false or true)",
    "choice": "",
    "count": "a whole number",
    "bytes": "a size such as 512M, 4G or 4GiB",
    "seconds": "a time such as 90, 0.5s, 10m or 1h",
    "version": "MAJOR.MINOR, for instance 8.6",
}


def number_of(kind: str, text: str) -> float | None:
    """The number of a switch, count, size or time; of a version, 100 times the major and the minor one. None when it
    is not written as one."""
    if kind == "switch":
        return SWITCH.get(text.lower())
    length = len(text) - len(text.lstrip("0123456789."))
    whole, dot, part = text[:length].partition(".")
    if not whole or "." in part or len(text[:length]) > 18:
        return None
    if kind == "version":
        return float(whole) * 100 + float(part) if len(part) in (1, 2) and length == len(text) else None
    unit = UNITS.get(kind, {}).get(text[length:])
    if unit is None or (kind == "count" and dot):
        return None
    return (float(whole) + (float("0." + part) if part else 0)) * unit
