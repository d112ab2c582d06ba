#!/usr/bin/python3
"""Execute notebooks against a service, and write what they show into a directory. The notebooks here stay as they are: without outputs.

    clients/notebooks/execute.py [--timeout S] OUTPUT [NOTEBOOK...]

By default all notebooks beside this program. The environment says which service is asked, as for every program with the
package provisor (PROVISOR_URL, PROVISOR_TOKEN or PROVISOR_TOKEN_FILE), and PROVISOR_SAMPLE where the sample's event logs are; the
package is imported by the Python that executes this, so it is installed there or on PYTHONPATH. Needs nbconvert and ipykernel.
"""
import argparse
import copy
import pathlib
import sys
import tempfile

try:
    import ipykernel  # noqa: F401  the kernel
    import nbformat
    from jupyter_client.kernelspec import KernelSpec
    from jupyter_client.manager import AsyncKernelManager
    from nbconvert.preprocessors import CellExecutionError, ExecutePreprocessor
except ImportError as error:
    sys.exit("execute.py: %s; pip install nbconvert ipykernel, or Debian's python3-nbconvert and python3-ipykernel" % error)

HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = 120


class ThisPython(AsyncKernelManager):
    """The kernel is this Python, whichever kernels are registered under the notebook's name."""

    @property
    def kernel_spec(self):
        return KernelSpec(argv=[sys.executable, "-Xfrozen_modules=off", "-m", "ipykernel_launcher", "-f", "{connection_file}"], display_name="Python 3",
                          language="python", name="python3")


def notebooks():
    return sorted(HERE.glob("*.ipynb"))


def execute(path, timeout_s=TIMEOUT_S):
    """The notebook with its outputs. timeout_s: for one cell. CellExecutionError: a cell failed; its message has the cell and the traceback."""
    book = copy.deepcopy(nbformat.read(str(path), as_version=4))
    with tempfile.TemporaryDirectory(prefix="provisor-notebook-") as folder:
        runner = ExecutePreprocessor(timeout=timeout_s, kernel_manager_class=ThisPython, record_timing=False)
        runner.preprocess(book, {"metadata": {"path": folder}})
    return book


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("output", type=pathlib.Path, help="directory for the executed copies")
    parser.add_argument("notebook", nargs="*", type=pathlib.Path, help="default: all of them")
    parser.add_argument("--timeout", type=float, default=TIMEOUT_S, metavar="S", help="seconds for one cell (%(default)s)")
    chosen = parser.parse_args()
    chosen.output.mkdir(parents=True, exist_ok=True)
    for path in chosen.notebook or notebooks():
        try:
            book = execute(path, chosen.timeout)
        except CellExecutionError as error:
            sys.exit("%s: %s" % (path, error))
        nbformat.write(book, str(chosen.output / path.name))
        print(chosen.output / path.name)


if __name__ == "__main__":
    main()
