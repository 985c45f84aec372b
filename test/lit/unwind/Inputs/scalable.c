/* Dies below a function that keeps scalable vectors in its frame. */
#include <arm_sve.h>
#include <stdlib.h>

__attribute__((noipa)) void innermost(int dies) {
  if (dies) abort();
}
__attribute__((noipa)) svfloat64_t sum(svfloat64_t a, svfloat64_t b) { return svadd_f64_x(svptrue_b64(), a, b); }
__attribute__((noipa)) double scalable(const double *from, int dies) {
  svfloat64_t a = svld1_f64(svptrue_b64(), from), b = svld1_f64(svptrue_b64(), from + 1);
  svfloat64_t product = svmul_f64_x(svptrue_b64(), a, b);
  innermost(dies);
  product = sum(product, a);
  return svaddv_f64(svptrue_b64(), svadd_f64_x(svptrue_b64(), sum(product, b), a));
}
__attribute__((noipa)) int outer(int dies) {
  double numbers[300] = {1};
  return (int)scalable(numbers, dies) + dies;
}
int main(int argc, char **argv) {
  (void)argv;
  return outer(argc);
}
