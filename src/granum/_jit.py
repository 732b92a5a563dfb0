"""All compiler options, with their reasons, and where compiled kernels are kept.

Kernels stand at module level and take arrays and numbers only: one built inside a factory, or given a compiled function
as an argument, would be compiled again in every process.

Numba's disk cache sees an edit of a kernel's own file, but not of a device function in another file, nor of compiler
options. So every kernel is kept under a digest of all that it is compiled from: its own instructions, those of the functions that it calls,
the constants that both use and the fields of the records that it is given. An edit or an upgrade never runs an old binary, and an edit
compiles only the kernels that it reaches. What a function does is picked by the class of a record in some places (``picked_by_type``): a
kernel is then kept for each class by itself, under a digest of the functions of that class.
"""

from __future__ import annotations

import functools
import hashlib
import multiprocessing
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.sigutils import normalize_signature
from numba.extending import overload

from ._version import __version__
from .caches import cache_root, own_folder
from .turns import Turn

KNOWN = (0, 61), (0, 68)
"""First and last version of Numba whose steps ``_compiling.py`` is known to suit; others compile in their own way, which takes longer."""

# No nnan/ninf: a NaN must reach the NaN check. No reassoc: sums keep their written order, so results keep their bits.
FASTMATH = {"contract", "nsz"}
OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": FASTMATH}


@functools.cache
def source_digest() -> str:
    """Of the whole source: known by it are things that were computed and can be computed again."""
    digest = hashlib.sha256(f"{__version__} {numba.__version__}".encode())
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _options_text(options: dict[str, Any]) -> str:
    """Compiler options in words; the order of a set is another in every process."""
    return repr(sorted((name, sorted(value) if isinstance(value, set) else str(value)) for name, value in options.items()))


def _digest_of(function: Callable[..., Any]) -> str:
    """Of all that a kernel is compiled from."""
    digest = hashlib.sha256(f"{__version__} {numba.__version__} {_options_text(OPTIONS)}".encode())
    seen: set[int] = set()
    _digest_function(function, digest, seen)
    return digest.hexdigest()[:24]


def _digest_function(function: Any, digest: Any, seen: set[int]) -> None:
    if id(function) in seen:
        return
    seen.add(id(function))
    digest.update(f"{function.__qualname__} {function.__defaults__}".encode())
    _digest_code(function.__code__, function.__globals__, digest, seen)
    for name, value in sorted(function.__globals__.items(), key=lambda item: item[0]):
        if isinstance(value, type) and hasattr(value, "_fields"):  # a record that may be handed to it
            digest.update(f"{name} {value._fields}".encode())


def _digest_code(code: Any, known: dict[str, Any], digest: Any, seen: set[int]) -> None:
    digest.update(code.co_code)
    digest.update(f"{code.co_names} {code.co_varnames}".encode())
    for constant in code.co_consts:
        if hasattr(constant, "co_code"):
            _digest_code(constant, known, digest, seen)
        else:
            digest.update(f"{type(constant).__name__} {constant!r}".encode())
    for name in code.co_names:
        if name in known:
            _digest_value(name, known[name], code.co_names, digest, seen)


def _digest_value(name: str, value: Any, names: tuple[str, ...], digest: Any, seen: set[int]) -> None:
    """What a name stands for that a compiled function uses."""
    digest.update(name.encode())
    if hasattr(value, "py_func"):  # compiled as well
        digest.update(_options_text(value.targetoptions).encode())
        _digest_function(value.py_func, digest, seen)
    elif hasattr(value, "_defn"):  # instructions of our own, written out
        _digest_function(value._defn, digest, seen)
    elif isinstance(value, ModuleType):
        if value.__name__.startswith("granum"):
            for inner in names:
                if inner in vars(value):
                    _digest_value(inner, vars(value)[inner], names, digest, seen)
    elif hasattr(value, "__code__"):
        _digest_function(value, digest, seen)
    else:
        digest.update(f"{type(value).__qualname__} {value!r}".encode())


@functools.cache
def kernel_folder() -> Path | None:
    """Where compiled kernels are kept, made at the first call; none: there is no safe place, they are not kept."""
    root = cache_root()
    return own_folder(root / "compiled") if root is not None else None


def cache_is_warm() -> bool:
    """Whether an earlier process left compiled kernels."""
    folder = kernel_folder()
    return folder is not None and any(folder.rglob("*.nbi"))


class _SealedFiles(IndexDataCacheFile):
    """Numba's files, each with a digest before its content: damage is met before it is unpickled or run, where it could crash."""

    def _load_index(self) -> Any:
        try:
            version, stamp, overloads = pickle.loads(_unsealed(self._index_path))
        except FileNotFoundError:
            return {}
        return overloads if (version, stamp) == (self._version, self._source_stamp) else {}

    def _save_index(self, overloads: Any) -> None:
        self._write(self._index_path, (self._version, self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return pickle.loads(_unsealed(self._data_path(name)))

    def _save_data(self, name: str, data: Any) -> None:
        self._write(self._data_path(name), data)

    def _write(self, path: str, content: Any) -> None:
        data = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(hashlib.sha256(data).digest() + data)

    def remove(self) -> None:
        """All files of this kernel."""
        Path(self._index_path).unlink(missing_ok=True)
        for path in Path(self._cache_path).glob(f"{self._index_name.removesuffix('.nbi')}.*.nbc"):
            path.unlink(missing_ok=True)


def _unsealed(path: str) -> bytes:
    data = Path(path).read_bytes()
    if hashlib.sha256(data[32:]).digest() != data[:32]:
        raise ValueError(f"{path} is damaged")
    return data[32:]


class _KernelCache(FunctionCache):
    """Numba's cache of one kernel, opened when the kernel is first called. Whatever is wrong with it, the kernel is compiled."""

    _told: ClassVar[set[Path | None]] = set()  # folders: one word per process is enough
    _cache_file: Any

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._name, self._cache_path, self._opened = repr(function), "", False
        self._turn: Turn | None = None

    def _open(self) -> bool:
        if not self._opened:
            self._opened, self._enabled = True, False
            folder = kernel_folder()
            if folder is None:
                self._tell("Compiled kernels are not kept: no folder was found that only this user can write. Set XDG_CACHE_HOME to one.")
                return False
            settings: Any = numba.config
            kept = settings.CACHE_DIR  # read when the cache is opened; put back so that other packages are not moved
            settings.CACHE_DIR = str(folder / _digest_of(self._function))
            try:
                super().__init__(self._function)
            except (OSError, RuntimeError) as error:  # Numba finds no place to write to
                self._tell(f"Compiled kernels are not kept in {folder}: {error}")
                return False
            finally:
                settings.CACHE_DIR = kept
            self._cache_file = _SealedFiles(self._cache_path, self._impl.filename_base, None)  # the folder says what the source was
        return bool(self._enabled)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Numba's key of a compiled signature, with the fields of the records in it, which Numba tells by their class alone, and with what
        is picked by their classes. All in words: a process that cannot import a class, say the law of somebody's own script, must still
        be able to read the keys of the others."""
        records = _records_in(normalize_signature(sig)[0])
        fields = tuple((record.__module__, record.__qualname__, *record._fields) for record in records)
        types, *more = super()._index_key(sig, codegen)
        return (str(types), *more, fields, _digest_of_picked(records))

    def is_kept(self) -> bool:
        """Whether some process has compiled this kernel and kept it."""
        return self._open() and Path(self._cache_file._index_path).exists()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """What is kept of this kernel; if there is nothing, it is the caller's turn to compile it."""
        if not self._open():
            return None
        found, folder = self._load(sig, target_context), kernel_folder()
        if found is None and folder is not None and own_folder(folder) is not None:  # made anew, if it was cleared meanwhile
            key = hashlib.sha256(repr(self._index_key(sig, target_context.codegen())).encode()).hexdigest()[:16]
            self._end_turn()
            self._turn = Turn(Path(self._cache_path) / f"{key}.turn")
            if self._turn.waited:
                found = self._load(sig, target_context)
        if found is not None:
            self._end_turn()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever it is: it is only a cache
            self._renew()
            return None

    def _end_turn(self) -> None:
        if self._turn is not None:
            self._turn.end()
            self._turn = None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            self._save(sig, data)
        finally:
            self._end_turn()

    def _save(self, sig: Any, data: Any) -> None:
        folder = kernel_folder()
        if not self._open() or folder is None or own_folder(folder) is None:
            return
        try:
            super().save_overload(sig, data)
        except (OSError, ValueError) as error:
            self._enabled = False
            self._tell(f"Compiled kernels cannot be kept in {kernel_folder()}: {error}. They serve this run only.")

    def _renew(self) -> None:
        self._tell(f"Compiled kernels in {kernel_folder()} were damaged. They are removed and compiled anew, which takes a while.")
        try:
            self._cache_file.remove()
        except OSError:
            self._enabled = False

    def _tell(self, words: str) -> None:
        if kernel_folder() not in self._told and multiprocessing.parent_process() is None:
            warnings.warn(words, stacklevel=2)
        self._told.add(kernel_folder())


def is_kept(kernel: Any) -> bool:
    """Whether some process has compiled a kernel and kept it on disk, or nobody ever will."""
    cache = getattr(kernel, "_cache", None)
    return not isinstance(cache, _KernelCache) or kernel_folder() is None or cache.is_kept()


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a function that is called from Python, and keep the binary on disk. It releases the interpreter for other threads."""
    compiled = numba.njit(nogil=True, **OPTIONS)(function)
    compiled._cache = _KernelCache(function)  # as njit(cache=True) does, with Numba's own
    given = getattr(compiled, "_compiler", None)
    if given is not None and _KERNEL_COMPILER is not None:  # with NUMBA_DISABLE_JIT nothing is compiled
        compiled._compiler = _KERNEL_COMPILER(function, given.targetdescr, given.targetoptions, given.locals, given.pipeline_class)
    return compiled


if KNOWN[0] <= numba.version_info.short <= KNOWN[1]:
    from ._compiling import InlinedCompiler, KernelCompiler

    _KERNEL_COMPILER: Any = KernelCompiler
    _PIPELINE: dict[str, Any] = {"pipeline_class": InlinedCompiler}
else:
    _KERNEL_COMPILER, _PIPELINE = None, {}

# Nobody calls them from Python: wrappers that would take all groups of arrays apart are a quarter of what there is to compile.
_INLINED: Any = {**OPTIONS, "_nrt": False, "forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_AS_WRITTEN: Any = {**_INLINED, "fastmath": False}


def device(function: Callable[..., Any]) -> Any:
    """Compile a function that is called from kernels.

    Without reference counting, which costs more than a small function does: it must not allocate or return arrays. Always inlined: of
    several copies of a function that is called, a process that compiles may run another than one that loads its kernels from disk, and
    they need not round alike.
    """
    return numba.njit(**_PIPELINE, **_INLINED)(function)


def as_written(function: Callable[..., Any]) -> Any:
    """As ``device``, but every operation is rounded as it is written: nothing is contracted, in whatever kernel it is used."""
    return numba.njit(**_PIPELINE, **_AS_WRITTEN)(function)


_PICKED: list[Any] = []  # all functions that are picked by type


def picked_by_type(stub: Callable[..., Any]) -> Any:
    """A function as ``as_written``, with an implementation for each class of its first argument, a NamedTuple.

    ``@stub.of(SomeTuple)`` gives one, with the stub's own parameters, and ``@stub.default`` one for all other classes. Kernels pick when
    they are compiled, so that a choice costs nothing in a loop; from Python the implementation is called as it is written.
    """
    implementations: dict[type | None, Callable[..., Any]] = {}

    @functools.wraps(stub)
    def picked(*args: Any) -> Any:
        return _implementation(implementations, type(args[0]), stub.__name__)(*args)

    def of(kind: type | None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def add(function: Callable[..., Any]) -> Callable[..., Any]:
            implementations[kind] = function
            return function

        return add

    made: Any = picked
    made.of, made.default, made.implementations = of, of(None), implementations
    options: Any = {**_PIPELINE, **_AS_WRITTEN}
    overload(picked, jit_options=options, strict=False)(
        lambda kind, *_: _implementation(implementations, getattr(kind, "instance_class", None), stub.__name__)
    )
    _PICKED.append(made)
    return made


def _implementation(implementations: dict[type | None, Callable[..., Any]], kind: type | None, name: str) -> Callable[..., Any]:
    found = implementations.get(kind, implementations.get(None))
    if found is None:
        raise TypeError(f"{name} is not known for {kind}; known for: {', '.join(sorted(k.__qualname__ for k in implementations if k))}")
    return found


def _digest_of_picked(records: list[Any]) -> str:
    """Of all implementations that these classes of records pick."""
    digest = hashlib.sha256(_options_text(_AS_WRITTEN).encode())
    seen: set[int] = set()
    for kind in records:
        if any(kind in picked.implementations for picked in _PICKED):
            for picked in _PICKED:
                function = picked.implementations.get(kind, picked.implementations.get(None))
                if function is not None:
                    _digest_function(function, digest, seen)
    return digest.hexdigest()[:24]


def _records_in(types: Any) -> list[Any]:
    """Classes of the NamedTuples among some types, those inside of others included."""
    found: list[Any] = []
    for one in types:
        if hasattr(one, "instance_class"):
            found.append(one.instance_class)
        if hasattr(one, "types"):
            found += _records_in(one.types)
    return found
