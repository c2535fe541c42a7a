/* Sixteen floats at once: the one header with intrinsics. One body each for AVX-512, AVX2
 * with FMA, 64-bit Arm, WebAssembly and plain C, chosen by what the file is compiled for;
 * the same bits from all of them, because every operation rounds as written and sums have
 * one tree.
 *
 *   lanes_load, lanes_store     16 floats, any address
 *   lanes_load_some             n < 16 floats, the other lanes 0; nothing past n is read
 *   lanes_store_some            n < 16 floats; nothing past n is written
 *   lanes_all                   one value in every lane
 *   lanes_fma                   a * b + c, rounded once
 *   lanes_fma_some              the same in the first n lanes; the others keep c, its sign
 *                               of zero too (a tail adds only its own terms)
 *   lanes_add, lanes_mul        rounded once
 *   lanes_sum                   the tree of kernels.h over the lanes of one vector */
#ifndef KVSTEP_KERNELS_LANES_H
#define KVSTEP_KERNELS_LANES_H

#include <math.h>
#include <stddef.h>
#include <string.h>

#define LANES_INLINE static inline __attribute__((always_inline))
/* One operation a line, so that the bodies can be compared. */
/* clang-format off */

#if defined(__AVX512F__)

#include <immintrin.h>

typedef __m512 Lanes;

LANES_INLINE __mmask16 lanes_first(size_t n) { return (__mmask16)((1u << n) - 1u); }
LANES_INLINE Lanes lanes_load(const float *p) { return _mm512_loadu_ps(p); }
LANES_INLINE void lanes_store(float *p, Lanes a) { _mm512_storeu_ps(p, a); }
LANES_INLINE Lanes lanes_load_some(const float *p, size_t n) {
    return _mm512_maskz_loadu_ps(lanes_first(n), p);
}
LANES_INLINE void lanes_store_some(float *p, Lanes a, size_t n) {
    _mm512_mask_storeu_ps(p, lanes_first(n), a);
}
LANES_INLINE Lanes lanes_all(float x) { return _mm512_set1_ps(x); }
LANES_INLINE Lanes lanes_fma(Lanes a, Lanes b, Lanes c) { return _mm512_fmadd_ps(a, b, c); }
LANES_INLINE Lanes lanes_fma_some(Lanes a, Lanes b, Lanes c, size_t n) {
    return _mm512_mask3_fmadd_ps(a, b, c, lanes_first(n));
}
LANES_INLINE Lanes lanes_add(Lanes a, Lanes b) { return _mm512_add_ps(a, b); }
LANES_INLINE Lanes lanes_mul(Lanes a, Lanes b) { return _mm512_mul_ps(a, b); }
LANES_INLINE float lanes_sum(Lanes a) {
    __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(a), high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

#elif defined(__AVX2__) && defined(__FMA__)

#include <immintrin.h>

typedef struct { __m256 low, high; } Lanes; /* one 64-byte type would spill */

LANES_INLINE __m256i lanes_first(size_t n, int from) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n - from), lane);
}
LANES_INLINE Lanes lanes_load(const float *p) {
    return (Lanes){_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)};
}
LANES_INLINE void lanes_store(float *p, Lanes a) {
    _mm256_storeu_ps(p, a.low);
    _mm256_storeu_ps(p + 8, a.high);
}
LANES_INLINE Lanes lanes_load_some(const float *p, size_t n) {
    return (Lanes){_mm256_maskload_ps(p, lanes_first(n, 0)),
                   _mm256_maskload_ps(p + 8, lanes_first(n, 8))};
}
LANES_INLINE void lanes_store_some(float *p, Lanes a, size_t n) {
    _mm256_maskstore_ps(p, lanes_first(n, 0), a.low);
    _mm256_maskstore_ps(p + 8, lanes_first(n, 8), a.high);
}
LANES_INLINE Lanes lanes_all(float x) { return (Lanes){_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
LANES_INLINE Lanes lanes_fma(Lanes a, Lanes b, Lanes c) {
    return (Lanes){_mm256_fmadd_ps(a.low, b.low, c.low),
                   _mm256_fmadd_ps(a.high, b.high, c.high)};
}
LANES_INLINE Lanes lanes_fma_some(Lanes a, Lanes b, Lanes c, size_t n) {
    Lanes all = lanes_fma(a, b, c);
    return (Lanes){
        _mm256_blendv_ps(c.low, all.low, _mm256_castsi256_ps(lanes_first(n, 0))),
        _mm256_blendv_ps(c.high, all.high, _mm256_castsi256_ps(lanes_first(n, 8)))};
}
LANES_INLINE Lanes lanes_add(Lanes a, Lanes b) {
    return (Lanes){_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
LANES_INLINE Lanes lanes_mul(Lanes a, Lanes b) {
    return (Lanes){_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
LANES_INLINE float lanes_sum(Lanes a) {
    __m256 eight = _mm256_add_ps(a.low, a.high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

#else

#define LANES_PORTABLE /* loops of 16, which compilers turn into NEON or SIMD128 */
typedef struct { float lane[16]; } Lanes;

#define LANES_EACH for (size_t i = 0; i < 16; i++)
LANES_INLINE Lanes lanes_load(const float *p) {
    Lanes a;
    memcpy(a.lane, p, sizeof a.lane);
    return a;
}
LANES_INLINE void lanes_store(float *p, Lanes a) { memcpy(p, a.lane, sizeof a.lane); }
LANES_INLINE Lanes lanes_load_some(const float *p, size_t n) {
    Lanes a = {{0}};
    for (size_t i = 0; i < n; i++) a.lane[i] = p[i];
    return a;
}
LANES_INLINE void lanes_store_some(float *p, Lanes a, size_t n) {
    for (size_t i = 0; i < n; i++) p[i] = a.lane[i];
}
LANES_INLINE Lanes lanes_all(float x) {
    Lanes a;
    LANES_EACH a.lane[i] = x;
    return a;
}
LANES_INLINE Lanes lanes_fma(Lanes a, Lanes b, Lanes c) {
    LANES_EACH c.lane[i] = fmaf(a.lane[i], b.lane[i], c.lane[i]);
    return c;
}
LANES_INLINE Lanes lanes_fma_some(Lanes a, Lanes b, Lanes c, size_t n) {
    for (size_t i = 0; i < n; i++) c.lane[i] = fmaf(a.lane[i], b.lane[i], c.lane[i]);
    return c;
}
LANES_INLINE Lanes lanes_add(Lanes a, Lanes b) { LANES_EACH a.lane[i] += b.lane[i]; return a; }
LANES_INLINE Lanes lanes_mul(Lanes a, Lanes b) { LANES_EACH a.lane[i] *= b.lane[i]; return a; }
LANES_INLINE float lanes_sum(Lanes a) {
    for (size_t width = 8; width > 0; width /= 2)
        for (size_t j = 0; j < width; j++) a.lane[j] += a.lane[j + width];
    return a.lane[0];
}

#endif
/* clang-format on */
#endif
