// Whether two values say the same.
#include <algorithm>
#include <cstring>

#include "schema/schema.h"

namespace tenon {
namespace {

bool is_number(const tn_value& v) {
  return v.kind == TN_KIND_INT || v.kind == TN_KIND_FLOAT || v.kind == TN_KIND_BOOL;
}
double number(const tn_value& v) {
  return v.kind == TN_KIND_FLOAT ? v.as.f : static_cast<double>(v.as.i);
}

}  // namespace

bool same_value(const tn_value& a, const tn_value& b) {
  if (is_number(a) && is_number(b)) {
    const bool whole = a.kind != TN_KIND_FLOAT && b.kind != TN_KIND_FLOAT;
    return whole ? a.as.i == b.as.i : number(a) == number(b);
  }
  // An empty list is the default of a list of any kind.
  if (a.count != b.count || (a.kind != b.kind && a.count > 0)) return false;
  switch (a.kind) {
    case TN_KIND_NONE:
      return b.kind == TN_KIND_NONE;
    case TN_KIND_STRING:
      return b.kind == TN_KIND_STRING && std::strcmp(a.as.string, b.as.string) == 0;
    case TN_KIND_INTS:
      return std::equal(a.as.ints, a.as.ints + a.count, b.as.ints);
    case TN_KIND_FLOATS:
      return std::equal(a.as.floats, a.as.floats + a.count, b.as.floats);
    case TN_KIND_STRINGS:
    case TN_KIND_TENSORS:
      return a.count == 0;
    case TN_KIND_DTYPE:
      return b.kind == TN_KIND_DTYPE && a.as.dtype == b.as.dtype;
    default:
      return false;
  }
}

}  // namespace tenon
