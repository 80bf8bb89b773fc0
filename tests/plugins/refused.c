/* Hands over one definition that must be refused, and returns what the registrar says. REFUSED_CASE
 * chooses. */
#include "small.h"

SMALL_MANIFEST(TN_ABI_VERSION);

#if REFUSED_CASE == 4 || REFUSED_CASE == 6
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
  tn_kernel_def forward = {24};
  forward.op = "f";
  forward.device = "cpu";
  forward.launch = launch;
  tn_kernel_pair_def def = {sizeof(def)};
  def.forward = &forward;
  def.backward = launch;
  return registrar->kernel_pair(registrar, &def);
#elif REFUSED_CASE == 5 /* a vjp for nothing */
  return registrar->vjp(registrar, "nowhere.f", NULL, NULL, NULL);
#elif REFUSED_CASE == 6 /* a pair for an expression; only the commit can see it */
  tn_op_def op = {sizeof(op)};
  op.schema = "f(Tensor x) -> Tensor";
  op.expression = "x";
  tn_kernel_def forward = {sizeof(forward)};
  forward.op = "f";
  forward.device = "cpu";
  forward.launch = launch;
  tn_kernel_pair_def def = {sizeof(def)};
  def.forward = &forward;
  def.backward = launch;
  tn_status* status = registrar->op(registrar, &op);
  return status != NULL ? status : registrar->kernel_pair(registrar, &def);
#endif
}
