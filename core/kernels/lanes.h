/* Sixteen floats at once: the one header with intrinsics. Lanes are REGISTERS registers of the
 * machine; AVX-512, AVX2 with FMA, and the compiler's own vectors of four (64-bit Arm,
 * WebAssembly, anything else) say what a register can do, and what follows is written
 * once. The same bits from all: operations round as written and sums have one tree.
 *
 *   lanes_load, _store     16 floats, any address; _some: n < 16 of them, the others 0
 *   lanes_f16, _bf16, _i8  16 stored numbers at any address, widened: exact
 *   lanes_all, _f16_all    one value, or one stored f16, in every lane
 *   lanes_add, _mul, _fma  rounded once; lanes_fma_some: in the first n lanes, the others
 *                          keep c, its sign of zero too (a tail adds only its own terms)
 *   lanes_sum              the tree of kernels.h over the lanes of one vector
 *   lanes_sums             sixteen trees at once: lane i is the sum of s[i] */
#ifndef KVSTEP_KERNELS_LANES_H
#define KVSTEP_KERNELS_LANES_H

#include "core/kernels/exact_fma.h"
#include "core/kernels/half.h"
#include <stddef.h>

#define LANES_INLINE static inline __attribute__((always_inline))
/* clang-format off */

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__) && defined(__F16C__))
#include <immintrin.h>
#ifdef __AVX512F__
typedef __m512 Register;
enum { REGISTERS = 1 };
#define X86(name)         _mm512_##name
#define reg_whole(bits)  _mm512_castsi512_ps(bits)
#define reg_half(p)      _mm256_loadu_si256((const void *)(p))
#define reg_quarter(p)   _mm_loadu_si128((const void *)(p))
#define reg_half_all(h)  _mm256_set1_epi16((short)(h))
#define reg_first_n(n)   (__mmask16)((1u << (n)) - 1u)
#define reg_load_some(p, n)     _mm512_maskz_loadu_ps(reg_first_n(n), p)
#define reg_store_some(p, a, n) _mm512_mask_storeu_ps(p, reg_first_n(n), a)
#define reg_choose(n, a, b)     _mm512_mask_blend_ps(reg_first_n(n), b, a)
#define reg_8(a, b)      reg_add(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xEE))
#define reg_4(a, b)      reg_add(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xDD))
#define lanes_quads(a, b, c, d) \
    (Lanes){{reg_4(reg_8(a.part[0], b.part[0]), reg_8(c.part[0], d.part[0]))}}
#else
typedef __m256 Register;
enum { REGISTERS = 2 };
#define X86(name)         _mm256_##name
#define reg_whole(bits)  _mm256_castsi256_ps(bits)
#define reg_half(p)      _mm_loadu_si128((const void *)(p))
#define reg_quarter(p)   _mm_loadl_epi64((const void *)(p))
#define reg_half_all(h)  _mm_set1_epi16((short)(h))
#define reg_first_n(n)   _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define reg_load_some(p, n)     _mm256_maskload_ps(p, reg_first_n(n))
#define reg_store_some(p, a, n) _mm256_maskstore_ps(p, reg_first_n(n), a)
#define reg_choose(n, a, b)     _mm256_blendv_ps(b, a, reg_whole(reg_first_n(n)))
#define reg_8(a)         reg_add(a.part[0], a.part[1])
#define reg_4(a, b)      reg_add(_mm256_permute2f128_ps(a, b, 0x20), _mm256_permute2f128_ps(a, b, 0x31))
#define lanes_quads(a, b, c, d) (Lanes){{reg_4(reg_8(a), reg_8(b)), reg_4(reg_8(c), reg_8(d))}}
#endif
#define LANES_WIDE       /* few registers to sixteen lanes */
#define LANES_UNROLL     _Pragma("GCC unroll 16")
#define reg_load         X86(loadu_ps)
#define reg_store        X86(storeu_ps)
#define reg_all          X86(set1_ps)
#define reg_add          X86(add_ps)
#define reg_mul          X86(mul_ps)
#define reg_fma          X86(fmadd_ps)
#define reg_low(a, b)    X86(castpd_ps)(X86(unpacklo_pd)(X86(castps_pd)(a), X86(castps_pd)(b)))
#define reg_high(a, b)   X86(castpd_ps)(X86(unpackhi_pd)(X86(castps_pd)(a), X86(castps_pd)(b)))
#define reg_even(a, b)   X86(shuffle_ps)(a, b, 0x88)
#define reg_odd(a, b)    X86(shuffle_ps)(a, b, 0xDD)
#define reg_f16(p)       X86(cvtph_ps)(reg_half(p))
#define reg_f16_all(h)   X86(cvtph_ps)(reg_half_all(h))
#define reg_bf16(p)      reg_whole(X86(slli_epi32)(X86(cvtepu16_epi32)(reg_half(p)), 16))
#define reg_i8(p)        X86(cvtepi32_ps)(X86(cvtepi8_epi32)(reg_quarter(p)))
#define reg_lane_0       X86(cvtss_f32)
#else
typedef float Register __attribute__((vector_size(16)));
enum { REGISTERS = 4 };
#define FOUR(e)           ({ Register four = {0}; for (int i = 0; i < 4; i++) four[i] = (e); four; })
LANES_INLINE Register reg_load(const float *p) { Register a; memcpy(&a, p, sizeof a); return a; }
LANES_INLINE void reg_store(float *p, Register a) { memcpy(p, &a, sizeof a); }
LANES_INLINE void reg_store_some(float *p, Register a, int n) {
    for (int i = 0; i < 4 && i < n; i++) p[i] = a[i];
}
#define reg_all(x)       FOUR(x)
#define reg_add(a, b)    ((a) + (b))
#define reg_mul(a, b)    ((a) * (b))
#define reg_low(a, b)    (Register){a[0], a[1], b[0], b[1]}
#define reg_high(a, b)   (Register){a[2], a[3], b[2], b[3]}
#define reg_even(a, b)   (Register){a[0], a[2], b[0], b[2]}
#define reg_odd(a, b)    (Register){a[1], a[3], b[1], b[3]}
#define reg_i8(p)        FOUR((float)(p)[i])
#define reg_f16_all(h)   reg_all(half_to(h))
#define reg_bf16(p)      FOUR(bf16_to((p)[i]))
#define reg_lane_0(a)    (a)[0]
#define reg_load_some(p, n) FOUR(i < (n) ? (p)[i] : 0)
#define reg_choose(n, a, b) FOUR(i < (n) ? a[i] : b[i])
#define reg_4(a)         ((a.part[0] + a.part[2]) + (a.part[1] + a.part[3]))
#define lanes_quads(a, b, c, d) (Lanes){{reg_4(a), reg_4(b), reg_4(c), reg_4(d)}}
#ifdef __aarch64__
#include <arm_neon.h>
#define LANES_UNROLL     _Pragma("GCC unroll 16")
#define reg_fma(a, b, c) (Register)vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b))
#define reg_f16(p)       (Register)vcvt_f32_f16(vreinterpret_f16_u8(vld1_u8((const void *)(p))))
#else
#define LANES_UNROLL     /* sums are calls, not instructions */
static __attribute__((noinline, unused)) Register reg_fma(Register a, Register b, Register c) {
    return FOUR(fma_f32(a[i], b[i], c[i]));
}
#define reg_f16(p)       FOUR(half_to((p)[i]))
#endif
#endif

typedef struct { Register part[REGISTERS]; } Lanes;
/* e for each register: k is its number, AT its first lane. */
#define LANES_STEP(n, e) if (n < REGISTERS) { enum { k = n % REGISTERS, AT = k * (16 / REGISTERS) }; e; }
#define LANES_EACH(e) LANES_STEP(0, e) LANES_STEP(1, e) LANES_STEP(2, e) LANES_STEP(3, e)
#define LANES(e) { Lanes r; LANES_EACH(r.part[k] = e) return r; }
LANES_INLINE Lanes lanes_load(const float *p) LANES(reg_load(p + AT))
LANES_INLINE Lanes lanes_f16(const uint16_t *p) LANES(reg_f16(p + AT))
LANES_INLINE Lanes lanes_bf16(const uint16_t *p) LANES(reg_bf16(p + AT))
LANES_INLINE Lanes lanes_i8(const int8_t *p) LANES(reg_i8(p + AT))
LANES_INLINE Lanes lanes_all(float x) LANES(reg_all(x))
LANES_INLINE Lanes lanes_f16_all(uint16_t half) LANES(reg_f16_all(half))
LANES_INLINE Lanes lanes_add(Lanes a, Lanes b) LANES(reg_add(a.part[k], b.part[k]))
LANES_INLINE Lanes lanes_mul(Lanes a, Lanes b) LANES(reg_mul(a.part[k], b.part[k]))
LANES_INLINE Lanes lanes_fma(Lanes a, Lanes b, Lanes c) LANES(reg_fma(a.part[k], b.part[k], c.part[k]))
LANES_INLINE void lanes_store(float *p, Lanes a) { LANES_EACH(reg_store(p + AT, a.part[k])) }
LANES_INLINE Lanes lanes_load_some(const float *p, size_t n) LANES(reg_load_some(p + AT, (int)n - AT))
LANES_INLINE void lanes_store_some(float *p, Lanes a, size_t n) {
    LANES_EACH(reg_store_some(p + AT, a.part[k], (int)n - AT))
}
LANES_INLINE Lanes lanes_fma_some(Lanes a, Lanes b, Lanes c, size_t n) {
    const Lanes all = lanes_fma(a, b, c);
    LANES(reg_choose((int)n - AT, all.part[k], c.part[k]))
}
/* Four lanes of each of four vectors, side by side: the tree's last two levels. */
LANES_INLINE Register reg_two(Register a, Register b) { return reg_add(reg_low(a, b), reg_high(a, b)); }
LANES_INLINE Register reg_one(Register a, Register b) { return reg_add(reg_even(a, b), reg_odd(a, b)); }
LANES_INLINE float lanes_sum(Lanes a) {
    const Lanes q = lanes_quads(a, a, a, a);
    const Register two = reg_two(q.part[0], q.part[0]);
    return reg_lane_0(reg_one(two, two));
}
LANES_INLINE Lanes lanes_sums(const Lanes s[16]) {
    Lanes q[4];
    LANES_UNROLL for (size_t i = 0; i < 4; i++) q[i] = lanes_quads(s[i], s[i + 4], s[i + 8], s[i + 12]);
    LANES(reg_one(reg_two(q[0].part[k], q[1].part[k]), reg_two(q[2].part[k], q[3].part[k])))
}
/* clang-format on */
#endif
