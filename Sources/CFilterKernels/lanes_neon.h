// lanes.h for NEON of 64-bit ARM.
#include <arm_neon.h>

typedef uint8x16_t bytes;
typedef uint16x8_t words;
typedef int32x4_t quads;
typedef float32x4_t floats;

LANE bytes load_bytes(const uint8_t *from) { return vld1q_u8(from); }
LANE void store_bytes(uint8_t *to, bytes x) { vst1q_u8(to, x); }
// Eight bytes, as words.
LANE words load_widened(const uint8_t *from) { return vmovl_u8(vld1_u8(from)); }
// Signed words, saturated to bytes.
LANE void store_narrowed(uint8_t *to, words x) { vst1_u8(to, vqmovun_s16(vreinterpretq_s16_u16(x))); }
LANE words load_words(const uint16_t *from) { return vld1q_u16(from); }
LANE void store_words(uint16_t *to, words x) { vst1q_u16(to, x); }
LANE quads load_quads(const int32_t *from) { return vld1q_s32(from); }
LANE void store_quads(int32_t *to, quads x) { vst1q_s32(to, x); }

LANE bytes all_bytes(uint8_t x) { return vdupq_n_u8(x); }
LANE words all_words(uint16_t x) { return vdupq_n_u16(x); }
LANE floats all_floats(float x) { return vdupq_n_f32(x); }

LANE bytes reversed(bytes x) {
    x = vrev64q_u8(x);
    return vextq_u8(x, x, 8);
}
LANE bytes reversed_pairs(bytes x) {
    x = vreinterpretq_u8_u16(vrev64q_u16(vreinterpretq_u16_u8(x)));
    return vextq_u8(x, x, 8);
}
LANE bytes either(bytes x, bytes y) { return vorrq_u8(x, y); }
LANE int is_zero(bytes x) { return vmaxvq_u8(x) == 0; }
LANE bytes smaller(bytes x, bytes y) { return vminq_u8(x, y); }
// Saturates at 0 and 255.
LANE bytes less(bytes x, bytes y) { return vqsubq_u8(x, y); }
LANE bytes more(bytes x, bytes y) { return vqaddq_u8(x, y); }

LANE words low_words(bytes x) { return vmovl_u8(vget_low_u8(x)); }
LANE words high_words(bytes x) { return vmovl_high_u8(x); }
LANE words low_product(bytes x, bytes y) { return vmull_u8(vget_low_u8(x), vget_low_u8(y)); }
LANE words high_product(bytes x, bytes y) { return vmull_high_u8(x, y); }
// The sum of each even byte and the odd byte after it.
LANE words pair_sums(bytes x) { return vpaddlq_u8(x); }
// The even bytes, and the odd ones.
LANE words even_bytes(bytes x) { return vreinterpretq_u16_u8(vbicq_u8(x, vreinterpretq_u8_u16(vdupq_n_u16(0xFF00)))); }
LANE words odd_bytes(bytes x) { return vshrq_n_u16(vreinterpretq_u16_u8(x), 8); }
LANE bytes narrowed(words low, words high) {
    return vqmovun_high_s16(vqmovun_s16(vreinterpretq_s16_u16(low)), vreinterpretq_s16_u16(high));
}
// x / 255, rounded, which is (t + t / 256) / 256 with t = x + 128.
LANE bytes divided_by_255(words low, words high) {
    uint8x8_t first = vraddhn_u16(low, vrshrq_n_u16(low, 8));
    return vraddhn_high_u16(first, high, vrshrq_n_u16(high, 8));
}

LANE words add(words x, words y) { return vaddq_u16(x, y); }
LANE words subtract(words x, words y) { return vsubq_u16(x, y); }
// Saturates at 0.
LANE words less_words(words x, words y) { return vqsubq_u16(x, y); }
LANE words times(words x, words y) { return vmulq_u16(x, y); }
// x * y / 65536.
LANE words high_half(words x, words y) {
    uint32x4_t low = vmull_u16(vget_low_u16(x), vget_low_u16(y));
    uint32x4_t high = vmull_high_u16(x, y);
    return vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high));
}
// Average of two unsigned words, rounded up.
LANE words average(words x, words y) { return vrhaddq_u16(x, y); }
#define shifted_right(x, count) vshrq_n_u16(x, count)
// Keeps the sign.
#define divided(x, count) vreinterpretq_u16_s16(vshrq_n_s16(vreinterpretq_s16_u16(x), count))
// Alternates x and y, of the low halves and of the high halves.
LANE words low_zip(words x, words y) { return vzip1q_u16(x, y); }
LANE words high_zip(words x, words y) { return vzip2q_u16(x, y); }
// byte * word / 256, for words up to 16384.
LANE words low_scaled(bytes x, words y) {
    return vreinterpretq_u16_s16(
        vqdmulhq_s16(vreinterpretq_s16_u16(vshll_n_u8(vget_low_u8(x), 7)), vreinterpretq_s16_u16(y)));
}
LANE words high_scaled(bytes x, words y) {
    return vreinterpretq_u16_s16(
        vqdmulhq_s16(vreinterpretq_s16_u16(vshll_high_n_u8(x, 7)), vreinterpretq_s16_u16(y)));
}

// sum + x * y of signed words.
LANE quads add_low_products(quads sum, words x, words y) {
    return vmlal_s16(sum, vget_low_s16(vreinterpretq_s16_u16(x)), vget_low_s16(vreinterpretq_s16_u16(y)));
}
LANE quads add_high_products(quads sum, words x, words y) {
    return vmlal_high_s16(sum, vreinterpretq_s16_u16(x), vreinterpretq_s16_u16(y));
}
LANE quads add_quads(quads x, quads y) { return vaddq_s32(x, y); }
LANE quads low_quads(words x) { return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(x))); }
LANE quads high_quads(words x) { return vreinterpretq_s32_u32(vmovl_high_u16(x)); }
LANE words narrowed_quads(quads low, quads high) {
    return vreinterpretq_u16_s16(vmovn_high_s32(vmovn_s32(low), high));
}

LANE floats to_floats(quads x) { return vcvtq_f32_s32(x); }
// Rounds toward zero.
LANE quads to_quads(floats x) { return vcvtq_s32_f32(x); }
LANE floats add_floats(floats x, floats y) { return vaddq_f32(x, y); }
LANE floats subtract_floats(floats x, floats y) { return vsubq_f32(x, y); }
LANE floats multiply(floats x, floats y) { return vmulq_f32(x, y); }
LANE floats divide(floats x, floats y) { return vdivq_f32(x, y); }
LANE floats larger(floats x, floats y) { return vmaxq_f32(x, y); }
