#include "CLibFuzzer.h"

// Swift code compares 8-byte values at every step: lengths, bounds, enum cases, nil. libFuzzer learns nothing from those, and
// reporting each took more than half of the time. Only constants that may be part of a format are reported, above all short
// strings, which Swift compares as two words; and all shorter comparisons.
static const uint64_t smallest_telling_constant = 1 << 16;

void __real___sanitizer_cov_trace_const_cmp8(uint64_t constant, uint64_t value);

void __wrap___sanitizer_cov_trace_const_cmp8(uint64_t constant, uint64_t value) {
    if (constant >= smallest_telling_constant) __real___sanitizer_cov_trace_const_cmp8(constant, value);
}

void __wrap___sanitizer_cov_trace_cmp8(uint64_t left, uint64_t right) {
    (void)left;
    (void)right;
}
