/* Hands over one definition that must be refused, and returns what the registrar says. REFUSED_CASE
 * chooses. */
#include "small.h"

SMALL_MANIFEST(TN_ABI_VERSION);

#if REFUSED_CASE == 4
static tn_status* launch(void* self, const tn_call* call) { return (void)self, (void)call, NULL; }
#endif

TN_EXPORT tn_status* tenon_plugin_init(const tn_host* host, tn_registrar* registrar, void** self) {
  (void)host, (void)self;
#if REFUSED_CASE == 1 /* a struct whose size was never set */
  tn_op_def def = {0};
  def.schema = "f(Tensor x) -> Tensor";
  def.expression = "x";
  return registrar->op(registrar, &def);
#elif REFUSED_CASE == 2 /* NULL */
  return registrar->kernel(registrar, NULL);
#elif REFUSED_CASE == 3 /* a formula that is none */
  tn_op_def def = {sizeof(def)};
  def.schema = "f(Tensor x) -> Tensor";
  def.expression = "x +";
  return registrar->op(registrar, &def);
#elif REFUSED_CASE == 4 /* a pair whose forward says another size */
  tn_kernel_pair_def def = {sizeof(def)};
  def.forward.size = 24;
  def.forward.op = "f";
  def.forward.device = "cpu";
  def.forward.launch = launch;
  def.backward = launch;
  return registrar->kernel_pair(registrar, &def);
#elif REFUSED_CASE == 5 /* a vjp for nothing */
  return registrar->vjp(registrar, "nowhere.f", NULL, NULL);
#endif
}
