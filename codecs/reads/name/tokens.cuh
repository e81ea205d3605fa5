// Tokens of names: each function writes to out[at..], as far as `limit`, and returns where it ends,
// -1 where it is wrong.

#include "memory.cuh"

// Where a line is written, and the line before: where it lies, and its tokens.
struct Line {
    Byte* out;
    Place limit;
    int* cuts;  // where its tokens begin, and where the last one ends
    const Byte* source;
    const int* old;
    int n_old;
};

__device__ __forceinline__ void copy_bytes(const Byte* source, Place begin, Byte* out, Place at,
                                           Place size) {
    for (Place i = 0; i < size; ++i) out[at + i] = source[begin + i];
}

// Copy n tokens of the line before, from token k on.
__device__ __forceinline__ Place copy(const Line& line, int k, int n, Place at) {
    const int begin = line.old[k], size = line.old[k + n] - begin;
    if (size > line.limit - at) return -1;
    for (int i = k + 1; i <= k + n; ++i) line.cuts[i] = int(line.old[i] + at - begin);
    copy_bytes(line.source, begin, line.out, at, size);
    return at + size;
}

__device__ __forceinline__ Place read_text(const Model& model, Lane& lane, int stream,
                                           const Line& line, Place at) {
    while (lane.at <= lane.stop) {
        const int symbol = take(model, lane, stream);
        if (symbol == TEXT_END) return at;
        if (at == line.limit) break;
        line.out[at++] = Byte(symbol);
    }
    return -1;
}

// The number that a token is, -1 where it is none.
__device__ __forceinline__ Place parsed(const Byte* source, int at, int width) {
    if (width > MOST_DIGITS) return -1;
    Place value = 0;
    for (int i = at; i < at + width; ++i) {
        const int digit = int(source[i]) - 48;
        if (digit < 0 || digit > 9) return -1;
        value = 10 * value + digit;
    }
    return value;
}

// The number that operation UP + which gives, from token k of the line before; -1 where it gives
// none. Its operand has that nibble of WIDTHS bytes, from that of PARTS on, as in streams.py.
__device__ __forceinline__ Place read_value(const Model& model, Lane& lane, int which, int k,
                                            const Line& line) {
    constexpr unsigned PARTS = 0xDA875421, WIDTHS = 0x03212121;
    if (which == LONG - UP) return take_number(model, lane, k * PER_COLUMN + LONG_BITS);
    const int first = PARTS >> 4 * which & 15, width = WIDTHS >> 4 * which & 15;
    Place value = 0;
    for (int part = first; part < first + width; ++part)
        value = value << 8 | take(model, lane, k * PER_COLUMN + part);
    if (which >= NUMBER - UP) return value;
    const bool is_there = k < line.n_old;
    const int before = is_there ? line.old[k] : 0, end = is_there ? line.old[k + 1] : 0;
    const Place base = parsed(line.source, before, end - before);
    if (base < 0) return -1;
    return which >= DOWN - UP ? base - value : base + value;
}

// Write a number of at least so many digits.
__device__ __forceinline__ Place print(Place value, int width, const Line& line, Place at) {
    if (value < 0) return -1;
    int n = 1;
    unsigned long long rest = (unsigned long long)(value);
    for (unsigned long long power = 10; rest >= power; power *= 10) ++n;
    n = max(n, width);
    if (n > line.limit - at) return -1;
    for (Place i = at + n - 1; i >= at; --i) {
        line.out[i] = Byte(48 + rest % 10);
        rest /= 10;
    }
    return at + n;
}

__device__ __forceinline__ Byte hexadecimal(int digit, bool is_upper) {
    return Byte(digit + (digit < 10 ? 48 : is_upper ? 55 : 87));
}

// Read hexadecimal digits, three at a time.
__device__ __forceinline__ void read_digits(Lane& lane, Place n, bool is_upper, Byte* out,
                                            Place at) {
    for (Place i = 0; i < n; i += 3) {
        const int some = int(min(Place(3), n - i));
        const int value = int(get_raw(4 * some, lane));
        for (int j = 0; j < some; ++j)
            out[at + i + j] = hexadecimal(value >> 4 * (some - 1 - j) & 15, is_upper);
    }
}

__device__ __forceinline__ Place read_hexadecimal(const Model& model, Lane& lane, int column,
                                                  bool is_upper, const Line& line, Place at) {
    Place n = take(model, lane, column + HEX_DIGITS);
    if (n == ESCAPE) n += take_number(model, lane, column + HEX_REST);
    if (n > line.limit - at) return -1;
    read_digits(lane, n, is_upper, line.out, at);
    return at + n;
}

__device__ __forceinline__ Place read_uuid(const Model& model, Lane& lane, int column,
                                           bool is_upper, const Line& line, Place at) {
    if (line.limit - at < UUID_LENGTH) return -1;
    Byte* const out = line.out + at;
    for (int i = 8; i < 24; i += 5) out[i] = '-';
    read_digits(lane, 8, is_upper, out, 0);
    read_digits(lane, 4, is_upper, out, 9);
    const int version = take(model, lane, column + VERSION);
    read_digits(lane, 3, is_upper, out, 15);
    const int variant = take(model, lane, column + VARIANT);
    read_digits(lane, 3, is_upper, out, 20);
    read_digits(lane, 12, is_upper, out, 24);
    if (version > 15 || variant > 15) return -1;
    out[14] = hexadecimal(version, is_upper);
    out[19] = hexadecimal(variant, is_upper);
    return at + UUID_LENGTH;
}

// Copy the token of this line whose column a stream says, which is before k.
__device__ __forceinline__ Place read_match(const Model& model, Lane& lane, int k,
                                            const Line& line, Place at) {
    const int j = take(model, lane, k * PER_COLUMN + MATCHES);
    if (j >= k) return -1;
    const int begin = line.cuts[j], size = line.cuts[j + 1] - begin;
    if (size > line.limit - at) return -1;
    copy_bytes(line.out, begin, line.out, at, size);
    return at + size;
}

// Read token k, which an operation gives.
__device__ __forceinline__ Place read_token(const Model& model, Lane& lane, int operation, int k,
                                            const Line& line, Place at) {
    const int column = k * PER_COLUMN;
    if (operation == TEXT) return read_text(model, lane, column + TEXT_BYTES, line, at);
    if (operation < MATCH) {
        const bool is_padded = operation - UP >= PADDED;
        const Place value = read_value(model, lane, operation - UP - PADDED * is_padded, k, line);
        const int width = k < line.n_old ? line.old[k + 1] - line.old[k] : 0;
        return print(value, is_padded ? width : 1, line, at);
    }
    if (operation == MATCH) return read_match(model, lane, k, line, at);
    if (operation < HEX) return read_uuid(model, lane, column, operation > UUID, line, at);
    if (operation <= HEX + 1)
        return read_hexadecimal(model, lane, column, operation > HEX, line, at);
    return -1;
}
