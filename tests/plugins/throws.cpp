// Throws out of its init, after an op was registered.
#include <stdexcept>

#include "small.h"

extern "C" {

SMALL_MANIFEST(TN_ABI_VERSION);

TN_EXPORT tn_status* tenon_plugin_init(const tn_host*, tn_registrar* registrar, void**) {
  tn_op_def def = {};
  def.size = sizeof(def);
  def.schema = "thrown(Tensor x) -> Tensor";
  def.expression = "x * 1";
  if (tn_status* status = registrar->op(registrar, &def)) return status;
#ifdef THROWS_INT
  throw 7;
#else
  throw std::runtime_error("out of patience");
#endif
}
}
