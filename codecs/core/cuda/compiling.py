"""The one way from a CUDA source to machine code, for devices and for tests: NVRTC.

CuPy's own way is not taken. Its wrapper adds -ftz=true behind the caller's options, and a float32
below 2^-126 then counts as 0 wherever a kernel computes with it: kernels would choose and predict
by other numbers than the CPU does, and one side could not read what the other wrote.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple, Protocol

# Floats are IEEE 754's, as on the CPU: denormals stay, quotients and roots are rounded correctly,
# no product is contracted with a sum. All but the last are NVRTC's defaults; frames depend on them.
FLOATS = ("--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--fmad=false")
NAME = "kernel.cu"  # of the source, in what the compiler says


class CompileError(Exception):
    """The source is no CUDA C++, or there is no compiler: its words."""


class Compiled(NamedTuple):
    """What the compiler made of a source."""

    code: bytes  # machine code for one architecture, as cuModuleLoad takes it ("cubin")
    ptx: bytes  # what that was assembled from
    log: str  # warnings, and what the options ask for


class Nvrtc(Protocol):
    """A binding of NVRTC."""

    def version(self) -> tuple[int, int]:
        """Return major and minor version."""

    def compile(self, source: str, arguments: Sequence[str]) -> Compiled:
        """Compile a source, or raise CompileError."""


class CupyNvrtc:
    """NVRTC by the binding below CuPy's wrapper, which adds no options."""

    def __init__(self, nvrtc: ModuleType) -> None:
        self._nvrtc = nvrtc

    def version(self) -> tuple[int, int]:
        """Return major and minor version."""
        major, minor = self._nvrtc.getVersion()
        return major, minor

    def compile(self, source: str, arguments: Sequence[str]) -> Compiled:
        """Compile a source, or raise CompileError."""
        nvrtc = self._nvrtc
        program = nvrtc.createProgram(source, NAME, (), ())
        try:
            nvrtc.compileProgram(program, tuple(arguments))
            ptx = nvrtc.getPTX(program)
            text = ptx.encode() if isinstance(ptx, str) else ptx  # of older CuPy
            return Compiled(nvrtc.getCUBIN(program), text, nvrtc.getProgramLog(program))
        except nvrtc.NVRTCError as error:
            raise CompileError(_errors(nvrtc.getProgramLog(program)) or str(error)) from error
        finally:
            nvrtc.destroyProgram(program)


class CudaNvrtc:
    """NVRTC by cuda-bindings, where CuPy is not loaded: in tests without a device."""

    def __init__(self, nvrtc: ModuleType) -> None:
        self._nvrtc = nvrtc

    def version(self) -> tuple[int, int]:
        """Return major and minor version."""
        _, major, minor = self._nvrtc.nvrtcVersion()
        return major, minor

    def compile(self, source: str, arguments: Sequence[str]) -> Compiled:
        """Compile a source, or raise CompileError."""
        nvrtc = self._nvrtc
        _, program = nvrtc.nvrtcCreateProgram(source.encode(), NAME.encode(), 0, [], [])
        encoded = [one.encode() for one in arguments]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(encoded), encoded)
        try:
            log = self._text(program, "ProgramLog").rstrip(b"\0").decode()
            if status.value:
                raise CompileError(_errors(log) or status.name)
            return Compiled(self._text(program, "CUBIN"), self._text(program, "PTX"), log)
        finally:
            nvrtc.nvrtcDestroyProgram(program)

    def _text(self, program: object, what: str) -> bytes:
        status, size = getattr(self._nvrtc, f"nvrtcGet{what}Size")(program)
        text = bytes(0 if status.value else size)
        if text:
            getattr(self._nvrtc, f"nvrtcGet{what}")(program, text)  # which writes into it
        return text


def compile_kernel(source: str, options: Sequence[str], architecture: str) -> Compiled:
    """Compile a CUDA source; neither driver nor device is needed.

    Parameters
    ----------
    options : of the language and -D; how floats are is not theirs to say
    architecture : such as sm_90

    Raises
    ------
    CompileError : it does not compile, or NVRTC cannot be loaded
    """
    return _nvrtc().compile(source, (*options, *FLOATS, f"--gpu-architecture={architecture}"))


def compiler_version() -> str:
    """Return what compiles here.

    Raises
    ------
    CompileError : NVRTC cannot be loaded
    """
    major, minor = _nvrtc().version()
    return f"NVRTC {major}.{minor}"


def _errors(log: str) -> str:
    """Return the lines of errors, without warnings and quoted lines of the source."""
    return "\n".join(line for line in log.splitlines() if "error" in line)


def _nvrtc() -> Nvrtc:
    """Return a binding: CuPy's where CuPy is loaded, since that is made for the driver here."""
    own = sys.modules.get("cupy_backends.cuda.libs.nvrtc")
    try:
        nvrtc = CupyNvrtc(own) if own else CudaNvrtc(importlib.import_module("cuda.bindings.nvrtc"))
        nvrtc.version()  # now the library is loaded
    except (ImportError, RuntimeError) as error:
        raise CompileError(f"CUDA's compiler NVRTC cannot be loaded: {error}") from error
    return nvrtc
