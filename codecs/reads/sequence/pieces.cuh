// Pieces of lines: literals, and copies of the consensus (SPEC.md, Pieces).

#include "columns.cuh"
#include "fours.cuh"

// A mapped piece: n letters of `source` from `begin` on, columns from `position` on.
struct Piece {
    const Byte* source;
    Place begin, position, n;
    int strand;
};

// A column of class > 0: its number among these, and which letter of the piece it is.
struct Variable {
    Place k, letter;
};

// Which letter of a piece is column k, n where it is none.
__device__ __forceinline__ Variable variable(const Block& block, const Piece& piece, Place k) {
    const Place first = piece.strand ? piece.position + piece.n - 1 : piece.position;
    return {k, min(piece.n, Place(llabs(block.columns[k] - first)))};
}

// The plain columns before the next mismatch, n at most.
__device__ __forceinline__ Place get_gap(const Tables& tables, Place left, Place n, Lane& lane) {
    const int table = GAP + int(min(left, Place(GAPS))) - 1;
    int more = get(tables, table, lane);
    Place gap = more;
    while (more == MOST_GAP && gap < n) {
        more = get(tables, table, lane);
        gap += more;
    }
    return min(gap, n);
}

// The letter of a column that is neither its first nor its second.
__device__ __forceinline__ int get_other(const Tables& tables, int base, int second, Lane& lane) {
    int code = get(tables, OTHER, lane);
    code += code >= min(base, second);
    code += code >= max(base, second);
    return code;
}

// Write a letter; an exception stays what it is.
__device__ __forceinline__ void put_letter(const Target& target, Place place, int code) {
    if (!target.has_runs || is_base(target.out[place])) target.out[place] = letter_of(code);
}

// What a column of class > 0 has, after the last two of those.
__device__ __forceinline__ int get_variant(const Block& block, const Piece& piece, Variable column,
                                           int last_two, const Target& target, Place place,
                                           Lane& lane) {
    const int base = code_of(piece.source[piece.begin + column.letter]);
    const int own = block.variants[column.k], second = own >> 2 ^ 3 * piece.strand;
    const int which = get(block.tables, VARIANT + 9 * (own & 3) + last_two, lane);
    if (which) {
        const int code = which > 1 ? get_other(block.tables, base, second, lane) : second;
        put_letter(target, place + column.letter, code);
    }
    return (3 * last_two + which) % 9;
}

// Put in place of the consensus what differs from it.
__device__ __forceinline__ void get_mismatches(const Block& block, const Piece& piece, bool several,
                                               const Target& target, Place place, Lane& lane) {
    const Tables& tables = block.tables;
    Place left = get_small(tables, MISMATCHES + several, REST, lane);
    if (left > piece.n || lane.at > lane.stop) {
        lane.at |= ABSENT;
        return;
    }
    const int step = piece.strand ? -1 : 1;
    const Place last = piece.position + piece.n;
    Variable next = variable(block, piece, piece.strand ? first_column(block, last) - 1
                                                        : first_column(block, piece.position));
    Place i = 0, gap = left ? get_gap(tables, left, piece.n, lane) : piece.n;
    int last_two = 0;
    while (lane.at <= lane.stop) {
        if (gap < next.letter - i) {  // of as many plain columns
            i += gap;
            const int base = code_of(piece.source[piece.begin + i]);
            put_letter(target, place + i, get(tables, LETTER + base, lane));
            ++i;
            --left;
            gap = left ? get_gap(tables, left, piece.n, lane) : piece.n;
        } else if (next.letter < piece.n) {
            gap -= next.letter - i;
            last_two = get_variant(block, piece, next, last_two, target, place, lane);
            i = next.letter + 1;
            next = variable(block, piece, next.k + step);
        } else {
            break;
        }
    }
    if (left != 0) lane.at |= ABSENT;
}

// Read a place of a piece of n letters that is hot, near a reference, or anywhere.
__device__ __forceinline__ Reference get_place(const Block& block, int of, Reference reference,
                                               Place n, Lane& lane) {
    const Tables& tables = block.tables;
    const bool later = of == OF_LATER;
    if (const int hot = get(tables, HOT + later, lane)) {
        const Place anchor = block.hot[hot];
        return {(anchor >> 1) - (anchor & 1) * n, int(anchor & 1)};
    }
    const bool near = get(tables, NEAR + of, lane) != 0;
    const Place high = get(tables, near ? NEAR_HIGH + of : PLACE_HIGH + later, lane);
    const int bits = near ? NEAR_BITS : int(block.low_bits);
    Place position = high << bits | Place(get_raw(bits, lane));
    if (near) position += reference.place - NEAR_BY;
    const int own = get(tables, STRAND + 2 * of + reference.strand, lane);
    return {near && later ? position - own * n : position, own};
}

// Read the place of the first mapped piece of a line.
__device__ __forceinline__ Reference get_first_place(const Block& block, const Memory& memory,
                                                     int odd, Place n, Lane& lane) {
    if (!block.is_sorted || odd) {
        const int of = odd && memory.has_mate ? OF_MATE : OF_FIRST;
        return get_place(block, of, {memory.primary, memory.strand}, n, lane);
    }
    const int ahead = get(block.tables, AHEAD, lane);
    Place position = memory.primary + ahead;
    if (ahead == AHEAD_BACK) position = get_number(block.tables, BACK, lane);
    if (ahead == AHEAD_FAR)
        position = memory.primary + AHEAD_BACK + get_number(block.tables, FAR_AHEAD, lane);
    const bool is_still = block.is_steady && ahead == 0;
    const int table = is_still ? STRAND + 2 * OF_FIRST + memory.strand : STRAND_AHEAD;
    return {position, get(block.tables, table, lane)};
}

// Copy a piece of the consensus; exceptions stay.
__device__ __forceinline__ void copy_bases(const Piece& piece, const Target& target, Place place) {
    for (Place i = 0; i < piece.n; ++i)
        if (!target.has_runs || is_base(target.out[place + i]))
            target.out[place + i] = piece.source[piece.begin + i];
}

// Read a mapped piece; return where it ends. `before` is that of the one before, at -1 if none.
__device__ __forceinline__ Reference get_mapped(const Block& block, Memory& memory, int odd,
                                                bool several, Reference before,
                                                const Target& target, Place place, Place n,
                                                Lane& lane) {
    const bool is_first = before.place < 0;
    const Reference at = is_first ? get_first_place(block, memory, odd, n, lane)
                                  : get_place(block, OF_LATER, before, n, lane);
    if (lane.at > lane.stop || at.place < 0 || at.place + n > block.size) {
        lane.at |= ABSENT;
        return {0, 0};
    }
    if (is_first) {
        memory.strand = at.strand;
        memory.has_mate = 1;
        if (!(block.is_sorted && odd)) memory.primary = at.place;
    }
    const Piece piece = {at.strand ? block.backward : block.forward,
                         at.strand ? block.size - at.place - n : at.place, at.place, n, at.strand};
    copy_bases(piece, target, place);
    get_mismatches(block, piece, several, target, place, lane);
    return {at.strand ? at.place : at.place + n, at.strand};
}

// Read the letters of a line, out[place..end].
__device__ __forceinline__ void get_pieces(const Block& block, Memory& memory, int odd,
                                           const Target& target, Place place, Place end,
                                           Lane& lane) {
    const Tables& tables = block.tables;
    memory.kind = get(tables, KIND + 2 * memory.kind + odd, lane);
    const bool several = memory.kind == SEVERAL;
    const Place count = several ? get_small(tables, PIECES, REST, lane) : 1;
    if (count == 0) lane.at |= ABSENT;
    bool is_mapped = memory.kind == ONE_MAPPED;
    Reference before = {-1, 0};
    int context = 0;
    for (Place left = count - 1; left >= 0; --left) {
        Place n = end - place;
        if (several) {
            is_mapped = get(tables, MAPPED + context, lane) != 0;
            context = 1 + is_mapped;
            if (left) n = get_small(tables, PIECE_LENGTH + is_mapped, REST, lane);
        }
        if (lane.at > lane.stop || n < 1 || n > end - place - left) {
            lane.at |= ABSENT;
            return;
        }
        if (is_mapped)
            before = get_mapped(block, memory, odd, several, before, target, place, n, lane);
        else if (target.has_runs)
            get_fours_between(tables, LITERAL, lane, target.out, place, place + n);
        else
            get_fours(tables, LITERAL, lane, target.out, place, n);
        place += n;
    }
}
