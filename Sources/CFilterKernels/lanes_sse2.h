// lanes.h for SSE2, which every x86-64 processor has.
#include <emmintrin.h>

typedef __m128i bytes;
typedef __m128i words;
typedef __m128i quads;
typedef __m128 floats;

LANE __m128i load_16(const void *from) { return _mm_loadu_si128((const __m128i *)from); }
LANE void store_16(void *to, __m128i x) { _mm_storeu_si128((__m128i *)to, x); }
LANE __m128i zero(void) { return _mm_setzero_si128(); }

LANE bytes load_bytes(const uint8_t *from) { return load_16(from); }
LANE void store_bytes(uint8_t *to, bytes x) { store_16(to, x); }
// Eight bytes, as words.
LANE words load_widened(const uint8_t *from) {
    return _mm_unpacklo_epi8(_mm_loadl_epi64((const __m128i *)from), zero());
}
// Signed words, saturated to bytes.
LANE void store_narrowed(uint8_t *to, words x) { _mm_storel_epi64((__m128i *)to, _mm_packus_epi16(x, x)); }
LANE words load_words(const uint16_t *from) { return load_16(from); }
LANE void store_words(uint16_t *to, words x) { store_16(to, x); }
LANE quads load_quads(const int32_t *from) { return load_16(from); }
LANE void store_quads(int32_t *to, quads x) { store_16(to, x); }

LANE bytes all_bytes(uint8_t x) { return _mm_set1_epi8((char)x); }
LANE words all_words(uint16_t x) { return _mm_set1_epi16((short)x); }
LANE floats all_floats(float x) { return _mm_set1_ps(x); }

LANE bytes reversed_pairs(bytes x) {
    x = _mm_shufflehi_epi16(_mm_shufflelo_epi16(x, 0x1B), 0x1B);
    return _mm_shuffle_epi32(x, 0x4E);
}
LANE bytes reversed(bytes x) {
    return reversed_pairs(_mm_or_si128(_mm_slli_epi16(x, 8), _mm_srli_epi16(x, 8)));
}
LANE bytes either(bytes x, bytes y) { return _mm_or_si128(x, y); }
LANE int is_zero(bytes x) { return _mm_movemask_epi8(_mm_cmpeq_epi8(x, zero())) == 0xFFFF; }
LANE bytes smaller(bytes x, bytes y) { return _mm_min_epu8(x, y); }
// Saturates at 0 and 255.
LANE bytes less(bytes x, bytes y) { return _mm_subs_epu8(x, y); }
LANE bytes more(bytes x, bytes y) { return _mm_adds_epu8(x, y); }

LANE words low_words(bytes x) { return _mm_unpacklo_epi8(x, zero()); }
LANE words high_words(bytes x) { return _mm_unpackhi_epi8(x, zero()); }
LANE words low_product(bytes x, bytes y) { return _mm_mullo_epi16(low_words(x), low_words(y)); }
LANE words high_product(bytes x, bytes y) { return _mm_mullo_epi16(high_words(x), high_words(y)); }
// The even bytes, and the odd ones.
LANE words even_bytes(bytes x) { return _mm_and_si128(x, _mm_set1_epi16(0xFF)); }
LANE words odd_bytes(bytes x) { return _mm_srli_epi16(x, 8); }
// The sum of each even byte and the odd byte after it.
LANE words pair_sums(bytes x) { return _mm_add_epi16(even_bytes(x), odd_bytes(x)); }
LANE bytes narrowed(words low, words high) { return _mm_packus_epi16(low, high); }
// x / 255, rounded, which is (t + t / 256) / 256 with t = x + 128.
LANE words word_by_255(words x) { return _mm_mulhi_epu16(_mm_add_epi16(x, _mm_set1_epi16(128)), _mm_set1_epi16(257)); }
LANE bytes divided_by_255(words low, words high) { return _mm_packus_epi16(word_by_255(low), word_by_255(high)); }

LANE words add(words x, words y) { return _mm_add_epi16(x, y); }
LANE words subtract(words x, words y) { return _mm_sub_epi16(x, y); }
// Saturates at 0.
LANE words less_words(words x, words y) { return _mm_subs_epu16(x, y); }
LANE words times(words x, words y) { return _mm_mullo_epi16(x, y); }
// x * y / 65536.
LANE words high_half(words x, words y) { return _mm_mulhi_epu16(x, y); }
// Average of two unsigned words, rounded up.
LANE words average(words x, words y) { return _mm_avg_epu16(x, y); }
#define shifted_right(x, count) _mm_srli_epi16(x, count)
// Keeps the sign.
#define divided(x, count) _mm_srai_epi16(x, count)
// Alternates x and y, of the low halves and of the high halves.
LANE words low_zip(words x, words y) { return _mm_unpacklo_epi16(x, y); }
LANE words high_zip(words x, words y) { return _mm_unpackhi_epi16(x, y); }
// byte * word / 256, for words up to 16384.
LANE words low_scaled(bytes x, words y) { return _mm_mulhi_epu16(_mm_unpacklo_epi8(zero(), x), y); }
LANE words high_scaled(bytes x, words y) { return _mm_mulhi_epu16(_mm_unpackhi_epi8(zero(), x), y); }

// sum + x * y of signed words.
LANE quads add_low_products(quads sum, words x, words y) {
    return _mm_add_epi32(sum, _mm_unpacklo_epi16(_mm_mullo_epi16(x, y), _mm_mulhi_epi16(x, y)));
}
LANE quads add_high_products(quads sum, words x, words y) {
    return _mm_add_epi32(sum, _mm_unpackhi_epi16(_mm_mullo_epi16(x, y), _mm_mulhi_epi16(x, y)));
}
LANE quads add_quads(quads x, quads y) { return _mm_add_epi32(x, y); }
LANE quads low_quads(words x) { return _mm_unpacklo_epi16(x, zero()); }
LANE quads high_quads(words x) { return _mm_unpackhi_epi16(x, zero()); }
LANE words narrowed_quads(quads low, quads high) { return _mm_packs_epi32(low, high); }

LANE floats to_floats(quads x) { return _mm_cvtepi32_ps(x); }
// Rounds toward zero.
LANE quads to_quads(floats x) { return _mm_cvttps_epi32(x); }
LANE floats add_floats(floats x, floats y) { return _mm_add_ps(x, y); }
LANE floats subtract_floats(floats x, floats y) { return _mm_sub_ps(x, y); }
LANE floats multiply(floats x, floats y) { return _mm_mul_ps(x, y); }
LANE floats divide(floats x, floats y) { return _mm_div_ps(x, y); }
LANE floats larger(floats x, floats y) { return _mm_max_ps(x, y); }
