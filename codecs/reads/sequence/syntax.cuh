// Tables of sequences by number (syntax.py), and what blocks and lines of them are.

#include "core/nucleotides/nucleotides.cuh"
#include "windows/windows.cuh"

// The first table of each syntax element; its contexts follow.
enum Element {
    CONSENSUS = 0,
    LITERAL = CONSENSUS + 4,
    TAIL = LITERAL + 4,
    REPEAT = TAIL + 3,
    SAME_LENGTH = REPEAT + 2,
    LENGTH,
    RUNS,
    RUN_GAP,
    RUN_LENGTH,
    RUN_BYTE,
    KIND,
    PIECES = KIND + 6,
    MAPPED,
    PIECE_LENGTH = MAPPED + 3,
    AHEAD = PIECE_LENGTH + 2,
    FAR_AHEAD,
    BACK,
    STRAND_AHEAD,
    HOT,
    NEAR = HOT + 2,
    NEAR_HIGH = NEAR + 3,
    PLACE_HIGH = NEAR_HIGH + 3,
    STRAND = PLACE_HIGH + 2,
    MISMATCHES = STRAND + 6,
    GAP = MISMATCHES + 2,
    LETTER = GAP + 5,
    VARIANT = LETTER + 4,
    OTHER = VARIANT + 36,
    REST,
    LEAD,
    LINES,
    N_TABLES
};
static_assert(N_TABLES == 102, "as in SPEC.md");

constexpr int ONE_MAPPED = 0, SEVERAL = 2;              // kinds of lines
constexpr int OF_MATE = 0, OF_FIRST = 1, OF_LATER = 2;  // what a place is relative to
constexpr int NEAR_BY = 1 << 11, NEAR_BITS = 4, PLACE_BITS = 32;
constexpr int AHEAD_BACK = 254, AHEAD_FAR = 255, MOST_GAP = 255, GAPS = 5;
constexpr int WORD = 64;  // columns whose marks are one word

struct Block {
    Text text;
    Place is_sorted, is_steady, pairs;
    Place size, low_bits;  // this and what follows: `Dictionary` of dictionary.py
    Tables tables;
    const Place* hot;
    const Place* columns;
    const Byte* variants;
    const unsigned long long* marks;
    const Place* ranks;
    Byte* forward;  // of consensus.cu, which fills both strands
    Byte* backward;
};

// What a line remembers of those before it in its window.
struct Memory {
    Place length, primary;
    int kind, strand, has_mate, repeats;
};

// Where letters are written, out[place..place + n].
struct Target {
    Byte* out;
    bool has_runs;  // whether exceptions are there already
};

// A reference that places are relative to, or where a piece ends; on which strand.
struct Reference {
    Place place;
    int strand;
};
