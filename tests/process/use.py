"""Opens libtenon.so from Python, as a binding does, behind other libraries, and loads the plugins: use.py LIBTENON ABI_VERSION OTHER..."""

import ctypes
import sys
import threading

for other in sys.argv[3:]:
    ctypes.CDLL(other).calls_once()
library = ctypes.CDLL(sys.argv[1])
library.tenon_host.restype = ctypes.c_void_p
library.tenon_host.argtypes = [ctypes.c_uint32, ctypes.c_void_p]


class Host(ctypes.Structure):
    """The first members of tn_host."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("abi_version", ctypes.c_uint32),
        ("version", ctypes.c_char_p),
        ("get_interface", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)),
    ]


class PluginApi(ctypes.Structure):
    """The first members of tn_plugin_api."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("load", ctypes.c_void_p),
        ("load_all", ctypes.CFUNCTYPE(ctypes.c_void_p)),
    ]


host = ctypes.cast(library.tenon_host(int(sys.argv[2]), None), ctypes.POINTER(Host)).contents
plugins = ctypes.cast(host.get_interface(b"plugin/1"), ctypes.POINTER(PluginApi)).contents
failed = []


def load():
    if plugins.load_all():
        failed.append("load_all")


thread = threading.Thread(target=load)
thread.start()
thread.join()
load()
print(host.version.decode(), *failed)
