"""What pyproject.toml cannot say: the version is CMake's, and CMake builds the extension.

HEDDLE_BUILD=build/dev takes it from a build that is there (with the module in it: presets with tests have it). Else it is
built in build/pip, which later installations go on with."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent
MADE = ROOT / "build/pip"  # nothing is written beside the sources
VERSION = re.search(r"project\(heddle VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


class CMakeBuild(build_ext):
    def build_extension(self, extension):
        build = pathlib.Path(os.environ.get("HEDDLE_BUILD", MADE / "cmake"))
        if "HEDDLE_BUILD" not in os.environ:
            launcher = ["-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
            subprocess.run(["cmake", "--preset", "release", "-S", ROOT, "-B", build, "-DHEDDLE_PYTHON=ON", f"-DPython_EXECUTABLE={sys.executable}",
                            *launcher], check=True)
        subprocess.run(["cmake", "--build", build, "--target", "heddle_python"], check=True)
        target = pathlib.Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(build / "python/heddle" / target.name, target)


MADE.mkdir(parents=True, exist_ok=True)
setup(version=VERSION, ext_modules=[Extension("heddle._heddle", [])], cmdclass={"build_ext": CMakeBuild},
      options={"egg_info": {"egg_base": str(MADE)}, "build": {"build_base": str(MADE)}})
