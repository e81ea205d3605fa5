"""Compilation of CUDA sources to machine code with NVRTC, for devices and for tests.

CuPy's own compiler wrapper is not used. It adds -ftz=true after the caller's options, so that
kernels treat a float32 below 2^-126 as 0. Kernels would then choose and predict with other numbers
than the CPU, and one side could not read the output of the other.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import NamedTuple, Protocol

# IEEE 754 floats, as on the CPU: denormals stay, quotients and roots are rounded correctly, and no
# product is contracted with a sum. All but the last are NVRTC's defaults; frames depend on them.
FLOATS = ("--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--fmad=false")
NAME = "kernel.cu"  # name of the source in messages of the compiler


class CompileError(Exception):
    """Compiler error, with its message: the source is no CUDA C++, or there is no compiler."""


class Compiled(NamedTuple):
    """Output of the compiler for one source: machine code, PTX and log."""

    code: bytes  # machine code for one architecture, as cuModuleLoad takes it ("cubin")
    ptx: bytes  # the PTX that `code` was assembled from
    log: str  # warnings, and reports that the options request


class Nvrtc(Protocol):
    """Interface of a Python binding of NVRTC, NVIDIA's run-time compiler of CUDA C++."""

    def version(self) -> tuple[int, int]:
        """Return major and minor version of NVRTC."""

    def compile(self, source: str, arguments: Sequence[str]) -> Compiled:
        """Compile a source, or raise `CompileError`."""


class CupyNvrtc:
    """NVRTC through CuPy's low-level binding, which adds no options."""

    def __init__(self, nvrtc: ModuleType) -> None:
        self._nvrtc = nvrtc

    def version(self) -> tuple[int, int]:
        """Return major and minor version of NVRTC."""
        major, minor = self._nvrtc.getVersion()
        return major, minor

    def compile(self, source: str, arguments: Sequence[str]) -> Compiled:
        """Compile a source, or raise `CompileError`."""
        nvrtc = self._nvrtc
        program = nvrtc.createProgram(source, NAME, (), ())
        try:
            nvrtc.compileProgram(program, tuple(arguments))
            ptx = nvrtc.getPTX(program)
            text = ptx.encode() if isinstance(ptx, str) else ptx  # older CuPy returns text
            return Compiled(nvrtc.getCUBIN(program), text, nvrtc.getProgramLog(program))
        except nvrtc.NVRTCError as error:
            raise CompileError(_errors(nvrtc.getProgramLog(program)) or str(error)) from error
        finally:
            nvrtc.destroyProgram(program)


class CudaNvrtc:
    """NVRTC through cuda-bindings, if CuPy is not loaded: in tests without a device."""

    def __init__(self, nvrtc: ModuleType) -> None:
        self._nvrtc = nvrtc

    def version(self) -> tuple[int, int]:
        """Return major and minor version of NVRTC."""
        _, major, minor = self._nvrtc.nvrtcVersion()
        return major, minor

    def compile(self, source: str, arguments: Sequence[str]) -> Compiled:
        """Compile a source, or raise `CompileError`."""
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
            getattr(self._nvrtc, f"nvrtcGet{what}")(program, text)  # this call writes into `text`
        return text


def compile_kernel(source: str, options: Sequence[str], architecture: str) -> Compiled:
    """Compile a CUDA source for a GPU architecture; neither a driver nor a device is needed.

    Parameters
    ----------
    options : compiler options for language and defines (-D); those for floating point are fixed
    architecture : compute architecture of the GPU, such as sm_90

    Raises
    ------
    `CompileError` : it does not compile, or NVRTC cannot be loaded
    """
    return _nvrtc().compile(source, (*options, *FLOATS, f"--gpu-architecture={architecture}"))


def compiler_version() -> str:
    """Return name and version of the compiler.

    Raises
    ------
    `CompileError` : NVRTC cannot be loaded
    """
    major, minor = _nvrtc().version()
    return f"NVRTC {major}.{minor}"


def _errors(log: str) -> str:
    """Return the error lines of a compiler log, without warnings and quoted source lines."""
    return "\n".join(line for line in log.splitlines() if "error" in line)


def _nvrtc() -> Nvrtc:
    """Return an NVRTC binding: CuPy's if CuPy is loaded, as that fits the installed driver."""
    own = sys.modules.get("cupy_backends.cuda.libs.nvrtc")
    try:
        nvrtc = CupyNvrtc(own) if own else CudaNvrtc(importlib.import_module("cuda.bindings.nvrtc"))
        nvrtc.version()  # loads the library
    except (ImportError, RuntimeError) as error:
        raise CompileError(f"CUDA's compiler NVRTC cannot be loaded: {error}") from error
    return nvrtc
