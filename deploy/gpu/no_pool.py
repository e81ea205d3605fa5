"""A plugin of pytest: each array has its own memory, so that compute-sanitizer sees its ends."""

import cupy

cupy.cuda.set_allocator(None)  # CuPy's pool hides small steps out of bounds
