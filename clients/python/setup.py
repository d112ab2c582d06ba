"""Puts the modules that follow from the contract into what is built: nothing of them is in the repository, and a
source distribution, which has no contract beside it, has them already."""
import pathlib
import sys

from setuptools import setup
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

HERE = pathlib.Path(__file__).resolve().parent
GENERATED = ("schemas", "requests", "calls")
FROM_CONTRACT = (HERE.parents[1] / "openapi" / "bundle.py").is_file() and (HERE / "tools" / "generate.py").is_file()


def generate(package):
    sys.path.insert(0, str(HERE / "tools"))
    from generate import generate as write
    write(pathlib.Path(package))


class BuildWithContract(build_py):
    def find_package_modules(self, package, package_dir):
        if FROM_CONTRACT and package.rpartition(".")[2] in GENERATED:
            return []
        return super().find_package_modules(package, package_dir)

    def check_package(self, package, package_dir):
        if FROM_CONTRACT and package.rpartition(".")[2] in GENERATED:
            return None
        return super().check_package(package, package_dir)

    def run(self):
        super().run()
        if FROM_CONTRACT:
            generate(pathlib.Path(self.build_lib) / "provisor")


class SdistWithContract(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        if FROM_CONTRACT:
            generate(pathlib.Path(base_dir) / "src" / "provisor")


setup(cmdclass={"build_py": BuildWithContract, "sdist": SdistWithContract})
