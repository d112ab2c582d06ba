"""Quantities as sentences of the service have them (service/base/quantity_text.h)."""
import math


def number(value, digits=3):
    """`digits` significant digits, and every digit before the point."""
    if value == 0:
        return "0"
    exponent = int(("%.*e" % (digits - 1, abs(value))).split("e")[1])
    if exponent >= digits - 1:
        return "%.0f" % value
    text = "%.*f" % (digits - 1 - exponent, value)
    return text.rstrip("0").rstrip(".")


def duration(seconds):
    """Seconds up to 90, then minutes, hours and days."""
    if seconds < 90.05:
        return number(seconds) + " s"
    larger, smaller, words = (60, 1, ("min", "s", 2)) if seconds < 3599.5 else (3600, 60, ("h", "min", 2)) if seconds < 172770 else (86400, 3600, ("d", "h", 1))
    rounded = math.floor(seconds / smaller + 0.5) * smaller
    whole, rest = rounded // larger, rounded % larger // smaller
    return "%d %s" % (whole, words[0]) + (" %0*d %s" % (words[2], rest, words[1]) if rest else "")
