#!/usr/bin/python3
"""Turn files into C arrays, so that the program carries its documents itself.

    embed.py OUTPUT_C SYMBOL=FILE...

Each gives `const char SYMBOL[]` (NUL-terminated) and `const size_t SYMBOL_n` (without the NUL).
"""
import sys


def main():
    output, *pairs = sys.argv[1:]
    with open(output, "w") as out:
        out.write("#include <stddef.h>\n")
        for pair in pairs:
            symbol, path = pair.split("=", 1)
            with open(path, "rb") as f:
                content = f.read()
            out.write("extern const char %s[];\nextern const size_t %s_n;\n" % (symbol, symbol))
            out.write("const char %s[] = {\n" % symbol)
            codes = [str(b if b < 128 else b - 256) for b in content] + ["0"]
            for i in range(0, len(codes), 24):
                out.write(",".join(codes[i:i + 24]) + ",\n")
            out.write("};\nconst size_t %s_n = %d;\n" % (symbol, len(content)))


if __name__ == "__main__":
    main()
